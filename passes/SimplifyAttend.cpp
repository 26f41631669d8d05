// attn-simplify, what stands in attention's regions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   score { select(c, x, -inf) }, score { x + select(c, 0, -inf) }   =>   score { x } mask { c }     c reads no s, q, k
//   score { f(s * 0.125) } scale 1                                    =>   score { f(s) } scale 0.125
//   scale 1 (q * 0.125, k, v)                                         =>   scale 0.125 (q, k, v)
//   score { fold(q[d] * k[d]) + b }                                   =>   scale 1 score { s + b }
//   score { s }, mask { true }                                        =>   neither
//
// Where a captured tensor has both queries and keys as dimensions and an elementwise operation or a look-up makes it,
// that moves into the region, so that the tensor need not exist; positions along the queries or keys are i or j
// themselves.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/AttendRegions.h"
#include "passes/Elementwise.h"
#include "passes/Simplify.h"
#include <cmath>

using namespace mlir;

namespace attn {
namespace {

// ------------------------------------------------------------------------------------------------------------- masks

/// Whether `value` is made from one of the first arguments of the score that only a place's own score has: s, q, k.
bool readsPlace(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber();
    return isa<AttendOp>(argument.getOwner()->getParentOp()) &&
           (number == scoreS || number == scoreQ || number == scoreK);
  }
  Operation *op = value.getDefiningOp();
  if (op->getNumRegions() == 0)
    return llvm::any_of(op->getOperands(), [](Value operand) { return readsPlace(operand); });
  bool reads = false;
  op->walk([&](Operation *inner) {
    if (inner != op)
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          reads |= readsPlace(operand);
  });
  return reads;
}

bool isMinusInfinity(Value value) {
  return constantValue(value) == -std::numeric_limits<double>::infinity();
}

/// A score split into where it is visible and what it is there.
struct MaskedScore {
  Value condition, score;
  bool isInverted = false;
};

/// select(c, score, -inf), and the other way round.
std::optional<MaskedScore> splitSelect(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select)
    return std::nullopt;
  if (isMinusInfinity(select.getFalseValue()))
    return MaskedScore{select.getCondition(), select.getTrueValue(), false};
  if (isMinusInfinity(select.getTrueValue()))
    return MaskedScore{select.getCondition(), select.getFalseValue(), true};
  return std::nullopt;
}

/// score + select(c, 0, -inf), and the other ways round.
std::optional<MaskedScore> splitSum(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return std::nullopt;
  for (unsigned i : {0u, 1u})
    if (std::optional<MaskedScore> bias = splitSelect(sum->getOperand(i)); bias && constantValue(bias->score) == 0.0)
      return MaskedScore{bias->condition, sum->getOperand(1 - i), bias->isInverted};
  return std::nullopt;
}

/// Copies what makes `value`, a part of the score, into the mask.
Value copyToMask(Value value, AttendOp attend, OpBuilder &builder, IRMapping &mapping) {
  if (Value copy = mapping.lookupOrNull(value))
    return copy;
  Operation *op = value.getDefiningOp();
  if (!op || !attend->isProperAncestor(op))
    return value; // a turn's number, from outside
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (inner == op || !op->isAncestor(operand.getParentBlock()->getParentOp()))
        copyToMask(operand, attend, builder, mapping);
  });
  return builder.clone(*op, mapping)->getResult(0);
}

