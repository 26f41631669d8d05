// What pos, map, reduce, contract, softmax, normalise and linear compute.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/interpreter/Evaluate.h"
#include "dialect/interpreter/Scalars.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace attn::interpreter {

Tensor evaluatePos(const Sizes &sizes, int64_t first) {
  Tensor out(sizes);
  std::iota(out.numbers.begin(), out.numbers.end(), static_cast<double>(first));
  return out;
}

/// The strides of each input, whose names are `dims`, along dimensions called `along`.
static SmallVector<Sizes> alignAll(Inputs inputs, ArrayAttr dims, DimsAttr along) {
  SmallVector<Sizes> all;
  for (auto [input, names] : llvm::zip(inputs, dims))
    all.push_back(alignStrides(*input, cast<DimsAttr>(names), along));
  return all;
}

/// The dimensions that `inner` has and `outer` lacks.
static DimsAttr missing(DimsAttr inner, DimsAttr outer) {
  SmallVector<StringAttr> names;
  for (size_t i = 0; i < inner.size(); ++i)
    if (outer.find(inner.dim(i)) < 0)
      names.push_back(inner.getNames()[i]);
  return DimsAttr::get(inner.getContext(), names);
}

/// The sizes that dimensions called `dims` have in a tensor whose dimensions are called `names`.
static Sizes sizesIn(const Tensor &tensor, DimsAttr names, DimsAttr dims) {
  Sizes sizes;
  for (size_t i = 0; i < dims.size(); ++i)
    sizes.push_back(tensor.sizes[names.find(dims.dim(i))]);
  return sizes;
}

/// out[place] = f(for each input, its number there), at all places.
static Tensor mapRegion(Block &body, Inputs inputs, ArrayAttr inDims, DimsAttr outDims, const Sizes &sizes,
                        Outside outside) {
  ScalarProgram program(body, outside);
  Tensor out(sizes);
  size_t next = 0;
  walk(sizes, alignAll(inputs, inDims, outDims), [&](ArrayRef<int64_t> offsets) {
    for (size_t i = 0; i < inputs.size(); ++i)
      program.setNumber(i, inputs[i]->numbers[offsets[i]]);
    out.numbers[next++] = program.run();
  });
  return out;
}

Tensor evaluateMap(MapOp op, Inputs inputs, const Sizes &sizes, Outside outside) {
  return mapRegion(op.getBody().front(), inputs, op.getInDims(), op.outDims(), sizes, outside);
}

double combine(Reduction kind, double sum, double number) {
  if (kind == Reduction::sum || kind == Reduction::mean)
    return sum + number;
  if (std::isnan(sum) || std::isnan(number))
    return NAN;
  return kind == Reduction::max ? std::fmax(sum, number) : std::fmin(sum, number);
}

double combineNothing(Reduction kind) {
  if (kind == Reduction::max)
    return -INFINITY;
  return kind == Reduction::min ? INFINITY : 0;
}

Tensor evaluateReduce(ReduceOp op, Inputs inputs, const Sizes &sizes) {
  const Tensor &x = *inputs[0];
  Reduction kind = op.getKind();
  Tensor out(sizes, combineNothing(kind));
  Sizes outStrides = alignStrides(out, op.outDims(), op.inDims(0));
  walk(x.sizes, {computeStrides(x.sizes), outStrides}, [&](ArrayRef<int64_t> offsets) {
    double &number = out.numbers[offsets[1]];
    number = combine(kind, number, x.numbers[offsets[0]]);
  });
  if (kind == Reduction::mean && !x.numbers.empty())
    for (double &number : out.numbers)
      number /= static_cast<double>(x.numbers.size() / out.numbers.size());
  return out;
}

