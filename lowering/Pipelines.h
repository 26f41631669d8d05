// The order of the passes below the attn dialect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_PIPELINES_H
#define ATTN_LOWERING_PIPELINES_H

#include "lowering/targets/Target.h"

namespace mlir {
class OpPassManager;
}

namespace attn {

/// Tidies what lowering wrote.
void buildTilePipeline(mlir::OpPassManager &manager);
/// From tiles to loops over vectors of the machine.
void buildVectorPipeline(mlir::OpPassManager &manager, const Target &target);
/// From there to the LLVM dialect alone.
void buildLLVMPipeline(mlir::OpPassManager &manager);

} // namespace attn
#endif