struct PeelMask : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttendOp attend, PatternRewriter &rewriter) const final {
    if (attend.getScore().empty())
      return rewriter.notifyMatchFailure(attend, "there is no score region");
    Block &score = attend.getScore().front();
    Value yielded = yieldedValue(score);
    std::optional<MaskedScore> split = splitSelect(yielded);
    if (!split)
      split = splitSum(yielded);
    if (!split || readsPlace(split->condition))
      return rewriter.notifyMatchFailure(attend, "the score isn't hidden by a condition on i, j, h and captures");
    rewriter.modifyOpInPlace(attend, [&] { move(attend, *split); });
    rewriter.modifyOpInPlace(score.getTerminator(), [&] { score.getTerminator()->setOperand(0, split->score); });
    return success();
  }

  static void move(AttendOp attend, const MaskedScore &split) {
    bool isNew = attend.getMask().empty();
    Block &mask = getMaskBlock(attend), &score = attend.getScore().front();
    Value before = isNew ? Value() : yieldedValue(mask);
    if (!isNew)
      mask.getTerminator()->erase();
    IRMapping mapping;
    for (unsigned i = 0; i < 3; ++i)
      mapping.map(score.getArgument(scoreI + i), mask.getArgument(i));
    mapping.map(score.getArguments().drop_front(6), mask.getArguments().drop_front(3));
    OpBuilder builder = OpBuilder::atBlockEnd(&mask);
    Location loc = split.condition.getLoc();
    Value visible = copyToMask(split.condition, attend, builder, mapping);
    if (split.isInverted) {
      Value isTrue = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
      visible = arith::XOrIOp::create(builder, loc, visible, isTrue);
    }
    if (before)
      visible = arith::AndIOp::create(builder, loc, before, visible);
    YieldOp::create(builder, loc, visible);
  }
};

/// A mask that is true, a score that is s.
struct DropTrivialRegions : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttendOp attend, PatternRewriter &rewriter) const final {
    Region &score = attend.getScore(), &mask = attend.getMask();
    bool isPlain = !score.empty() && yieldedValue(score.front()) == score.getArgument(scoreS);
    bool isOpen = !mask.empty() && matchPattern(yieldedValue(mask.front()), m_One());
    if (!isPlain && !isOpen)
      return rewriter.notifyMatchFailure(attend, "both regions say something, or aren't there");
    rewriter.modifyOpInPlace(attend, [&] {
      if (isPlain)
        rewriter.eraseBlock(&score.front());
      if (isOpen)
        rewriter.eraseBlock(&mask.front());
    });
    return success();
  }
};

// ------------------------------------------------------------------------------------------------------------- scale

/// The c of `x * c`, `c * x`, `x / c` (then 1 / c) and `-x`; `x` is set.
std::optional<double> splitScale(Operation *op, Value &x) {
  if (isa_and_present<arith::NegFOp>(op)) {
    x = op->getOperand(0);
    return -1;
  }
  if (!isa_and_present<arith::MulFOp, arith::DivFOp>(op))
    return std::nullopt;
  for (unsigned i : {1u, 0u}) {
    std::optional<double> factor = constantValue(op->getOperand(i));
    if (!factor || !std::isfinite(*factor) || *factor == 0 || (i == 0 && isa<arith::DivFOp>(op)))
      continue;
    x = op->getOperand(1 - i);
    return isa<arith::DivFOp>(op) ? 1 / *factor : *factor;
  }
  return std::nullopt;
}

void multiplyScale(AttendOp attend, double factor, PatternRewriter &rewriter) {
  double scale = attend.getScale().convertToDouble() * factor;
  rewriter.modifyOpInPlace(attend, [&] { attend.setScaleAttr(rewriter.getF64FloatAttr(scale)); });
}

/// A factor on s inside the score.
struct AbsorbScale : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttendOp attend, PatternRewriter &rewriter) const final {
    if (attend.getScore().empty() || !attend.getScore().getArgument(scoreS).hasOneUse())
      return rewriter.notifyMatchFailure(attend, "s isn't read just once");
    BlockArgument s = attend.getScore().getArgument(scoreS);
    Operation *user = *s.user_begin();
    Value x;
    std::optional<double> factor = splitScale(user, x);
    if (!factor || x != s)
      return rewriter.notifyMatchFailure(attend, "s isn't scaled by a constant");
    multiplyScale(attend, *factor, rewriter);
    rewriter.replaceOp(user, s);
    return success();
  }
};

/// The map behind `value` that is made for it alone, perhaps seen through reshapes.
MapOp ownMap(Value value) {
  while (value && value.hasOneUse()) {
    if (auto map = value.getDefiningOp<MapOp>())
      return map;
    auto reshape = value.getDefiningOp<ReshapeOp>();
    value = reshape ? reshape.getInputs().front() : Value();
  }
  return {};
}

