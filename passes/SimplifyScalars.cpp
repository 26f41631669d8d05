// attn-simplify, arithmetic inside regions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   x / 8         =>   x * 0.125
//   x + 0, x - 0  =>   x               the sign of a zero may be lost
//
// A division costs a processor several times a multiplication. Where the reciprocal isn't exact the result differs by
// at most one and a half units in the last place. Constants whose reciprocal isn't a normal number stay divisors.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Elementwise.h"
#include "passes/Simplify.h"
#include <cmath>

using namespace mlir;

namespace attn {
namespace {

struct MultiplyByReciprocal : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp division, PatternRewriter &rewriter) const final {
    std::optional<double> divisor = constantValue(division.getRhs());
    if (!isa_and_present<MapOp, LinearOp, AttendOp, FoldOp>(division->getParentOp()) || !divisor)
      return rewriter.notifyMatchFailure(division, "it is no division by a constant in a region of ours");
    float reciprocal = static_cast<float>(1 / *divisor);
    if (!std::isnormal(reciprocal) || !std::isnormal(static_cast<float>(*divisor)))
      return rewriter.notifyMatchFailure(division, "the reciprocal is no normal number");
    Value factor = arith::ConstantOp::create(rewriter, division.getLoc(), rewriter.getF32FloatAttr(reciprocal));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(division, division.getLhs(), factor);
    return success();
  }
};

template <typename OpTy> struct DropZero : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const final {
    for (unsigned i : {1u, 0u})
      if (constantValue(op->getOperand(i)) == 0.0 && (i == 1 || std::is_same_v<OpTy, arith::AddFOp>)) {
        rewriter.replaceOp(op, op->getOperand(1 - i));
        return success();
      }
    return rewriter.notifyMatchFailure(op, "neither operand is 0");
  }
};

} // namespace

void addScalarPatterns(RewritePatternSet &patterns) {
  patterns.add<MultiplyByReciprocal, DropZero<arith::AddFOp>, DropZero<arith::SubFOp>>(patterns.getContext());
}

} // namespace attn
