// From the planned attn dialect to a module of entries and kernels over tiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Lower.h"
#include "lowering/Emitter.h"
#include "lowering/Metadata.h"
#include "lowering/Program.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace attn {

FailureOr<Lowered> lowerModule(ModuleOp planned, const Target &target, const LowerOptions &options) {
  MLIRContext *context = planned.getContext();
  context->loadDialect<arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect,
                       LLVM::LLVMDialect, tile::TileDialect>();
  Lowered result;
  result.module = ModuleOp::create(planned.getLoc());
  Program program(planned, *result.module, target, options);
  SmallVector<func::FuncOp> exports = exportsOf(planned);
  for (auto [i, function] : llvm::enumerate(exports)) {
    program.currentFunction = int64_t(i);
    if (failed(Emitter(program, function).run()))
      return failure();
  }
  result.metadata = metadataOf(program, exports);
  addProgramTable(program, exports, result.metadata);
  result.attends = std::move(program.attends);
  return result;
}

} // namespace attn
