// What gather, reshape, slice, concat and patches compute: numbers move, none is made.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/interpreter/Evaluate.h"

using namespace mlir;

namespace attn::interpreter {

Tensor evaluateGather(GatherOp op, Inputs inputs, const Sizes &sizes) {
  const Tensor &table = *inputs[0];
  Inputs indices = inputs.drop_front();
  DimsAttr outDims = op.outDims();
  Sizes tableStrides = computeStrides(table.sizes);
  SmallVector<Sizes> strides;
  for (size_t i = 0; i < indices.size(); ++i)
    strides.push_back(alignStrides(*indices[i], op.inDims(i + 1), outDims));
  Sizes rest(sizes.size(), 0); // the table's last dimensions are the output's last
  for (size_t d = indices.size(); d < table.sizes.size(); ++d)
    rest[sizes.size() - table.sizes.size() + d] = tableStrides[d];
  strides.push_back(rest);

  Tensor out(sizes);
  size_t next = 0;
  walk(sizes, strides, [&](ArrayRef<int64_t> offsets) {
    int64_t at = offsets.back();
    for (size_t i = 0; i < indices.size(); ++i) {
      auto index = static_cast<int64_t>(indices[i]->numbers[offsets[i]]);
      at += std::max<int64_t>(std::min(index, table.sizes[i] - 1), 0) * tableStrides[i];
    }
    out.numbers[next++] = table.numbers.empty() ? 0 : table.numbers[at];
  });
  return out;
}

/// How far neighbours along each dimension lie apart when only the dimensions that `other` lacks are counted,
/// row-major; 0 for the others.
static Sizes stridesOfRest(ArrayRef<int64_t> sizes, DimsAttr dims, DimsAttr other) {
  Sizes strides(sizes.size(), 0);
  int64_t next = 1;
  for (size_t i = sizes.size(); i-- > 0;)
    if (other.find(dims.dim(i)) < 0) {
      strides[i] = next;
      next *= sizes[i];
    }
  return strides;
}

Tensor evaluateReshape(ReshapeOp op, Inputs inputs, const Sizes &sizes) {
  const Tensor &x = *inputs[0];
  DimsAttr inDims = op.inDims(0), outDims = op.outDims();
  Sizes own = computeStrides(x.sizes), rest = stridesOfRest(x.sizes, inDims, outDims);
  Sizes shared = alignStrides(x, inDims, outDims), regrouped = stridesOfRest(sizes, outDims, inDims);
  Tensor out(sizes);
  size_t next = 0;
  walk(sizes, {shared, regrouped}, [&](ArrayRef<int64_t> offsets) {
    int64_t at = offsets[0];
    for (size_t i = 0; i < own.size(); ++i)
      if (rest[i])
        at += offsets[1] / rest[i] % x.sizes[i] * own[i];
    out.numbers[next++] = x.numbers[at];
  });
  return out;
}

Tensor evaluateSlice(SliceOp op, Inputs inputs, const Sizes &sizes) {
  const Tensor &x = *inputs[0];
  int along = op.inDims(0).find(op.getAlong());
  int64_t offset = op.getOffset();
  Sizes strides = computeStrides(x.sizes);
  int64_t begin = offset * strides[along];
  Tensor out(sizes);
  if (offset >= x.sizes[along])
    return out; // the sequence is too short
  if (sizes.size() < x.sizes.size())
    strides.erase(strides.begin() + along);
  size_t next = 0;
  walk(sizes, {strides}, [&](ArrayRef<int64_t> offsets) { out.numbers[next++] = x.numbers[begin + offsets[0]]; });
  return out;
}

Tensor evaluateConcat(ConcatOp op, Inputs inputs, const Sizes &sizes) {
  DimsAttr outDims = op.outDims();
  int along = outDims.find(op.getAlong());
  Sizes outStrides = computeStrides(sizes);
  Tensor out(sizes);
  int64_t begin = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor &x = *inputs[i];
    int place = op.inDims(i).find(cast<StringAttr>(op.getPlaces()[i]).getValue());
    Sizes part = sizes, strides = alignStrides(x, op.inDims(i), outDims);
    part[along] = x.sizes[place];
    strides[along] = computeStrides(x.sizes)[place];
    walk(part, {strides, outStrides}, [&](ArrayRef<int64_t> offsets) {
      out.numbers[begin * outStrides[along] + offsets[1]] = x.numbers[offsets[0]];
    });
    begin += part[along];
  }
  return out;
}

Tensor evaluatePatches(PatchesOp op, Inputs inputs, const Sizes &sizes) {
  const Tensor &image = *inputs[0];
  int64_t height = image.sizes[1], width = image.sizes[2], stride = op.getStride(), pad = op.getPad();
  Tensor out(sizes);
  size_t next = 0;
  for (int64_t y = 0; y < sizes[0]; ++y)
    for (int64_t x = 0; x < sizes[1]; ++x)
      for (int64_t c = 0; c < sizes[2]; ++c)
        for (int64_t a = 0; a < sizes[3]; ++a)
          for (int64_t b = 0; b < sizes[4]; ++b) {
            int64_t row = y * stride + a - pad, column = x * stride + b - pad;
            bool inside = 0 <= row && row < height && 0 <= column && column < width;
            out.numbers[next++] = inside ? image.numbers[(c * height + row) * width + column] : 0;
          }
  return out;
}

} // namespace attn::interpreter
