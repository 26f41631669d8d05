// attn-simplify: the text's operations in their plainest form.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What it does is in five groups of patterns (SimplifyMaps, SimplifyReshapes, SimplifyProducts, SimplifyAttend,
// SimplifyScalars); equal operations become one and unused ones go. It runs again after passes that leave crumbs.
//
// Leaves true: no attn.map reads an attn.map of the same dimensions that has no other reader; no reshape or slice is
// the identity; every product with a weight over its first or last dimension is attn.linear; every weight symbol is
// used.
#include "passes/Simplify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/Weights.h"

using namespace mlir;

namespace attn {
namespace {

/// Regions hold their own constants, even where an equal one stands outside.
void keepConstantsInside(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!isa<MapOp, LinearOp, AttendOp>(op))
      return;
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (auto constant = operand.get().getDefiningOp<arith::ConstantOp>();
              constant && !region.isAncestor(constant->getParentRegion())) {
            OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
            operand.set(builder.clone(*constant)->getResult(0));
          }
      });
  });
}

struct Simplify : PassWrapper<Simplify, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Simplify)
  StringRef getArgument() const final { return "attn-simplify"; }
  StringRef getDescription() const final {
    return "fuse elementwise operations, drop what changes nothing, find products with weights";
  }

  LogicalResult initialize(MLIRContext *context) final {
    RewritePatternSet set(context);
    addMapPatterns(set);
    addReshapePatterns(set);
    addProductPatterns(set);
    addAttendPatterns(set);
    addPlacePatterns(set);
    addScalarPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() final {
    ModuleOp module = getOperation();
    if (failed(rewrite(module)) || (mergeEqual(module) && failed(rewrite(module)))) {
      module.emitError("internal error: attn-simplify does not come to an end");
      return signalPassFailure();
    }
    keepConstantsInside(module);
    eraseUnusedWeights(module);
  }

  LogicalResult rewrite(ModuleOp module) { return applyPatternsGreedily(module, patterns); }

  static bool mergeEqual(ModuleOp module) {
    bool changed = false;
    DominanceInfo dominance(module);
    IRRewriter rewriter(module.getContext());
    eliminateCommonSubExpressions(rewriter, dominance, module, &changed);
    return changed;
  }

  FrozenRewritePatternSet patterns;
};

} // namespace

std::unique_ptr<Pass> createSimplify() {
  return std::make_unique<Simplify>();
}

} // namespace attn
