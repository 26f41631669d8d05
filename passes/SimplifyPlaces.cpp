// attn-simplify, comparisons of places in attention's regions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   cmpf ole (sitofp j, sitofp i)                 =>   cmpi sle (j, i)
//   cmpf olt (absf (sitofp i - sitofp j), 3.0)    =>   cmpi slt (absi (i - j), 3)
//   at(cache(pos))[j]                             =>   j
//
// Both sides are sums of i, j, h, `past` and whole constants. A mask written by hand compares such numbers in float32,
// because `fill` makes them; of whole numbers lowering's analysis reads which keys a query can see at all. Up to 2^24
// float32 has every whole number; beyond, the whole numbers say what is meant, and what the interpreter has, in double.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/AttendRegions.h"
#include "passes/Elementwise.h"
#include "passes/Simplify.h"
#include <cmath>

using namespace mlir;

namespace attn {
namespace {

/// A sum of places, as int32.
bool isPlace(Value value, AttendOp attend) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->getParentOp() == attend && argument.getType().isInteger(32);
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return isPlace(op->getOperand(0), attend) && isPlace(op->getOperand(1), attend);
  return isa<arith::ConstantOp>(op) || isPast(attend, value);
}

/// A sum of places, as float32.
bool isWhole(Value value, AttendOp attend) {
  if (std::optional<double> number = constantValue(value))
    return std::trunc(*number) == *number && std::fabs(*number) <= 1 << 24;
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::SIToFPOp>(op))
    return isPlace(op->getOperand(0), attend);
  if (!isa_and_present<arith::AddFOp, arith::SubFOp, arith::NegFOp, math::AbsFOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isWhole(operand, attend); });
}

/// The same sum as int32.
Value toWhole(Value value, PatternRewriter &rewriter) {
  Location loc = value.getLoc();
  auto constant = [&](int32_t number) -> Value {
    return arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(number));
  };
  if (std::optional<double> number = constantValue(value))
    return constant(static_cast<int32_t>(*number));
  Operation *op = value.getDefiningOp();
  if (isa<arith::SIToFPOp>(op))
    return op->getOperand(0);
  Value first = toWhole(op->getOperand(0), rewriter);
  if (isa<math::AbsFOp>(op))
    return math::AbsIOp::create(rewriter, loc, first);
  if (isa<arith::NegFOp>(op))
    return arith::SubIOp::create(rewriter, loc, constant(0), first);
  Value second = toWhole(op->getOperand(1), rewriter);
  if (isa<arith::AddFOp>(op))
    return arith::AddIOp::create(rewriter, loc, first, second);
  return arith::SubIOp::create(rewriter, loc, first, second);
}

/// What compares whole numbers alike; none of them is NaN.
std::optional<arith::CmpIPredicate> wholePredicate(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
  case arith::CmpFPredicate::UEQ:
    return arith::CmpIPredicate::eq;
  case arith::CmpFPredicate::ONE:
  case arith::CmpFPredicate::UNE:
    return arith::CmpIPredicate::ne;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::ULT:
    return arith::CmpIPredicate::slt;
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULE:
    return arith::CmpIPredicate::sle;
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::UGT:
    return arith::CmpIPredicate::sgt;
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGE:
    return arith::CmpIPredicate::sge;
  default:
    return std::nullopt;
  }
}

struct ComparePlaces : OpRewritePattern<arith::CmpFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::CmpFOp compare, PatternRewriter &rewriter) const final {
    auto attend = dyn_cast<AttendOp>(compare->getParentOp());
    std::optional<arith::CmpIPredicate> predicate = wholePredicate(compare.getPredicate());
    if (!attend || !predicate || !isWhole(compare.getLhs(), attend) || !isWhole(compare.getRhs(), attend))
      return rewriter.notifyMatchFailure(compare, "it compares no sums of places in a region of attention");
    Value left = toWhole(compare.getLhs(), rewriter), right = toWhole(compare.getRhs(), rewriter);
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(compare, *predicate, left, right);
    return success();
  }
};

/// Whether every call of every export keeps the numbers of its rows at `state`: then row n of it is n.
bool holdsPositions(FlatSymbolRefAttr state, ModuleOp module) {
  bool holds = true;
  module.walk([&](CacheOp cache) {
    if (cache.getStateAttr() == state)
      holds &= bool(cache.getInputs().front().getDefiningOp<PosOp>());
  });
  return holds;
}

/// Positions that a session keeps, read at query i or key j. The place stays: other calls of the session count on it.
struct ReadCachedPosition : OpRewritePattern<AtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AtOp at, PatternRewriter &rewriter) const final {
    auto attend = at->getParentOfType<AttendOp>();
    std::optional<unsigned> capture = attend ? captureNumber(attend, at.getTensor()) : std::nullopt;
    auto cache = capture ? attend.captures()[*capture].getDefiningOp<CacheOp>() : CacheOp();
    if (!cache || at.getIndices().size() != 1 ||
        !holdsPositions(cache.getStateAttr(), attend->getParentOfType<ModuleOp>()))
      return rewriter.notifyMatchFailure(at, "it reads no positions that are kept");
    auto index = dyn_cast<BlockArgument>(at.getIndices().front());
    Region *region = regionAround(attend, at);
    if (!index || index.getOwner()->getParent() != region || region == &attend.getSink())
      return rewriter.notifyMatchFailure(at, "its index is computed");
    unsigned first = region == &attend.getScore() ? scoreI : 0;
    StringRef all = captureNames(attend, *capture).sequence(0);
    bool isKey = index.getArgNumber() == first + 1 && attend.inDims(1).sequence(0) == all;
    bool isQuery = index.getArgNumber() == first && goesOn(at, attend.inDims(0).sequence(0));
    if (!isKey && !isQuery)
      return rewriter.notifyMatchFailure(at, "its index is no row of that sequence");
    rewriter.replaceOp(at, index);
    return success();
  }
};

} // namespace

void addPlacePatterns(RewritePatternSet &patterns) {
  patterns.add<ComparePlaces, ReadCachedPosition>(patterns.getContext());
}

} // namespace attn
