// Shapes of the attn dialect: names, sizes, and the operations that match tensors by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Shapes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::formatv;

namespace attn {

std::string allRows(StringRef sequence) {
  return ("all." + sequence).str();
}
std::string keptRows(StringRef sequence) {
  return ("kept." + sequence).str();
}
StringRef cachedSequence(StringRef name) {
  return name.consume_front("all.") ? name : StringRef();
}
StringRef keptSequence(StringRef name) {
  return name.consume_front("kept.") ? name : StringRef();
}

std::string describeDim(const Shape &shape, size_t i) {
  StringRef name = shape.dims.getNames()[i].getValue();
  if (i < static_cast<size_t>(shape.type.getRank()) && !shape.isDynamic(i))
    return formatv("{0} = {1}", name, shape.size(i));
  return name.str();
}

std::string describe(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.rank(); ++i)
    text += (i ? ", " : "") + describeDim(shape, i);
  return text + "]";
}

bool sameSize(const Shape &a, size_t i, const Shape &b, size_t j) {
  if (a.isDynamic(i) || b.isDynamic(j))
    return a.isDynamic(i) && b.isDynamic(j) && a.dims.sequence(i) == b.dims.sequence(j);
  return a.size(i) == b.size(j);
}

Problem checkNames(const Shape &shape) {
  if (shape.rank() != static_cast<size_t>(shape.type.getRank()))
    return formatv("{0} names for a tensor of rank {1} (tensor_c2)", shape.rank(), shape.type.getRank());
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (shape.dims.dim(i).empty() || shape.find(shape.dims.dim(i)) != static_cast<int>(i))
      return formatv("the name `{0}` stands twice in {1} (tensor_c3)", shape.dims.dim(i), describe(shape));
    if (!shape.isDynamic(i) && shape.dims.getNames()[i].getValue().contains(':'))
      return formatv("`{0}` names a sequence, but the dimension has size {1} (tensor_c4)",
                     shape.dims.getNames()[i].getValue(), shape.size(i));
  }
  return std::nullopt;
}

Problem checkSizes(ArrayRef<Shape> shapes) {
  for (size_t a = 0; a < shapes.size(); ++a)
    for (size_t b = a + 1; b < shapes.size(); ++b)
      for (size_t i = 0; i < shapes[a].rank(); ++i) {
        int j = shapes[b].find(shapes[a].dims.dim(i));
        if (j >= 0 && !sameSize(shapes[a], i, shapes[b], j))
          return formatv("`{0}` has two sizes: {1} and {2} (tensor_c5)", shapes[a].dims.dim(i),
                         describeDim(shapes[a], i), describeDim(shapes[b], j));
      }
  return std::nullopt;
}

Shape withoutDim(const Shape &shape, size_t i) {
  SmallVector<int64_t> sizes(shape.type.getShape());
  SmallVector<StringAttr> names(shape.dims.getNames());
  sizes.erase(sizes.begin() + i);
  names.erase(names.begin() + i);
  return {RankedTensorType::get(sizes, shape.element()), DimsAttr::get(shape.dims.getContext(), names)};
}

SmallVector<StringRef> missingDims(const Shape &inner, const Shape &outer) {
  SmallVector<StringRef> names;
  for (size_t i = 0; i < inner.rank(); ++i)
    if (outer.find(inner.dims.dim(i)) < 0)
      names.push_back(inner.dims.dim(i));
  return names;
}

bool sameNames(const Shape &a, const Shape &b) {
  return a.rank() == b.rank() && missingDims(a, b).empty();
}

// ---- operations that match by name

/// The first dimension of an input that the output lacks.
static Problem checkInside(ArrayRef<Shape> inputs, const Shape &output, StringRef constraint) {
  for (const Shape &input : inputs)
    if (auto missing = missingDims(input, output); !missing.empty())
      return formatv("input dimension `{0}` is not one of the output's {1} ({2})", missing[0], describe(output),
                     constraint);
  return std::nullopt;
}

Problem checkMap(ArrayRef<Shape> inputs, const Shape &output) {
  return checkInside(inputs, output, "map_c1");
}

Problem checkReduce(const Shape &input, const Shape &output) {
  if (auto more = missingDims(output, input); !more.empty())
    return formatv("output dimension `{0}` is not one of the input's {1} (reduce_c2)", more[0], describe(input));
  return std::nullopt;
}

Problem checkContract(const Shape &a, const Shape &b, const Shape &output) {
  for (StringRef name : missingDims(output, a))
    if (b.find(name) < 0)
      return formatv("output dimension `{0}` is in neither input (contract_c2)", name);
  for (const Shape *input : {&a, &b})
    for (StringRef name : missingDims(*input, output))
      if (a.find(name) < 0 || b.find(name) < 0)
        return formatv("`{0}` would be summed but is in one input only (contract_c3)", name);
  return std::nullopt;
}

Problem checkSoftmax(StringRef along, const Shape &input, const Shape &output) {
  if (input.find(along) < 0)
    return formatv("`{0}` is not a dimension of {1} (softmax_c2)", along, describe(input));
  if (!sameNames(input, output))
    return formatv("the output {0} has other dimensions than the input {1} (softmax_c3)", describe(output),
                   describe(input));
  return std::nullopt;
}

Problem checkNormalise(ArrayRef<Shape> inputs, const Shape &output, bool rms) {
  const Shape &x = inputs[0];
  if (inputs.size() > (rms ? 2 : 3))
    return formatv("{0} inputs where at most {1} belong (normalise_c1)", inputs.size(), rms ? 2 : 3);
  if (x.rank() == 0 || x.isDynamic(x.rank() - 1))
    return formatv("the last dimension of {0} is not static (normalise_c2)", describe(x));
  for (const Shape &factor : inputs.drop_front())
    if (factor.rank() != 1 || factor.find(x.dims.dim(x.rank() - 1)) != 0)
      return formatv("weight and bias are [{0}], not {1} (normalise_c3)", describeDim(x, x.rank() - 1),
                     describe(factor));
  if (!sameNames(x, output))
    return formatv("the output {0} has other dimensions than the input {1} (normalise_c4)", describe(output),
                   describe(x));
  return std::nullopt;
}

Problem checkLinear(ArrayRef<Shape> inputs, const Shape &output) {
  const Shape &x = inputs[0];
  if (x.rank() == 0 || x.isDynamic(x.rank() - 1))
    return formatv("the last dimension of {0} is not static (linear_c2)", describe(x));
  return checkInside(inputs.drop_front(), output, "linear_c5");
}

Problem checkLinearWeight(const Shape &x, RankedTensorType weight, const Shape &output) {
  size_t rows = x.rank() - 1, columns = weight.getRank() - 1;
  if (x.size(rows) != weight.getShape().back())
    return formatv("rows of {0} numbers times a weight of rows of {1} (linear_c3)", x.size(rows),
                   weight.getShape().back());
  bool right = output.rank() == rows + columns;
  for (size_t i = 0; right && i < rows; ++i)
    right = output.dims.dim(i) == x.dims.dim(i);
  for (size_t i = 0; right && i < columns; ++i)
    right = output.size(rows + i) == weight.getDimSize(i);
  if (!right)
    return formatv(
        "the output {0} is not {1} without its last dimension, then [{2}] (linear_c4)", describe(output), describe(x),
        llvm::join(llvm::map_range(weight.getShape().drop_back(), [](int64_t size) { return std::to_string(size); }),
                   ", "));
  return std::nullopt;
}

} // namespace attn
