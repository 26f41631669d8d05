// Functions that all kernels of a module share: the product, the turning over, the rounding.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_CPU_SHAREDFUNCTION_H
#define ATTN_LOWERING_CPU_SHAREDFUNCTION_H

#include "lowering/Ir.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn::cpu {

/// The module's internal function of that name, which `body` writes where it is not there yet. A letter of `parameters`
/// is a parameter: p a pointer, n an i64, b an i1.
mlir::LLVM::LLVMFuncOp sharedFunction(mlir::ModuleOp module, llvm::StringRef name, llvm::StringRef parameters,
                                      llvm::function_ref<void(Ir &ir, mlir::ValueRange arguments)> body);

} // namespace attn::cpu
#endif