/// A factor on all of q or k.
struct AbsorbOperandScale : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttendOp attend, PatternRewriter &rewriter) const final {
    Region &score = attend.getScore();
    if (!score.empty() && (score.getArgument(scoreS).use_empty() || !score.getArgument(scoreQ).use_empty() ||
                           !score.getArgument(scoreK).use_empty()))
      return rewriter.notifyMatchFailure(attend, "the score reads more of the rows than their product");
    for (Value rows : {attend.query(), attend.key()}) {
      MapOp map = ownMap(rows);
      Value x;
      std::optional<double> factor;
      if (map)
        factor = splitScale(yieldedValue(map.getBody().front()).getDefiningOp(), x);
      if (!factor)
        continue;
      multiplyScale(attend, *factor, rewriter);
      Operation *yield = map.getBody().front().getTerminator();
      rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(0, x); });
      return success();
    }
    return rewriter.notifyMatchFailure(attend, "neither queries nor keys are scaled by a constant");
  }
};

/// The product of the rows written as a sum.
struct FoldToProduct : OpRewritePattern<FoldOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(FoldOp fold, PatternRewriter &rewriter) const final {
    auto attend = fold->getParentOfType<AttendOp>();
    if (!attend || fold->getParentRegion() != &attend.getScore() || fold.getKind() != Reduction::sum ||
        !isProductOfRows(fold, attend))
      return rewriter.notifyMatchFailure(fold, "it isn't the product of q and k");
    BlockArgument s = attend.getScore().getArgument(scoreS);
    double scale = attend.getScale().convertToDouble();
    if (!s.use_empty() && (scale == 0 || !std::isfinite(scale)))
      return rewriter.notifyMatchFailure(fold, "s is read beside it, with a scale that can't be undone");
    if (s.use_empty()) {
      rewriter.modifyOpInPlace(attend, [&] { attend.setScaleAttr(rewriter.getF64FloatAttr(1)); });
      rewriter.replaceOp(fold, s);
      return success();
    }
    Value undo =
        arith::ConstantOp::create(rewriter, fold.getLoc(), rewriter.getF32FloatAttr(static_cast<float>(1 / scale)));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(fold, s, undo);
    return success();
  }

  static bool isProductOfRows(FoldOp fold, AttendOp attend) {
    Value q = attend.getScore().getArgument(scoreQ), k = attend.getScore().getArgument(scoreK);
    auto product = yieldedValue(fold.getBody().front()).getDefiningOp<arith::MulFOp>();
    if (!product || q.getType() != k.getType() || tensorType(q).getDimSize(0) != static_cast<int64_t>(fold.getCount()))
      return false;
    auto isRow = [&](Value value, Value row) {
      auto at = value.getDefiningOp<AtOp>();
      return at && at.getTensor() == row && at.getIndices().front() == fold.getBody().getArgument(0);
    };
    return (isRow(product.getLhs(), q) && isRow(product.getRhs(), k)) ||
           (isRow(product.getLhs(), k) && isRow(product.getRhs(), q));
  }
};

// ---------------------------------------------------------------------------------------------------------- captures

/// A captured tensor that no region reads, or that is there twice.
struct TidyCaptures : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttendOp attend, PatternRewriter &rewriter) const final {
    for (unsigned i = 0; i < attend.captures().size(); ++i) {
      std::optional<unsigned> same;
      for (unsigned j = 0; j < i && !same; ++j)
        if (attend.captures()[i] == attend.captures()[j])
          same = j;
      if (!same && isRead(attend, i))
        continue;
      rewriter.modifyOpInPlace(attend, [&] {
        if (same)
          replaceReads(attend, i, *same, rewriter);
        eraseCapture(attend, i);
      });
      return success();
    }
    return rewriter.notifyMatchFailure(attend, "every capture is there once and read");
  }

  static bool isRead(AttendOp attend, unsigned capture) {
    return llvm::any_of(attend->getRegions(), [&](Region &region) {
      return !region.empty() && !region.getArgument(countOwnArguments(attend, region) + capture).use_empty();
    });
  }

  static void replaceReads(AttendOp attend, unsigned capture, unsigned same, PatternRewriter &rewriter) {
    for (Region &region : attend->getRegions())
      if (!region.empty()) {
        unsigned own = countOwnArguments(attend, region);
        rewriter.replaceAllUsesWith(region.getArgument(own + capture), region.getArgument(own + same));
      }
  }
};

