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
// A sum over several dimensions is one over their product: the weight's type has them as one, and `attn.file` says what
// the file has.
//
//   attn.reshape (attn.param @b : tensor<384xf32> [E]) -> [H, D]   =>   attn.param @b : tensor<12x32xf32>
#include "mlir/IR/PatternMatch.h"
#include "passes/Elementwise.h"
#include "passes/Simplify.h"
#include "passes/Weights.h"

using namespace mlir;

namespace attn {
namespace {

using NameList = SmallVector<StringAttr>;

bool contains(ArrayRef<StringAttr> names, StringRef wanted) {
  return llvm::any_of(names, [&](StringAttr name) { return ownName(name) == wanted; });
}

/// The dimensions of `names` that are in `wanted`, or those that aren't.
NameList select(DimsAttr names, ArrayRef<StringAttr> wanted, bool in) {
  NameList left;
  for (StringAttr name : names.getNames())
    if (contains(wanted, ownName(name)) == in)
      left.push_back(name);
  return left;
}

/// A weight symbol whose last dimension is the one to sum over; what the others are called, and what was put together
/// in the last one.
struct Matrix {
  FlatSymbolRefAttr symbol;
  NameList columns, summed;
};

/// The weight with its dimensions in another order: nothing if no declaration can say so.
std::optional<Matrix> turnedMatrix(WeightOp weight, DimsAttr names, unsigned summed) {
  if (weight.getParts().size() != 1 || weight->hasAttr(weightFileAttr))
    return std::nullopt;
  unsigned rank = names.size();
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
  NameList order;
  for (unsigned place : file) {
    shape.push_back(weightShape(weight)[place]);
    order.push_back(names.getNames()[place]);
  }
  SmallVector<int64_t> rows;
  if (!weight.getRows().empty())
    rows.push_back(shape.front());
  NameList last = {order.pop_back_val()};
  return Matrix{getRetypedWeight(weight, shape, stored, rows), order, last};
}

/// `weight`, called `names`, as a matrix over the dimensions `summed`.
std::optional<Matrix> matrixOver(WeightOp weight, DimsAttr names, ArrayRef<StringAttr> summed) {
  NameList columns = select(names, summed, false), last = select(names, summed, true);
  bool isLast = llvm::equal(names.getNames().take_back(last.size()), last);
  if (last.size() == 1)
    return isLast ? Matrix{FlatSymbolRefAttr::get(weight.getSymNameAttr()), columns, last}
                  : turnedMatrix(weight, names, names.find(ownName(last[0])));
  if (!isLast || weight.getStored() != "out_in")
    return std::nullopt;
  SmallVector<int64_t> shape(weightShape(weight).take_front(columns.size()));
  shape.push_back(ShapedType::getNumElements(weightShape(weight).drop_front(columns.size())));
  return Matrix{getRetypedWeight(weight, shape, "out_in", weight.getRows(), /*joins=*/true), columns, last};
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
    NameList summed;
    for (StringAttr name : rows.getNames())
      if (contract.outDims().find(ownName(name)) < 0)
        summed.push_back(name);
    bool sharesMore = llvm::any_of(rows.getNames(), [&](StringAttr name) {
      return !contains(summed, ownName(name)) && names.find(ownName(name)) >= 0;
    });
    if (summed.empty() || summed.size() == names.size() || sharesMore)
      return rewriter.notifyMatchFailure(contract, "it is no product of rows and a matrix");
    std::optional<Matrix> matrix = matrixOver(findWeight(contract, param.getWeightAttr()), names, summed);
    if (!matrix)
      return rewriter.notifyMatchFailure(contract, "the weight can't be declared with what is summed over last");
    replace(contract, param, *matrix, contract.getInputs()[1 - which], rows, rewriter);
    return success();
  }

  /// `rows` with what is summed over last, as one dimension.
  static std::pair<Value, DimsAttr> arrangeRows(const Matrix &matrix, Value rows, DimsAttr names, DimsAttr out,
                                                PatternRewriter &rewriter) {
    MLIRContext *context = rewriter.getContext();
    Location loc = rows.getLoc();
    NameList order = select(names, matrix.summed, false);
    SmallVector<int64_t> sizes;
    for (StringAttr name : order)
      sizes.push_back(tensorType(rows).getDimSize(names.find(ownName(name))));
    NameList joined = order;
    llvm::append_range(order, matrix.summed);
    DimsAttr ordered = makeDims(context, order);
    Value permuted = permuteTo(rewriter, loc, rows, names, ordered);
    if (matrix.summed.size() == 1)
      return {permuted, ordered};
    joined.push_back(freshName(context, "K", {out, ordered}));
    int64_t size = 1;
    for (StringAttr name : matrix.summed)
      size *= tensorType(rows).getDimSize(names.find(ownName(name)));
    sizes.push_back(size);
    DimsAttr together = makeDims(context, joined);
    return {reshapeTo(rewriter, loc, permuted, ordered, together, sizes), together};
  }

  static void replace(ContractOp contract, ParamOp param, const Matrix &matrix, Value rows, DimsAttr rowNames,
                      PatternRewriter &rewriter) {
    Location loc = contract.getLoc();
    MLIRContext *context = contract.getContext();
    NameList out = select(rowNames, matrix.summed, false);
    llvm::append_range(out, matrix.columns);
    DimsAttr outNames = makeDims(context, out);
    SmallVector<int64_t> sizes;
    for (StringAttr name : out)
      sizes.push_back(contract.getType().getDimSize(contract.outDims().find(ownName(name))));
    auto [input, inNames] = arrangeRows(matrix, rows, rowNames, outNames, rewriter);
    ElementwiseBody body(loc);
    body.yield(body.leading(rewriter.getF32Type()));
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
    if (weight->hasAttr(weightFileAttr) ||
        !onlySplits(reshape, weight.getParts().size() != 1, weight.getStored() == "in_out"))
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
