// Shapes of the attn dialect: operations that move numbers, and attention.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Shapes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::formatv;

namespace attn {

// ---- gather

Shape inferGather(ArrayRef<Shape> inputs) {
  SmallVector<int64_t> sizes;
  SmallVector<StringAttr> names;
  auto add = [&](const Shape &shape, size_t i) {
    for (StringAttr name : names)
      if (name.getValue().split(':').first == shape.dims.dim(i))
        return;
    sizes.push_back(shape.size(i));
    names.push_back(shape.dims.getNames()[i]);
  };
  for (const Shape &index : inputs.drop_front())
    for (size_t i = 0; i < index.rank(); ++i)
      add(index, i);
  for (size_t i = inputs.size() - 1; i < inputs[0].rank(); ++i) {
    sizes.push_back(inputs[0].size(i));
    names.push_back(inputs[0].dims.getNames()[i]);
  }
  return {RankedTensorType::get(sizes, inputs[0].element()), DimsAttr::get(inputs[0].dims.getContext(), names)};
}

/// Names and sizes are the same, in order.
static bool equal(const Shape &a, const Shape &b) {
  if (a.rank() != b.rank())
    return false;
  for (size_t i = 0; i < a.rank(); ++i)
    if (a.dims.dim(i) != b.dims.dim(i) || !sameSize(a, i, b, i))
      return false;
  return true;
}

Problem checkGather(ArrayRef<Shape> inputs, const Shape &output) {
  size_t indices = inputs.size() - 1;
  if (indices == 0 || indices > inputs[0].rank())
    return formatv("{0} index tensors for a table {1} (gather_c1)", indices, describe(inputs[0]));
  for (const Shape &index : inputs.drop_front())
    if (!index.element().isInteger(32))
      return std::string("an index tensor does not hold int32 (gather_c2)");
  if (Shape expected = inferGather(inputs); !equal(expected, output))
    return formatv("the output is {0}, not {1} (gather_c3)", describe(expected), describe(output));
  return std::nullopt;
}

// ---- reshape

/// The places of the dimensions that the other side lacks, ones left out.
static SmallVector<size_t> restOf(const Shape &shape, const Shape &other) {
  SmallVector<size_t> rest;
  for (size_t i = 0; i < shape.rank(); ++i)
    if (other.find(shape.dims.dim(i)) < 0 && shape.size(i) != 1)
      rest.push_back(i);
  return rest;
}

std::optional<SmallVector<Regrouping>> findRegrouping(const Shape &input, const Shape &output) {
  SmallVector<size_t> from = restOf(input, output), to = restOf(output, input);
  SmallVector<Regrouping> groups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    Regrouping group;
    int64_t left = input.size(from[i]), right = output.size(to[j]);
    group.from.push_back(from[i++]);
    group.to.push_back(to[j++]);
    while (left != right) {
      bool less = left < right;
      if (less ? i == from.size() : j == to.size())
        return std::nullopt;
      size_t next = less ? from[i++] : to[j++];
      (less ? left : right) *= less ? input.size(next) : output.size(next);
      (less ? group.from : group.to).push_back(next);
    }
    if (group.from.size() > 1 && group.to.size() > 1)
      return std::nullopt;
    groups.push_back(std::move(group));
  }
  if (i < from.size() || j < to.size())
    return std::nullopt;
  return groups;
}

Problem checkReshape(const Shape &input, const Shape &output) {
  for (const auto &[shape, other] : {std::pair(&input, &output), std::pair(&output, &input)})
    for (size_t i = 0; i < shape->rank(); ++i)
      if (shape->isDynamic(i) && other->find(shape->dims.dim(i)) < 0)
        return formatv("sequence dimension `{0}` is on one side only: {1} to {2} (reshape_c2)", shape->dims.dim(i),
                       describe(input), describe(output));
  if (!findRegrouping(input, output))
    return formatv("{0} cannot be regrouped in order into {1} (reshape_c3)", describe(input), describe(output));
  return std::nullopt;
}

