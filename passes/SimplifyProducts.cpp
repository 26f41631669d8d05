// attn-simplify, products with weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %w = attn.param @w : tensor<1536x384xf32>
//   %y = attn.contract (%x [T, E], %w [F, E]) -> [T, F]   =>   %y = attn.linear @w (%x [T, E]) -> [T, F] { yield acc }
//
// attn.linear sums over the last dimension of its weight. A product over another one is as good where the file's order
// of dimensions lets the weight be declared the other way: what the file has last can be last (stored out_in), what it
// has first as well (stored in_out). The symbol may be read elsewhere as a tensor too (tied weights).
//
//   attn.reshape (attn.param @b : tensor<384xf32> [E]) -> [H, D]   =>   attn.param @b : tensor<12x32xf32>
#include "mlir/IR/PatternMatch.h"
#include "passes/Elementwise.h"
#include "passes/Simplify.h"
#include "passes/Weights.h"

using namespace mlir;

namespace attn {
namespace {

/// The one dimension that a contraction sums over, as a name; empty if there are several.
StringRef summedDimension(ContractOp contract) {
  StringRef summed;
  for (size_t i = 0; i < contract.inDims(0).size(); ++i) {
    StringRef name = contract.inDims(0).dim(i);
    if (contract.outDims().find(name) >= 0)
      continue;
    if (!summed.empty())
      return {};
    summed = name;
  }
  return summed;
}

/// Whether two tensors have a dimension in common besides `summed`.
bool shareMore(DimsAttr a, DimsAttr b, StringRef summed) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a.dim(i) != summed && b.find(a.dim(i)) >= 0)
      return true;
  return false;
}

/// A weight symbol whose last dimension is the one to sum over, and what its dimensions are called.
struct Matrix {
  FlatSymbolRefAttr symbol;
  DimsAttr names;
};

/// `weight`, called `names`, with the dimension at `summed` last; nothing if no declaration can say so.
std::optional<Matrix> matrixOver(WeightOp weight, DimsAttr names, unsigned summed) {
  auto symbol = FlatSymbolRefAttr::get(weight.getSymNameAttr());
  unsigned rank = names.size();
  if (summed + 1 == rank)
    return Matrix{symbol, names};
  if (weight.getParts().size() != 1)
    return std::nullopt;
  SmallVector<unsigned> file; // places in the type, in the file's order
  for (unsigned i = 0; i < rank; ++i)
    file.push_back(weight.getStored() == "in_out" ? (i + rank - 1) % rank : i);
  StringRef stored = "out_in";
  if (file.front() == summed) {
    std::rotate(file.begin(), file.begin() + 1, file.end());
    stored = "in_out";
  } else if (file.back() != summed) {
    return std::nullopt;
  }
  SmallVector<int64_t> shape;
  SmallVector<StringAttr> order;
  for (unsigned place : file) {
    shape.push_back(weightShape(weight)[place]);
    order.push_back(names.getNames()[place]);
  }
  SmallVector<int64_t> rows;
  if (!weight.getRows().empty())
    rows.push_back(shape.front());
  return Matrix{getRetypedWeight(weight, shape, stored, rows), makeDims(names.getContext(), order)};
}

/// `names` without the one called `dropped`.
SmallVector<StringAttr> without(DimsAttr names, StringRef dropped) {
  SmallVector<StringAttr> left;
  for (size_t i = 0; i < names.size(); ++i)
    if (names.dim(i) != dropped)
      left.push_back(names.getNames()[i]);
  return left;
}