/// A number of a captured tensor, inside a region of attention.
struct Reading {
  AtOp at;
  AttendOp attend;
  Region *region = nullptr;
  Value tensor; // the captured tensor, outside
  DimsAttr names;

  static std::optional<Reading> match(AtOp at) {
    auto attend = at->getParentOfType<AttendOp>();
    std::optional<unsigned> number = attend ? captureNumber(attend, at.getTensor()) : std::nullopt;
    if (!number)
      return std::nullopt;
    return Reading{at, attend, regionAround(attend, at), attend.captures()[*number], captureNames(attend, *number)};
  }

  /// Reads, in place of the tensor, `other` at the same place of the dimensions they share.
  Value read(Value other, DimsAttr otherNames, PatternRewriter &rewriter) const {
    SmallVector<Value> indices;
    for (size_t i = 0; i < otherNames.size(); ++i)
      indices.push_back(AtOp(at).getIndices()[names.find(otherNames.dim(i))]);
    return readAt(other, otherNames, indices, rewriter);
  }
  Value readAt(Value other, DimsAttr otherNames, ValueRange indices, PatternRewriter &rewriter) const {
    Value argument;
    rewriter.modifyOpInPlace(attend, [&] { argument = getCapture(attend, *region, other, otherNames); });
    Type element = tensorType(other).getElementType();
    return AtOp::create(rewriter, AtOp(at).getLoc(), element, argument, indices);
  }
};

/// Whether a tensor has a number for each pair of two sequences' places.
bool isArea(Value tensor) {
  return tensorType(tensor).getNumDynamicDims() >= 2;
}

/// One whole number, as `past - 24`: the plan of a mask wants to see what it is made of.
bool isWholeScalar(Value tensor) {
  return tensorType(tensor).getRank() == 0 && tensorType(tensor).getElementType().isInteger(32);
}

/// at(map(x, y))[i, j] => f(at(x)[i], at(y)[j])
struct ReadThroughMap : OpRewritePattern<AtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AtOp at, PatternRewriter &rewriter) const final {
    std::optional<Reading> reading = Reading::match(at);
    auto map = reading ? reading->tensor.getDefiningOp<MapOp>() : MapOp();
    if (!map || !(isArea(map) || isWholeScalar(map) || countWork(map.getBody().front()) == 0))
      return rewriter.notifyMatchFailure(at, "it reads no elementwise function of queries and keys");
    Renaming renaming = renamingByPlace(map.outDims(), reading->names);
    IRMapping mapping;
    for (auto [i, input] : llvm::enumerate(map.getInputs()))
      mapping.map(map.getBody().getArgument(i), reading->read(input, rename(map.inDims(i), renaming), rewriter));
    for (Operation &op : map.getBody().front().without_terminator())
      rewriter.clone(op, mapping);
    rewriter.replaceOp(at, mapping.lookupOrDefault(yieldedValue(map.getBody().front())));
    return success();
  }
};