// ---- slice, concat, patches

Problem checkSlice(StringRef along, int64_t offset, const Shape &input, const Shape &output) {
  int place = input.find(along);
  if (place < 0)
    return formatv("`{0}` is not a dimension of {1} (slice_c2)", along, describe(input));
  bool one = output.rank() + 1 == input.rank();
  bool right = one || output.rank() == input.rank();
  for (size_t i = 0, j = 0; right && i < input.rank(); ++i) {
    if (static_cast<int>(i) == place) {
      j += !one;
      continue;
    }
    right = output.dims.dim(j) == input.dims.dim(i);
    ++j;
  }
  if (!right)
    return formatv("the output {0} is not {1} with `{2}` cut or left out (slice_c3)", describe(output), describe(input),
                   along);
  if (Problem problem = checkSizes({withoutDim(input, place), one ? output : withoutDim(output, place)}))
    return problem;
  if (input.isDynamic(place))
    return one && offset >= 0
               ? Problem()
               : formatv("one place from 0 on is taken along sequence dimension `{0}` (slice_c5)", along).str();
  int64_t length = one ? 1 : output.size(place);
  if (offset < 0 || length < 0 || offset > input.size(place) - length)
    return formatv("places {0} to {1} of {2} (slice_c4)", offset, offset + length, describeDim(input, place));
  return std::nullopt;
}

Problem checkConcat(StringRef along, ArrayRef<StringRef> places, ArrayRef<Shape> inputs, const Shape &output) {
  if (inputs.empty() || places.size() != inputs.size())
    return formatv("{0} places for {1} inputs (concat_c1)", places.size(), inputs.size());
  int joined = output.find(along);
  if (joined < 0 || output.isDynamic(joined))
    return formatv("`{0}` is not a static dimension of {1} (concat_c2)", along, describe(output));
  int64_t sum = 0;
  SmallVector<Shape> others = {withoutDim(output, joined)};
  for (auto [input, name] : llvm::zip(inputs, places)) {
    int place = input.find(name);
    if (place < 0 || input.isDynamic(place))
      return formatv("`{0}` is not a static dimension of {1} (concat_c3)", name, describe(input));
    for (size_t i = 0; i < input.rank(); ++i)
      if (static_cast<int>(i) != place && (output.find(input.dims.dim(i)) < 0 || input.dims.dim(i) == along))
        return formatv("input dimension `{0}` is neither joined nor one of the output's (concat_c4)",
                       input.dims.dim(i));
    sum += input.size(place);
    others.push_back(withoutDim(input, place));
  }
  if (Problem problem = checkSizes(others))
    return problem;
  if (sum != output.size(joined))
    return formatv("the joined sizes add up to {0}, not {1} (concat_c5)", sum, describeDim(output, joined));
  return std::nullopt;
}

Problem checkPatches(int64_t stride, int64_t pad, const Shape &input, const Shape &output) {
  if (input.rank() != 3 || output.rank() != 5 || !input.type.hasStaticShape() || !output.type.hasStaticShape())
    return formatv("a static [C, Y, X] becomes a static [Y2, X2, C, KY, KX], not {0} {1} (patches_c1)", describe(input),
                   describe(output));
  if (stride < 1 || pad < 0)
    return formatv("stride {0}, pad {1} (patches_c2)", stride, pad);
  if (input.size(0) != output.size(2))
    return formatv("{0} channels become {1} (patches_c3)", input.size(0), output.size(2));
  for (size_t axis : {0, 1}) {
    int64_t room = input.size(axis + 1) + 2 * pad - output.size(axis + 3);
    int64_t count = room < 0 ? 0 : room / stride + 1;
    if (count != output.size(axis))
      return formatv("{0} windows of {1} fit {2}, not {3} (patches_c4)", count, describeDim(output, axis + 3),
                     describeDim(input, axis + 1), describeDim(output, axis));
  }
  return std::nullopt;
}

// ---- attend

