// How an attention is computed: its form and the sizes of its tiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scores of a tile of queries kept in cache, to go over them a second time instead of rescaling, is no form: it
// lost everywhere (docs/rejected.md).
#include "lowering/attend/Strategy.h"
#include "passes/Layout.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace attn {

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

/// The last of q's head dimensions that neither keys nor values have, unless it is too large for a tile.
SharedHeads sharedHeads(AttendOp op) {
  constexpr int64_t most = 64;
  DimsAttr q = op.inDims(0), k = op.inDims(1), v = op.inDims(2);
  int64_t step = 1;
  for (size_t i = q.size() - 1; i-- > 1;) {
    int64_t size = typeOf(op.query()).getDimSize(unsigned(i));
    if (size > 1 && size <= most && k.find(q.dim(i)) < 0 && v.find(q.dim(i)) < 0)
      return {int(i), size, step};
    step *= size;
  }
  return {};
}

/// Where a tensor lies, as the plan of the memory will have it: a view, or packed.
static Layout layoutOf(Value tensor, DimsAttr dims) {
  std::optional<Layout> view;
  if (auto reshape = tensor.getDefiningOp<ReshapeOp>())
    view = reshapedLayout(layoutOf(reshape->getOperand(0), reshape.inDims(0)), reshape);
  if (auto slice = tensor.getDefiningOp<SliceOp>())
    view = slicedLayout(layoutOf(slice->getOperand(0), slice.inDims(0)), slice);
  return view ? *view : packedLayout(typeOf(tensor), dims, /*uniform=*/false);
}

/// Panels of queries in a tile. Keys that have to be copied side by side or rounded first should serve more queries;
/// under a mask, a larger tile computes more of what is hidden.
static int64_t panelsOfTile(AttendOp op, const LowerOptions &options) {
  Monomial stride = layoutOf(op.key(), op.inDims(1)).dims[0].stride;
  bool collide = stride.isStatic() && Target::collide(stride.factor * 4);
  if (!collide && options.precision == Precision::f32)
    return 1;
  return collide && op.getMask().empty() ? 4 : 2;
}

/// Why the keys of this attention cannot be divided between tasks; empty: they can.
static StringRef whyNoSplit(AttendOp op) {
  RankedTensorType query = typeOf(op.query()), key = typeOf(op.key());
  if (!query.isDynamicDim(0) && query.getDimSize(0) != 1)
    return "every call has several queries";
  if (!key.isDynamicDim(0))
    return "the number of keys is fixed";
  if (query.isDynamicDim(0) && op.inDims(0).sequence(0) == op.inDims(1).sequence(0))
    return "there are as many keys as queries";
  if (op.getWeights() || op.getLse())
    return "the weights are wanted too";
  return "";
}

static int64_t countHeads(AttendOp op) {
  int64_t heads = 1;
  for (size_t i = 1; i + 1 < op.inDims(0).size(); ++i)
    heads *= typeOf(op.query()).getDimSize(unsigned(i));
  return heads;
}

Strategy chooseStrategy(AttendOp op, const Target &target, const LowerOptions &options) {
  // Beyond so many heads of keys a decoding call has tasks enough for the threads that a machine has for it.
  constexpr int64_t mostHeads = 8;
  constexpr int64_t parts = 16, leastColumns = 64;
  Strategy chosen{.queries = target.panel() * panelsOfTile(op, options), .keys = keysOfTile, .why = {}};
  if (options.attention == AttentionForm::online) {
    chosen.why = "asked for";
    return chosen;
  }
  chosen.always = options.attention == AttentionForm::split;
  chosen.heads = countHeads(op);
  int64_t keyHeads = chosen.tasks = chosen.heads / sharedHeads(op).size;
  StringRef why = whyNoSplit(op);
  if (why.empty() && keyHeads > mostHeads && !chosen.always) {
    chosen.why = (Twine(keyHeads) + " heads of keys are tasks enough").str();
    return chosen;
  }
  if (!why.empty()) {
    chosen.why = why.str();
    return chosen;
  }
  chosen.splits = true;
  chosen.why = chosen.always ? "asked for"
                             : "if every sequence of a call has one query, and " + std::to_string(keyHeads) +
                                   (keyHeads == 1 ? " task" : " tasks") + " for each would leave threads idle";
  chosen.parts = parts;
  int64_t row = typeOf(op.value()).getShape().back();
  chosen.columns = row % leastColumns == 0 ? leastColumns : row;
  return chosen;
}

std::string Strategy::words() const {
  return (Twine(splits ? always ? "split" : "online or split" : "online") + ", tiles of " + Twine(queries) +
          " queries x " + Twine(keys) + " keys (" + why + ")")
      .str();
}

} // namespace attn