Tensor evaluateContract(ContractOp op, Inputs inputs, const Sizes &sizes) {
  DimsAttr outDims = op.outDims(), summed = missing(op.inDims(0), outDims);
  Sizes extent = sizesIn(*inputs[0], op.inDims(0), summed);
  SmallVector<Sizes> outer = alignAll(inputs, op.getInDims(), outDims);
  SmallVector<Sizes> inner = alignAll(inputs, op.getInDims(), summed);
  Tensor out(sizes);
  size_t next = 0;
  walk(sizes, outer, [&](ArrayRef<int64_t> at) {
    double sum = 0;
    walk(extent, inner, [&](ArrayRef<int64_t> further) {
      sum += inputs[0]->numbers[at[0] + further[0]] * inputs[1]->numbers[at[1] + further[1]];
    });
    out.numbers[next++] = sum;
  });
  return out;
}

Tensor evaluateSoftmax(SoftmaxOp op, Inputs inputs, const Sizes &sizes) {
  const Tensor &x = *inputs[0];
  DimsAttr outDims = op.outDims();
  int along = outDims.find(op.getAlong());
  Tensor out(sizes);
  Sizes xStrides = alignStrides(x, op.inDims(0), outDims), outStrides = computeStrides(sizes), rows = sizes;
  rows[along] = std::min<int64_t>(sizes[along], 1);
  walk(rows, {xStrides, outStrides}, [&](ArrayRef<int64_t> at) {
    auto score = [&](int64_t i) { return x.numbers[at[0] + i * xStrides[along]]; };
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < sizes[along]; ++i)
      most = combine(Reduction::max, most, score(i));
    if (most == -INFINITY)
      return; // the row stays 0
    for (int64_t i = 0; i < sizes[along]; ++i)
      sum += std::exp(score(i) - most);
    for (int64_t i = 0; i < sizes[along]; ++i)
      out.numbers[at[1] + i * outStrides[along]] = std::exp(score(i) - most) / sum;
  });
  return out;
}

Tensor evaluateNormalise(NormaliseOp op, Inputs inputs, const Sizes &sizes) {
  const Tensor &x = *inputs[0];
  double eps = op.getEps().convertToDouble();
  int64_t width = x.sizes.back();
  Tensor y(x.sizes);
  for (size_t row = 0; row < x.numbers.size(); row += width) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < width; ++i)
      sum += x.numbers[row + i];
    double mean = op.getKind() == Norm::layer ? sum / width : 0;
    for (int64_t i = 0; i < width; ++i)
      squares += (x.numbers[row + i] - mean) * (x.numbers[row + i] - mean);
    double factor = 1 / std::sqrt(squares / width + eps);
    for (int64_t i = 0; i < width; ++i) {
      double weight = inputs.size() > 1 ? inputs[1]->numbers[i] : 1;
      double bias = inputs.size() > 2 ? inputs[2]->numbers[i] : 0;
      y.numbers[row + i] = (x.numbers[row + i] - mean) * factor * weight + bias;
    }
  }
  Tensor out(sizes);
  size_t next = 0;
  walk(sizes, {alignStrides(y, op.inDims(0), op.outDims())},
       [&](ArrayRef<int64_t> offsets) { out.numbers[next++] = y.numbers[offsets[0]]; });
  return out;
}

/// acc[r.., n..] = sum_k x[r.., k] W[n.., k]
static Tensor multiplyRows(const Tensor &x, const Tensor &weight, const Sizes &sizes) {
  int64_t width = x.sizes.back();
  Tensor out(sizes);
  if (width == 0)
    return out;
  int64_t rows = static_cast<int64_t>(x.numbers.size()) / width;
  int64_t columns = static_cast<int64_t>(weight.numbers.size()) / width;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t n = 0; n < columns; ++n)
      out.numbers[r * columns + n] =
          std::inner_product(&x.numbers[r * width], &x.numbers[r * width] + width, &weight.numbers[n * width], 0.0);
  return out;
}

Tensor evaluateLinear(LinearOp op, const Tensor &weight, Inputs inputs, const Sizes &sizes, Outside outside) {
  Tensor acc = multiplyRows(*inputs[0], weight, sizes);
  SmallVector<const Tensor *> all(inputs);
  SmallVector<Attribute> dims(op.getInDims().getValue());
  all[0] = &acc;
  dims[0] = op.outDims();
  return mapRegion(op.getBody().front(), all, ArrayAttr::get(op.getContext(), dims), op.outDims(), sizes, outside);
}

} // namespace attn::interpreter
