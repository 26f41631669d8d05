// The order of the passes over the attn dialect, and why it is this one. No pass is added anywhere else.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/Passes.h"
#include "passes/PlanMemory.h"

using namespace mlir;

namespace attn {

void buildPassPipeline(OpPassManager &manager, const PassOptions &options) {
  // Plain form. A tap is a reader like any other and would keep values apart, so it goes first.
  if (!options.probe)
    manager.addPass(createRemoveTaps());
  // Before anything is fused: what moved out of a loop no longer stands beside its readers there.
  manager.addPass(createHoistInvariant());
  manager.addPass(createSimplify());
  // From here on: one elementwise operation between two others that aren't, and products with weights are attn.linear.

  // Raise: what the library's text spells out becomes one operation again, with what is left around it tidied.
  manager.addPass(createRaiseNormalise());
  manager.addPass(createRaiseSoftmax());
  manager.addPass(createSimplify());
  // Attention is found around a softmax whose scores are one elementwise operation.
  manager.addPass(createRecogniseAttention());
  manager.addPass(createSimplify());
  // From here on: normalisations are attn.normalise, attention is attn.attend.

  // Fuse around the products: biases first, so that the products to join look alike; residuals and gates after, because
  // they tie a product to tensors that another of the same rows makes.
  manager.addPass(createFuseEpilogues(/*biases=*/true));
  manager.addPass(createFuseProjections());
  manager.addPass(createFuseEpilogues());
  manager.addPass(createSimplify());
  // From here on: every tensor that is an operation's result exists in memory, unless it is a view.
}

void buildPlanPipeline(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createPlanMemoryPass());
  // From here on: every tensor has its place, in the arena, at the caller's, or inside another.
}

void registerPasses() {
  registerPass(createRaiseNormalise);
  registerPass(createRaiseSoftmax);
  registerPass(createRecogniseAttention);
  registerPass(createRemoveTaps);
  registerPass(createHoistInvariant);
  registerPass(createSimplify);
  registerPass([] { return createFuseEpilogues(); });
  registerPass(createFuseProjections);
  registerPass(createPlanMemoryPass);
  PassPipelineRegistration<>("attn-pipeline", "all passes over the attn dialect, in order",
                             [](OpPassManager &manager) { buildPassPipeline(manager); });
}

} // namespace attn
