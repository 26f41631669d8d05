// Batch.cpp - from padded tensors to the packed batch of one call, and back.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/run/Batch.h"

#include "tools/run/Failure.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace attn::run {

Extent Extent::whole(int64_t sequences, int64_t length) {
  Extent extent{length, {}};
  std::vector<int64_t> all(static_cast<size_t>(length));
  std::iota(all.begin(), all.end(), 0);
  extent.places.assign(static_cast<size_t>(sequences), all);
  return extent;
}

std::vector<int64_t> Extent::offsets() const {
  std::vector<int64_t> result = {0};
  for (const auto &sequence : places)
    result.push_back(result.back() + int64_t(sequence.size()));
  return result;
}

std::vector<int64_t> dimsOf(const attn_value &value) {
  std::vector<int64_t> dims;
  for (int32_t i = 0; i < value.rank; ++i)
    dims.push_back(value.dims[i].size);
  return dims;
}

Batch::Batch(const Model &owner, int32_t function, int64_t sequences)
    : model(owner), index(function), signature(owner.function(function)), count(sequences) {
  extents.resize(size_t(signature.sequences));
  floatInputs.resize(size_t(signature.params));
  integerInputs.resize(size_t(signature.params));
  given.resize(size_t(signature.params));
}

std::vector<Extent> Batch::knownExtents() const {
  std::vector<Extent> known;
  for (int32_t s = 0; s < signature.sequences; ++s) {
    if (!extents[size_t(s)])
      fail("`{}`: no input says how long `{}` is", signature.name, signature.sequence_names[s]);
    known.push_back(*extents[size_t(s)]);
  }
  return known;
}

void Batch::checkNumber(const attn_value &param, int64_t value) const {
  if (value < INT32_MIN || value > INT32_MAX)
    fail("`{}` of `{}`: {} does not fit 32 bits", param.name, signature.name, value);
}

void Batch::setPacked(int32_t param, const Tensor &packed) {
  const attn_value &value = signature.param[param];
  given[size_t(param)] = true;
  if (value.type == ATTN_INT32) {
    if (!packed.integer)
      fail("`{}` of `{}` takes integers", value.name, signature.name);
    for (int64_t number : packed.integers)
      checkNumber(value, number);
    integerInputs[size_t(param)].assign(packed.integers.begin(), packed.integers.end());
  } else if (packed.integer) {
    floatInputs[size_t(param)].assign(packed.integers.begin(), packed.integers.end());
  } else {
    floatInputs[size_t(param)] = packed.floats;
  }
}

void Batch::setPadded(int32_t param, const Tensor &padded, const std::string &name) {
  const attn_value &value = signature.param[param];
  std::vector<int64_t> dims = dimsOf(value);
  std::vector<Extent> known = knownExtents();
  std::vector<int64_t> shape = {count};
  for (int64_t dim : dims)
    shape.push_back(dim >= 0 ? dim : known[size_t(-1 - dim)].padded);
  if (padded.shape != shape)
    fail("`{}` is {}, but `{}` of `{}` takes {}", name, showShape(padded.shape), value.name, signature.name,
         showShape(shape));
  Tensor packed;
  packed.integer = padded.integer;
  for (int64_t b = 0; b < count; ++b)
    walkPlaces(known, dims, b, b, [&](int64_t at) {
      if (padded.integer)
        packed.integers.push_back(padded.integers[size_t(at)]);
      else
        packed.floats.push_back(padded.floats[size_t(at)]);
    });
  setPacked(param, packed);
}

void Batch::run(std::span<attn_session *const> sessions) {
  static const char nothing[64] = {}; // an empty vector's data may be null, which means "the default"
  std::vector<std::vector<int64_t>> offsets;
  std::vector<const int64_t *> offsetPointers;
  for (const Extent &extent : knownExtents())
    offsets.push_back(extent.offsets());
  for (const auto &list : offsets)
    offsetPointers.push_back(list.data());

  std::vector<const void *> inputs;
  for (size_t p = 0; p < given.size(); ++p) {
    const attn_value &value = signature.param[p];
    if (!given[p] && !value.has_default)
      fail("`{}` needs an input for `{}`", signature.name, value.name);
    const void *data =
        value.type == ATTN_INT32 ? static_cast<const void *>(integerInputs[p].data()) : floatInputs[p].data();
    inputs.push_back(!given[p] ? nullptr : data ? data : nothing);
  }

  outputs.clear();
  std::vector<void *> outputPointers;
  for (int32_t r = 0; r < signature.results; ++r) {
    int64_t size = model.library.output_size(model.handle, index, r, count, offsetPointers.data());
    if (size < 0)
      fail("{}", model.library.last_error());
    outputs.emplace_back(static_cast<size_t>(size), std::nanf(""));
  }
  for (auto &output : outputs)
    outputPointers.push_back(output.data());
  if (model.library.run(sessions.data(), count, index, inputs.data(), offsetPointers.data(), outputPointers.data()))
    fail("{}", model.library.last_error());
}

} // namespace attn::run
