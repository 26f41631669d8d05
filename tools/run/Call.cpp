// Call.cpp - attn-run call: one exported function on given tensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs are tensors named for the parameters, from a .safetensors file or written as name=[[1, 2], [3, 4]]. They stand
// for one sequence; with --batch their first axis is the batch; and with tensors `offsets.T` (one for every sequence
// dimension, where each sequence begins) they lie packed, as the C interface takes them, and their shape does not
// matter.
#include "tools/run/Batch.h"
#include "tools/run/Commands.h"
#include "tools/run/Failure.h"
#include "tools/run/HeatMap.h"
#include <algorithm>
#include <cstdio>
#include <ostream>
#include <utility>

namespace attn::run {
namespace {

Tensors gatherInputs(const CallOptions &options) {
  Tensors inputs;
  if (!options.inputsFile.empty())
    inputs = readTensors(options.inputsFile);
  for (const std::string &text : options.inputs) {
    size_t equals = text.find('=');
    if (equals == std::string::npos)
      fail("--input={}: should be name=VALUE", text);
    std::string name = text.substr(0, equals);
    inputs[name] = parseTensor(text.substr(equals + 1), "--input=" + name);
  }
  return inputs;
}

int32_t paramOf(const attn_function &function, const std::string &name) {
  for (int32_t p = 0; p < function.params; ++p)
    if (function.param[p].name == name)
      return p;
  fail("`{}` has no parameter `{}`", function.name, name);
}

/// Takes the tensors `offsets.T` out of the inputs; true if there are some.
bool takeOffsets(Batch &batch, Tensors &inputs) {
  bool packed = false;
  const attn_function &function = batch.function();
  for (int32_t s = 0; s < function.sequences; ++s) {
    auto found = inputs.find(std::string("offsets.") + function.sequence_names[s]);
    if (found == inputs.end())
      continue;
    Extent extent;
    const std::vector<int64_t> &offsets = found->second.integers;
    for (size_t b = 0; b + 1 < offsets.size(); ++b) {
      if (offsets[b + 1] < offsets[b])
        fail("`{}` should ascend", found->first);
      extent.places.emplace_back(size_t(offsets[b + 1] - offsets[b]));
    }
    batch.extents[size_t(s)] = extent;
    inputs.erase(found);
    packed = true;
  }
  return packed;
}

/// The number of values that a parameter has over the whole batch.
int64_t packedSize(const Batch &batch, const attn_value &value) {
  int64_t total = 0;
  std::vector<Extent> extents = batch.knownExtents();
  for (int64_t b = 0; b < batch.sequences(); ++b) {
    int64_t size = 1;
    for (int64_t dim : dimsOf(value))
      size *= dim >= 0 ? dim : int64_t(extents[size_t(-1 - dim)].places[size_t(b)].size());
    total += size;
  }
  return total;
}

void setPackedInputs(Batch &batch, const Tensors &inputs) {
  for (const auto &[name, tensor] : inputs) {
    int32_t p = paramOf(batch.function(), name);
    int64_t size = packedSize(batch, batch.function().param[p]);
    if (tensor.size() != size)
      fail("`{}` has {} values, but the offsets ask for {}", name, tensor.size(), size);
    batch.setPacked(p, tensor);
  }
}

void setPaddedInputs(Batch &batch, const Tensors &inputs) {
  for (const auto &[name, tensor] : inputs) {
    std::vector<int64_t> dims = dimsOf(batch.function().param[paramOf(batch.function(), name)]);
    for (size_t axis = 0; axis < dims.size() && axis + 1 < tensor.shape.size(); ++axis)
      if (dims[axis] < 0 && !batch.extents[size_t(-1 - dims[axis])])
        batch.extents[size_t(-1 - dims[axis])] = Extent::whole(batch.sequences(), tensor.shape[axis + 1]);
  }
  for (const auto &[name, tensor] : inputs)
    batch.setPadded(paramOf(batch.function(), name), tensor, name);
}

/// The shape of a result: packed rows are one axis unless all sequences are equally long.
std::vector<int64_t> shapeOf(const Batch &batch, const attn_value &value, bool withBatch) {
  std::vector<int64_t> shape;
  if (withBatch)
    shape.push_back(batch.sequences());
  std::vector<Extent> extents = batch.knownExtents();
  for (int64_t dim : dimsOf(value))
    shape.push_back(dim >= 0 ? dim : extents[size_t(-1 - dim)].padded);
  return shape;
}

void printNested(const std::vector<float> &values, const std::vector<int64_t> &shape, size_t axis, size_t &at) {
  if (axis == shape.size()) {
    fmt::print("{:.9g}", values[at++]);
    return;
  }
  fmt::print("[");
  for (int64_t i = 0; i < shape[axis]; ++i) {
    if (i)
      fmt::print(", ");
    printNested(values, shape, axis + 1, at);
  }
  fmt::print("]");
}

} // namespace

int call(const Source &source, const CallOptions &options) {
  Model model(source);
  int32_t function = model.find(options.function);
  int32_t weights = options.weights.empty() ? -1 : findWeights(model.function(function));
  Tensors inputs = gatherInputs(options);
  int64_t sequences = 1;
  for (auto &[name, tensor] : inputs) {
    if (name.starts_with("offsets."))
      sequences = std::max<int64_t>(tensor.size() - 1, 0);
    else if (options.batch && !tensor.shape.empty())
      sequences = tensor.shape[0];
    else if (!options.batch)
      tensor.shape.insert(tensor.shape.begin(), 1);
  }
  Batch batch(model, function, sequences);
  bool packed = takeOffsets(batch, inputs);
  packed ? setPackedInputs(batch, inputs) : setPaddedInputs(batch, inputs);

  int64_t capacity = 1;
  for (const Extent &extent : batch.knownExtents())
    for (const auto &places : extent.places)
      capacity = std::max(capacity, int64_t(places.size()));
  Sessions sessions(model, sequences, capacity);
  batch.run(sessions.handles);
  printCounts(source, model);
  if (weights >= 0)
    writeWhole(options.weights, [&](std::ostream &file) { file << drawWeights(batch, weights); });

  Tensors results;
  for (int32_t r = 0; r < batch.function().results; ++r) {
    const attn_value &value = batch.function().result[r];
    Tensor tensor;
    tensor.floats = batch.outputs[size_t(r)];
    tensor.shape = packed ? std::vector<int64_t>{tensor.size()} : shapeOf(batch, value, options.batch);
    results[*value.name ? value.name : fmt::format("result{}", r)] = tensor;
  }
  if (!options.output.empty()) {
    writeTensors(options.output, results);
    return 0;
  }
  fmt::print("{{");
  for (bool first = true; const auto &[name, tensor] : results) {
    size_t at = 0;
    fmt::print("{}\"{}\": ", std::exchange(first, false) ? "" : ",\n ", name);
    printNested(tensor.floats, tensor.shape, 0, at);
  }
  fmt::print("}}\n");
  return 0;
}

} // namespace attn::run
