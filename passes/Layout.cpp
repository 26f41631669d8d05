// How packed tensors lie in memory: fresh ones, and reshapes and slices of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Layout.h"
#include "dialect/AttnOps.h"

using namespace mlir;

namespace attn {

Monomial operator*(const Monomial &a, const Monomial &b) {
  Monomial product{a.factor * b.factor, a.lengths};
  if (product.factor == 0)
    product.lengths.clear();
  else
    product.lengths.append(b.lengths.begin(), b.lengths.end());
  llvm::sort(product.lengths);
  return product;
}

static Monomial sizeOf(RankedTensorType type, DimsAttr dims, size_t i) {
  if (type.isDynamicDim(i))
    return {1, {dims.sequence(i)}};
  return {type.getDimSize(i), {}};
}

static const Monomial one{1, {}};

bool Layout::isRows() const {
  if (uniform || scattered || units.size() != 1)
    return false;
  int rows = 0;
  for (const Extent &dim : dims) {
    bool row = !dim.size.isStatic();
    rows += row;
    if (!dim.stride.isStatic() || (row && dim.stride.factor != perUnit))
      return false;
  }
  return rows == 1 && llvm::all_of(offset, [](const Monomial &part) { return part.isStatic(); });
}

bool Layout::isPacked() const {
  Monomial stride = one;
  for (const Extent &dim : llvm::reverse(dims)) {
    if (!(dim.size == one) && !(dim.stride == stride))
      return false;
    stride = stride * dim.size;
  }
  return offset.empty() && !scattered && perUnit == stride.factor;
}

Layout packedLayout(RankedTensorType type, DimsAttr dims, bool uniform) {
  Layout layout;
  layout.dims.resize(type.getRank());
  Monomial stride = one;
  for (size_t i = type.getRank(); i-- > 0;) {
    layout.dims[i] = {sizeOf(type, dims, i), stride};
    stride = stride * layout.dims[i].size;
  }
  layout.units = stride.lengths;
  for (size_t i = 0; i < layout.dims.size(); ++i) // an empty dimension makes every length vanish from the product
    if (type.isDynamicDim(i) && stride.factor == 0)
      layout.units.push_back(dims.sequence(i));
  llvm::sort(layout.units);
  layout.perUnit = stride.factor;
  layout.uniform = uniform && layout.units.empty();
  return layout;
}

Layout scatteredLayout(RankedTensorType type, DimsAttr dims) {
  Layout layout = packedLayout(type, dims, false);
  layout.scattered = true;
  return layout;
}

/// Regroups the dimensions `in` (outermost first, without gaps between them) as dimensions of the sizes `out`.
static bool regroup(ArrayRef<Extent> in, ArrayRef<Monomial> out, SmallVectorImpl<Extent> &result) {
  if (in.size() == 1 && out.size() == 1) {
    result.push_back(in.front());
    return true;
  }
  Monomial stride = one;
  const Extent *inner = nullptr; // the dimensions of size 1 have no say
  for (const Extent &dim : llvm::reverse(in)) {
    if (dim.size == one)
      continue;
    if (inner && !(dim.stride == inner->stride * inner->size))
      return false;
    if (!inner)
      stride = dim.stride;
    inner = &dim;
  }
  SmallVector<Extent> made;
  for (const Monomial &size : llvm::reverse(out)) {
    made.push_back({size, stride});
    stride = stride * size;
  }
  result.append(made.rbegin(), made.rend());
  return true;
}

/// Splits both lists into the shortest groups of equal size and regroups each.
static bool regroupAll(ArrayRef<Extent> in, ArrayRef<Monomial> out, SmallVectorImpl<Extent> &result) {
  while (!in.empty() || !out.empty()) {
    size_t i = 0, o = 0;
    Monomial left = one, right = one;
    do {
      bool level = left.factor == right.factor && (i == 0 || left.lengths.size() < right.lengths.size());
      bool growLeft = i < in.size() && (o == out.size() || left.factor < right.factor || level);
      if (!growLeft && o == out.size())
        return false;
      if (growLeft)
        left = left * in[i++].size;
      else
        right = right * out[o++];
    } while (!(left == right) || (i == 0 && !in.empty()) || (o == 0 && !out.empty()));
    if (!regroup(in.take_front(i), out.take_front(o), result))
      return false;
    in = in.drop_front(i);
    out = out.drop_front(o);
  }
  return true;
}

std::optional<Layout> reshapedLayout(const Layout &input, ReshapeOp op) {
  DimsAttr inDims = op.inDims(0), outDims = op.outDims(0);
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  if (llvm::any_of(input.dims, [](const Extent &dim) { return dim.size.factor == 0; }))
    return std::nullopt;
  SmallVector<Extent> moving, regrouped;
  SmallVector<Monomial> sizes;
  for (size_t i = 0; i < inDims.size(); ++i)
    if (outDims.find(inDims.dim(i)) < 0)
      moving.push_back(input.dims[i]);
  for (size_t i = 0; i < outDims.size(); ++i)
    if (inDims.find(outDims.dim(i)) < 0)
      sizes.push_back(sizeOf(type, outDims, i));
  if (!regroupAll(moving, sizes, regrouped))
    return std::nullopt;
  Layout layout = input;
  layout.dims.clear();
  size_t next = 0;
  for (size_t i = 0; i < outDims.size(); ++i) {
    int from = inDims.find(outDims.dim(i));
    layout.dims.push_back(from >= 0 ? input.dims[from] : regrouped[next++]);
  }
  return layout;
}

std::optional<Layout> slicedLayout(const Layout &input, SliceOp op) {
  int along = op.inDims(0).find(op.getAlong());
  const Extent &cut = input.dims[along];
  if (!cut.size.isStatic())
    return std::nullopt; // the place may not be there
  Layout layout = input;
  if (op.getOffset() != 0)
    layout.offset.push_back(cut.stride * Monomial{int64_t(op.getOffset()), {}});
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  if (size_t(type.getRank()) < input.dims.size())
    layout.dims.erase(layout.dims.begin() + along);
  else
    layout.dims[along].size = {type.getDimSize(along), {}};
  return layout;
}

} // namespace attn
