// The order of the passes over the attn dialect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_PIPELINES_H
#define ATTN_PASSES_PIPELINES_H

namespace mlir {
class OpPassManager;
}

namespace attn {

struct PassOptions {
  /// Values shown by attn.tap stay visible.
  bool probe = false;
};

/// From what the frontend emits to what lowering takes: fused. `--attn-pipeline` of attn-opt.
void buildPassPipeline(mlir::OpPassManager &manager, const PassOptions &options = {});
/// Then says where everything lies; nothing is changed afterwards.
void buildPlanPipeline(mlir::OpPassManager &manager);

} // namespace attn
#endif