struct ContractToLinear : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ContractOp contract, PatternRewriter &rewriter) const final {
    for (unsigned i : {1u, 0u})
      if (succeeded(rewriteWith(contract, i, rewriter)))
        return success();
    return failure();
  }

  LogicalResult rewriteWith(ContractOp contract, unsigned which, PatternRewriter &rewriter) const {
    auto param = contract.getInputs()[which].getDefiningOp<ParamOp>();
    if (!param)
      return rewriter.notifyMatchFailure(contract, "it is no product with a weight");
    DimsAttr names = contract.inDims(which), rows = contract.inDims(1 - which);
    StringRef summed = summedDimension(contract);
    if (summed.empty() || names.size() < 2 || shareMore(names, rows, summed))
      return rewriter.notifyMatchFailure(contract, "it doesn't sum over just one dimension of rows and a matrix");
    std::optional<Matrix> matrix = matrixOver(findWeight(contract, param.getWeightAttr()), names, names.find(summed));
    if (!matrix)
      return rewriter.notifyMatchFailure(contract, "the weight can't be declared with that dimension last");
    replace(contract, param, *matrix, summed, contract.getInputs()[1 - which], rows, rewriter);
    return success();
  }

  static void replace(ContractOp contract, ParamOp param, Matrix matrix, StringRef summed, Value rows,
                      DimsAttr rowNames, PatternRewriter &rewriter) {
    Location loc = contract.getLoc();
    MLIRContext *context = contract.getContext();
    SmallVector<StringAttr> out = without(rowNames, summed);
    SmallVector<StringAttr> in = out;
    in.push_back(rowNames.getNames()[rowNames.find(summed)]);
    llvm::append_range(out, without(matrix.names, summed));
    DimsAttr inNames = makeDims(context, in), outNames = makeDims(context, out);
    SmallVector<int64_t> sizes;
    for (StringAttr name : out)
      sizes.push_back(contract.getType().getDimSize(contract.outDims().find(name.getValue().split(':').first)));
    ElementwiseBody body(loc);
    body.yield(body.leading(rewriter.getF32Type()));
    Value input = permuteTo(rewriter, loc, rows, rowNames, inNames);
    auto linear =
        LinearOp::create(rewriter, loc, RankedTensorType::get(sizes, rewriter.getF32Type()), matrix.symbol,
                         param.getTurns(), input, makeDimsArray(context, inNames), makeDimsArray(context, outNames));
    linear.getBody().takeBody(body.region);
    rewriter.replaceOp(contract, permuteTo(rewriter, loc, linear, outNames, contract.outDims()));
  }
};

/// Whether `reshape` only splits dimensions, and keeps the first (`keepFirst`) or last (`keepLast`) whole.
bool onlySplits(ReshapeOp reshape, bool keepFirst, bool keepLast) {
  DimsAttr from = reshape.inDims(0), to = reshape.outDims();
  ArrayRef<int64_t> fromSizes = tensorType(reshape.getInputs().front()).getShape();
  ArrayRef<int64_t> toSizes = reshape.getType().getShape();
  size_t next = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    size_t first = next;
    int64_t size = 1;
    do {
      if (next == to.size() || (to.find(from.dim(i)) >= 0) != (to.dim(next) == from.dim(i)))
        return false;
      size *= toSizes[next++];
    } while (size < fromSizes[i]);
    if (size != fromSizes[i])
      return false;
    bool split = next - first > 1;
    if (split && ((keepFirst && i == 0) || (keepLast && i + 1 == from.size())))
      return false;
  }
  return next == to.size();
}

struct DeclareRegrouped : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp reshape, PatternRewriter &rewriter) const final {
    auto param = reshape.getInputs().front().getDefiningOp<ParamOp>();
    if (!param)
      return rewriter.notifyMatchFailure(reshape, "its input is no weight");
    WeightOp weight = findWeight(reshape, param.getWeightAttr());
    if (!onlySplits(reshape, weight.getParts().size() != 1, weight.getStored() == "in_out"))
      return rewriter.notifyMatchFailure(reshape, "the file's tensor can't be declared that way");
    ArrayRef<int64_t> shape = reshape.getType().getShape();
    SmallVector<int64_t> rows(weight.getRows());
    if (rows.size() == 1)
      rows = {shape.front()};
    FlatSymbolRefAttr symbol = getRetypedWeight(weight, shape, weight.getStored(), rows);
    rewriter.replaceOpWithNewOp<ParamOp>(reshape, reshape.getType(), symbol, param.getTurns());
    return success();
  }
};

} // namespace

void addProductPatterns(RewritePatternSet &patterns) {
  patterns.add<ContractToLinear, DeclareRegrouped>(patterns.getContext());
}

} // namespace attn