Shape inferAttend(ArrayRef<Shape> inputs) {
  const Shape &q = inputs[0], &v = inputs[2];
  SmallVector<int64_t> sizes(q.type.getShape().drop_back());
  SmallVector<StringAttr> names(q.dims.getNames().drop_back());
  sizes.push_back(v.type.getShape().back());
  names.push_back(v.dims.getNames().back());
  return {RankedTensorType::get(sizes, q.element()), DimsAttr::get(q.dims.getContext(), names)};
}

/// Between the first dimension and the row.
static SmallVector<StringRef> headNames(const Shape &shape) {
  SmallVector<StringRef> names;
  for (size_t i = 1; i + 1 < shape.rank(); ++i)
    names.push_back(shape.dims.dim(i));
  return names;
}

static int64_t rowWidth(const Shape &shape) {
  return shape.type.getShape().back();
}

static Problem checkAttendInputs(ArrayRef<Shape> inputs, bool usesDot) {
  const Shape &q = inputs[0], &k = inputs[1], &v = inputs[2];
  SmallVector<StringRef> heads = headNames(q);
  for (const Shape *side : {&k, &v})
    for (StringRef name : headNames(*side))
      if (!llvm::is_contained(heads, name))
        return formatv("`{0}` of {1} is not a head of the query {2} (attend_c2)", name, describe(*side), describe(q));
  for (const Shape *side : {&q, &k, &v})
    for (size_t i = 1; i < side->rank(); ++i)
      if (side->isDynamic(i))
        return formatv("`{0}` of {1} is not static: heads and rows are (attend_c3)", side->dims.dim(i),
                       describe(*side));
  if (!sameSize(k, 0, v, 0))
    return formatv("keys {0} and values {1} differ in number (attend_c4)", describe(k), describe(v));
  if (usesDot && rowWidth(q) != rowWidth(k))
    return formatv("the product of rows of {0} and {1} numbers (attend_c5)", rowWidth(q), rowWidth(k));
  return std::nullopt;
}

/// Sizes of a result: those of q's first dimensions by name, then `last` if it has one more.
static bool isResult(const Shape &result, const Shape &rows, const Shape *last, size_t at) {
  if (result.rank() != rows.rank() + (last ? 1 : 0))
    return false;
  for (size_t i = 0; i < rows.rank(); ++i)
    if (result.dims.dim(i) != rows.dims.dim(i) || !sameSize(result, i, rows, i))
      return false;
  return !last || sameSize(result, rows.rank(), *last, at);
}

static Shape withoutRow(const Shape &q) {
  return withoutDim(q, q.rank() - 1);
}

Problem checkAttend(ArrayRef<Shape> inputs, ArrayRef<Shape> outputs, bool usesDot, bool weights, bool lse) {
  if (inputs.size() < 3 || llvm::any_of(inputs.take_front(3), [](const Shape &shape) { return shape.rank() < 2; }))
    return std::string("query, key and value are tensors of rank 2 or more (attend_c1)");
  if (Problem problem = checkAttendInputs(inputs, usesDot))
    return problem;
  if (outputs.size() != 1 + weights + lse)
    return formatv("{0} results where {1} belong (attend_c6)", outputs.size(), 1 + weights + lse);
  Shape rows = withoutRow(inputs[0]);
  const Shape &v = inputs[2];
  if (!isResult(outputs[0], rows, &v, v.rank() - 1))
    return formatv("the result is {0}, not {1} (attend_c7)", describe(inferAttend(inputs)), describe(outputs[0]));
  if (weights && !isResult(outputs[1], rows, &inputs[1], 0))
    return formatv("the weights are {0} and the keys' dimension, not {1} (attend_c8)", describe(rows),
                   describe(outputs[1]));
  if (lse && !isResult(outputs.back(), rows, nullptr, 0))
    return formatv("the log-sum-exp is {0}, not {1} (attend_c9)", describe(rows), describe(outputs.back()));
  return std::nullopt;
}

} // namespace attn