/// at(gather(table, x))[i, j, h] => at(table)[at(x)[i, j], h]
struct ReadThroughGather : OpRewritePattern<AtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AtOp at, PatternRewriter &rewriter) const final {
    std::optional<Reading> reading = Reading::match(at);
    auto gather = reading ? reading->tensor.getDefiningOp<GatherOp>() : GatherOp();
    if (!gather || !isArea(gather))
      return rewriter.notifyMatchFailure(at, "it reads no look-up by queries and keys");
    Renaming renaming = renamingByPlace(gather.outDims(), reading->names);
    SmallVector<Value> indices;
    for (unsigned i = 1; i < gather.getInputs().size(); ++i)
      indices.push_back(reading->read(gather.getInputs()[i], rename(gather.inDims(i), renaming), rewriter));
    DimsAttr table = gather.inDims(0);
    SmallVector<DimsAttr> taken;
    for (Attribute dims : reading->attend.getInDims())
      taken.push_back(cast<DimsAttr>(dims));
    SmallVector<StringAttr> names;
    for (size_t i = 0; i < table.size(); ++i)
      if (i < indices.size()) {
        names.push_back(freshName(at.getContext(), table.dim(i), taken));
        taken.push_back(makeDims(at.getContext(), names.back()));
      } else {
        names.push_back(renaming.lookup(table.dim(i)));
      }
    for (size_t i = indices.size(); i < table.size(); ++i)
      indices.push_back(at.getIndices()[reading->names.find(names[i].getValue().split(':').first)]);
    rewriter.replaceOp(
        at, reading->readAt(gather.getInputs().front(), makeDims(at.getContext(), names), indices, rewriter));
    return success();
  }
};

/// Transposed captures are read in their own order.
struct ReadThroughTranspositionAt : OpRewritePattern<AtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AtOp at, PatternRewriter &rewriter) const final {
    std::optional<Reading> reading = Reading::match(at);
    auto reshape = reading ? reading->tensor.getDefiningOp<ReshapeOp>() : ReshapeOp();
    if (!reshape || !sameSet(reshape.inDims(0), reshape.outDims()))
      return rewriter.notifyMatchFailure(at, "it reads no transposed tensor");
    DimsAttr names = rename(reshape.inDims(0), renamingByPlace(reshape.outDims(), reading->names));
    rewriter.replaceOp(at, reading->read(reshape.getInputs().front(), names, rewriter));
    return success();
  }
};

/// The position of query i is i, that of key j is j. Where rows are numbered on from call to call query i is row
/// i - past of this call; keys of this call alone are left as they are, since j begins at 0.
struct ReadPosition : OpRewritePattern<AtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AtOp at, PatternRewriter &rewriter) const final {
    std::optional<Reading> reading = Reading::match(at);
    if (!reading || !reading->tensor.getDefiningOp<PosOp>())
      return rewriter.notifyMatchFailure(at, "it reads no position");
    Value row = at.getIndices().front();
    auto ofThisCall = row.getDefiningOp<arith::SubIOp>();
    if (ofThisCall && isPast(reading->attend, ofThisCall.getRhs()))
      row = ofThisCall.getLhs();
    auto index = dyn_cast<BlockArgument>(row);
    if (!index || index.getOwner()->getParent() != reading->region || reading->region == &reading->attend.getSink())
      return rewriter.notifyMatchFailure(at, "its index is computed");
    unsigned first = reading->region == &reading->attend.getScore() ? scoreI : 0;
    if (index.getArgNumber() < first || index.getArgNumber() > first + 1)
      return rewriter.notifyMatchFailure(at, "its index is no row");
    unsigned rows = index.getArgNumber() - first; // 0: the queries, 1: the keys
    StringRef sequence = reading->names.sequence(0);
    if (sequence != reading->attend.inDims(rows).sequence(0))
      return rewriter.notifyMatchFailure(at, "its positions are another sequence's");
    bool on = goesOn(at, sequence);
    if (on != bool(ofThisCall) || (on && rows == 1))
      return rewriter.notifyMatchFailure(at, "its positions begin elsewhere");
    rewriter.replaceOp(at, index);
    return success();
  }
};

} // namespace

void addAttendPatterns(RewritePatternSet &patterns) {
  patterns.add<PeelMask, DropTrivialRegions, AbsorbScale, AbsorbOperandScale, FoldToProduct, TidyCaptures,
               ReadThroughMap, ReadThroughGather, ReadThroughTranspositionAt, ReadPosition>(patterns.getContext());
}

} // namespace attn
