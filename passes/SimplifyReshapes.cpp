// attn-simplify, reshapes and slices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %r = attn.reshape (%x [T, E]) -> [T, F]                               =>   %x      (renaming costs no operation)
//   %r = attn.reshape (%x [T, E]) -> [T, H, D], then [T, H, D] -> [T, E]  =>   %x
//   %r = attn.reshape (%x [T, H, D]) -> [H, T, D], attn.map (%r [H, T, D], ..)   =>   attn.map (%x [T, H, D], ..)
//   %s = attn.slice "N" at 0 (%x [T, N]) -> [T, N], all of it             =>   %x
#include "mlir/IR/PatternMatch.h"
#include "passes/Names.h"
#include "passes/Simplify.h"

using namespace mlir;

namespace attn {
namespace {

Value inputOf(ReshapeOp reshape) {
  return reshape.getInputs().front();
}

/// A reshape whose elements stay where they are and whose type is its input's.
bool isIdentity(ReshapeOp reshape) {
  DimsAttr from = reshape.inDims(0), to = reshape.outDims();
  if (inputOf(reshape).getType() != reshape.getType())
    return false;
  for (size_t i = 0; i < from.size(); ++i) {
    bool shared = to.find(from.dim(i)) >= 0 || from.find(to.dim(i)) >= 0;
    if (shared && from.dim(i) != to.dim(i))
      return false;
  }
  return true;
}

bool isPermutation(ReshapeOp reshape) {
  return sameSet(reshape.inDims(0), reshape.outDims());
}

struct DropIdentityReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp reshape, PatternRewriter &rewriter) const final {
    if (!isIdentity(reshape))
      return rewriter.notifyMatchFailure(reshape, "it moves or regroups dimensions");
    rewriter.replaceOp(reshape, inputOf(reshape));
    return success();
  }
};

/// The names of `dims` that `other` lacks, in order.
SmallVector<StringRef> ownNames(DimsAttr dims, DimsAttr other) {
  SmallVector<StringRef> names;
  for (size_t i = 0; i < dims.size(); ++i)
    if (other.find(dims.dim(i)) < 0)
      names.push_back(dims.dim(i));
  return names;
}

/// Whether the second reshape puts back what the first regrouped. `back` are the second's dimensions in the first's
/// names.
bool undoes(ReshapeOp first, DimsAttr middle, DimsAttr back) {
  DimsAttr start = first.inDims(0);
  if (ownNames(first.outDims(), start) != ownNames(middle, back) || start.size() != back.size())
    return false;
  for (size_t i = 0; i < start.size(); ++i) {
    bool kept = first.outDims().find(start.dim(i)) >= 0;
    bool keptBack = middle.find(back.dim(i)) >= 0;
    if (kept != keptBack || (kept && start.dim(i) != back.dim(i)))
      return false;
  }
  return true;
}

/// The output names of `reshape` where its input is called `names`; its own new dimensions get names that are free
/// there.
DimsAttr renamedOutput(ReshapeOp reshape, DimsAttr names) {
  Renaming renaming = renamingByPlace(reshape.inDims(0), names);
  SmallVector<DimsAttr> taken = {names};
  MLIRContext *context = reshape.getContext();
  for (StringRef own : ownNames(reshape.outDims(), reshape.inDims(0))) {
    StringAttr fresh = freshName(context, own, taken);
    renaming[own] = fresh;
    taken.push_back(makeDims(context, fresh));
  }
  return rename(reshape.outDims(), renaming);
}

struct DropInverseReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp second, PatternRewriter &rewriter) const final {
    auto first = inputOf(second).getDefiningOp<ReshapeOp>();
    if (!first || inputOf(first).getType() != second.getType())
      return rewriter.notifyMatchFailure(second, "it doesn't lead back to the type of an earlier reshape's input");
    if (!undoes(first, first.outDims(), renamedOutput(second, first.outDims())))
      return rewriter.notifyMatchFailure(second, "it isn't the inverse of the reshape before it");
    rewriter.replaceOp(second, inputOf(first));
    return success();
  }
};

/// What a consumer that calls the transposed tensor `names` calls the tensor before its transposition.
DimsAttr namesBefore(ReshapeOp transposition, DimsAttr names) {
  return rename(transposition.inDims(0), renamingByPlace(transposition.outDims(), names));
}

/// Consumers that match dimensions by name read through a transposition.
template <typename OpTy> struct ReadThroughTransposition : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const final {
    SmallVector<Attribute> dims(op.getInDims().begin(), op.getInDims().end());
    SmallVector<Value> inputs(op.getInputs());
    bool changed = false;
    for (unsigned i = firstInput(); i < inputs.size(); ++i) {
      auto reshape = inputs[i].getDefiningOp<ReshapeOp>();
      if (!reshape || !isPermutation(reshape))
        continue;
      dims[i] = namesBefore(reshape, op.inDims(i));
      inputs[i] = inputOf(reshape);
      changed = true;
    }
    if (!changed)
      return rewriter.notifyMatchFailure(op, "no input is a transposition");
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputsMutable().assign(inputs);
      op.setInDimsAttr(rewriter.getArrayAttr(dims));
    });
    return success();
  }
  /// The last dimension of attn.linear's rows is the one it sums over, so these stay as they are.
  static unsigned firstInput() { return std::is_same_v<OpTy, LinearOp> ? 1 : 0; }
};

/// A transposition of a transposition is one.
struct MergeTranspositions : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp second, PatternRewriter &rewriter) const final {
    auto first = inputOf(second).getDefiningOp<ReshapeOp>();
    if (!first || !isPermutation(first) || !isPermutation(second))
      return rewriter.notifyMatchFailure(second, "not two transpositions");
    Value merged =
        permuteTo(rewriter, second.getLoc(), inputOf(first), namesBefore(first, second.inDims(0)), second.outDims());
    rewriter.replaceOp(second, merged);
    return success();
  }
};

struct DropWholeSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp slice, PatternRewriter &rewriter) const final {
    if (slice.getInputs().front().getType() != slice.getType())
      return rewriter.notifyMatchFailure(slice, "it takes a part only");
    rewriter.replaceOp(slice, slice.getInputs().front());
    return success();
  }
};

/// A reduction over no dimension is a transposition at most.
struct DropEmptyReduction : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp reduce, PatternRewriter &rewriter) const final {
    if (!sameSet(reduce.inDims(0), reduce.outDims()))
      return rewriter.notifyMatchFailure(reduce, "it reduces a dimension");
    Value input = reduce.getInputs().front();
    rewriter.replaceOp(reduce, permuteTo(rewriter, reduce.getLoc(), input, reduce.inDims(0), reduce.outDims()));
    return success();
  }
};

} // namespace

void addReshapePatterns(RewritePatternSet &patterns) {
  patterns
      .add<DropIdentityReshape, DropInverseReshape, MergeTranspositions, DropWholeSlice, DropEmptyReduction,
           ReadThroughTransposition<MapOp>, ReadThroughTransposition<ReduceOp>, ReadThroughTransposition<ContractOp>,
           ReadThroughTransposition<SoftmaxOp>, ReadThroughTransposition<LinearOp>>(patterns.getContext());
}

} // namespace attn
