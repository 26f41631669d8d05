// Functions that all kernels of a module share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/SharedFunction.h"

using namespace mlir;

namespace attn::cpu {

LLVM::LLVMFuncOp sharedFunction(ModuleOp module, StringRef name, StringRef parameters,
                                llvm::function_ref<void(Ir &, ValueRange)> body) {
  if (auto made = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return made;
  OpBuilder builder(module.getBodyRegion());
  Ir ir(module.getLoc(), builder);
  SmallVector<Type> types;
  for (char letter : parameters)
    types.push_back(letter == 'p' ? ir.ptr() : letter == 'n' ? ir.i64() : ir.getI1Type());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(ir.getContext()), types);
  auto function = LLVM::LLVMFuncOp::create(ir, ir.loc, name, type, LLVM::Linkage::Internal);
  function.setPassthroughAttr(ir.getStrArrayAttr({"noinline", "nounwind"}));
  Block *block = function.addEntryBlock(ir);
  ir.setInsertionPointToEnd(block);
  body(ir, block->getArguments());
  LLVM::ReturnOp::create(ir, ir.loc, ValueRange{});
  return function;
}

} // namespace attn::cpu
