// Verify.cpp - attn-run verify: executes a model's verify.json and compares with what PyTorch computed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// verify.json is a list of calls. Each names a function, the tensors of io.safetensors that go in (the first axis is
// the batch), which of their places are real, and the tensors that have to come out; docs/verify.md has the whole of
// it. A value agrees if it is closer than the tolerance times the largest value of its tensor (five times that for
// `padded.*`). A tensor that no call consumed or compared is a failure: a reference that nobody looks at proves
// nothing.
#include "tools/run/Failure.h"
#include "tools/run/Verifier.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace attn::run {

static const std::set<std::string> knownKeys = {"fn",     "inputs", "real",   "lengths", "outputs", "keep",
                                                "probes", "greedy", "prompt", "tokens",  "logits"};

std::string textOf(json_t *value, const char *key) {
  if (!json_is_string(value))
    fail("verify.json: `{}` should be a text", key);
  return json_string_value(value);
}

const Tensor &Verifier::use(const std::string &name) {
  auto found = io.find(name);
  if (found == io.end())
    fail("io.safetensors has no tensor `{}`, which verify.json names", name);
  used.insert(name);
  return found->second;
}

int64_t Verifier::sequencesOf(json_t *inputs) {
  const char *param = nullptr;
  json_t *name = nullptr;
  json_object_foreach(inputs, param, name) {
    std::string tensor = textOf(name, param);
    if (tensor.starts_with("$")) {
      if (auto found = kept.find(tensor.substr(1)); found != kept.end())
        return found->second.sequences;
      continue;
    }
    const Tensor &value = use(tensor);
    if (value.shape.empty())
      fail("`{}` has no batch axis", tensor);
    return value.shape[0];
  }
  fail("verify.json: a call of `{}` has no inputs", calling);
}

/// `real` and `lengths`: which places of a sequence dimension exist.
void Verifier::setExtents(Batch &batch, json_t *call) {
  auto dimension = [&](const char *name) -> std::optional<Extent> & {
    const attn_function &function = batch.function();
    for (int32_t s = 0; s < function.sequences; ++s)
      if (std::string(function.sequence_names[s]) == name)
        return batch.extents[size_t(s)];
    fail("`{}` has no sequence dimension `{}`, which verify.json names", function.name, name);
  };
  const char *dim = nullptr;
  json_t *name = nullptr;
  json_object_foreach(json_object_get(call, "real"), dim, name) {
    const Tensor &mask = use(textOf(name, dim));
    if (!mask.integer || mask.shape.size() != 2 || mask.shape[0] != batch.sequences())
      fail("`{}` should be integers [{}, length of {}]", json_string_value(name), batch.sequences(), dim);
    Extent extent{mask.shape[1], {}};
    for (int64_t b = 0; b < mask.shape[0]; ++b) {
      auto &places = extent.places.emplace_back();
      for (int64_t i = 0; i < mask.shape[1]; ++i)
        if (mask.integers[size_t(b * mask.shape[1] + i)])
          places.push_back(i);
    }
    dimension(dim) = extent;
  }
  json_object_foreach(json_object_get(call, "lengths"), dim, name) {
    const Tensor &lengths = use(textOf(name, dim));
    if (!lengths.integer || lengths.shape != std::vector<int64_t>{batch.sequences()})
      fail("`{}` should be integers [{}]", json_string_value(name), batch.sequences());
    Extent extent{-1, {}}; // as long as the first input that has it
    for (int64_t length : lengths.integers) {
      auto &places = extent.places.emplace_back();
      for (int64_t i = 0; i < length; ++i)
        places.push_back(i);
    }
    dimension(dim) = extent;
  }
}

/// Sequence dimensions that nothing was said about are as long as the first input that has them.
void Verifier::inferExtents(Batch &batch, int32_t param, const std::string &name) {
  std::vector<int64_t> dims = dimsOf(batch.function().param[param]);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] >= 0)
      continue;
    std::optional<Extent> &extent = batch.extents[size_t(-1 - dims[axis])];
    if (name.starts_with("$")) {
      const Kept &value = kept.at(name.substr(1));
      if (!extent && axis < value.extents.size())
        extent = value.extents[axis];
      continue;
    }
    const Tensor &tensor = use(name);
    if (tensor.shape.size() != dims.size() + 1)
      continue; // setPadded says what is wrong
    int64_t length = tensor.shape[axis + 1];
    if (!extent)
      extent = Extent::whole(batch.sequences(), length);
    if (extent->padded < 0)
      extent->padded = length;
    for (const auto &places : extent->places)
      if (extent->padded == length && !places.empty() && places.back() >= length)
        fail("`{}` has {} places, but {} are called real", name, length, places.back() + 1);
  }
}

int32_t Verifier::paramOf(const attn_function &function, const std::string &name) {
  for (int32_t p = 0; p < function.params; ++p)
    if (name == function.param[p].name)
      return p;
  fail("`{}` has no parameter `{}`, which verify.json names", function.name, name);
}

/// Parameters and the names of what goes into them.
std::vector<Verifier::Input> Verifier::inputsOf(const attn_function &function, json_t *inputs) {
  std::vector<Input> pairs;
  const char *param = nullptr;
  json_t *name = nullptr;
  json_object_foreach(inputs, param, name) {
    std::string tensor = textOf(name, param);
    pairs.emplace_back(paramOf(function, param), tensor);
    if (tensor.starts_with("$") && !kept.contains(tensor.substr(1)))
      fail("no earlier call kept `{}`", tensor);
  }
  return pairs;
}

void Verifier::setInputs(Batch &batch, const std::vector<Input> &inputs) {
  for (const auto &[param, tensor] : inputs)
    inferExtents(batch, param, tensor);
  for (const auto &[param, tensor] : inputs)
    setInput(batch, param, tensor);
}

void Verifier::setInput(Batch &batch, int32_t param, const std::string &tensor) {
  if (tensor.starts_with("$"))
    batch.setPacked(param, kept.at(tensor.substr(1)).packed);
  else
    batch.setPadded(param, use(tensor), tensor);
}

/// Compares packed values with the real places of an expected tensor, whose other places must be 0.
void Verifier::compare(const std::string &name, const Tensor &want, const std::vector<float> &got,
                       std::span<const int64_t> dims, const std::vector<Extent> &extents, int64_t sequences) {
  double largest = 0;
  double error = 0;
  std::vector<bool> seen(static_cast<size_t>(want.size()));
  size_t at = 0;
  auto wanted = [&](int64_t place) {
    return want.integer ? double(want.integers[size_t(place)]) : double(want.floats[size_t(place)]);
  };
  for (int64_t b = 0; b < sequences; ++b)
    walkPlaces(extents, dims, b, b, [&](int64_t place) {
      double difference = std::abs(double(got.at(at++)) - wanted(place));
      error = std::isnan(difference) ? INFINITY : std::max(error, difference);
      largest = std::max(largest, std::abs(wanted(place)));
      seen[size_t(place)] = true;
    });
  for (int64_t place = 0; place < want.size(); ++place)
    if (!seen[size_t(place)] && wanted(place) != 0)
      fail("`{}` expects a value at a place that is not real", name);
  double allowed = name.starts_with("padded.") ? 5 * tolerance : tolerance;
  rows.push_back({calling, name, int64_t(at), largest > 0 ? error / largest : error, allowed});
}

void Verifier::compareOutputs(const Batch &batch, json_t *outputs) {
  const attn_function &function = batch.function();
  if (int64_t(json_array_size(outputs)) > function.results)
    fail("`{}` has {} results, but verify.json expects {}", function.name, function.results, json_array_size(outputs));
  for (size_t r = 0; r < json_array_size(outputs); ++r) {
    json_t *output = json_array_get(outputs, r);
    if (json_is_null(output))
      continue;
    std::string name = textOf(output, "outputs");
    const Tensor &want = use(name);
    std::vector<int64_t> dims = dimsOf(function.result[r]);
    std::vector<Extent> extents = batch.knownExtents();
    std::vector<int64_t> shape = {batch.sequences()};
    for (int64_t dim : dims)
      shape.push_back(dim >= 0 ? dim : extents[size_t(-1 - dim)].padded);
    if (want.shape != shape)
      fail("`{}` is {}, but result {} of `{}` is {}", name, showShape(want.shape), r, function.name, showShape(shape));
    compare(name, want, batch.outputs[r], dims, extents, batch.sequences());
  }
}

void Verifier::keepOutputs(const Batch &batch, json_t *names) {
  for (size_t r = 0; r < (json_is_array(names) ? json_array_size(names) : 1); ++r) {
    json_t *name = json_is_array(names) ? json_array_get(names, r) : names;
    if (json_is_null(name))
      continue;
    if (int64_t(r) >= batch.function().results)
      fail("`{}` has no result {} to keep", batch.function().name, r);
    Kept &value = kept[textOf(name, "keep")];
    value = Kept();
    value.sequences = batch.sequences();
    value.packed.floats = batch.outputs[r];
    std::vector<Extent> extents = batch.knownExtents();
    for (int64_t dim : dimsOf(batch.function().result[r]))
      value.extents.push_back(dim >= 0 ? std::nullopt : std::optional<Extent>(extents[size_t(-1 - dim)]));
  }
}

void Verifier::onTap(void *user, const char *name, int32_t rank, const int64_t *dims, int64_t,
                     const int64_t *const *offsets, const float *data) {
  auto *self = static_cast<Verifier *>(user);
  try {
    self->compareTap(name, {dims, size_t(rank)}, offsets, data);
  } catch (const std::exception &error) {
    self->tapFailure = error.what();
  }
}

/// Compares the first sequence of a tapped value with the tensor of that name, which has no batch axis.
void Verifier::compareTap(const std::string &name, std::span<const int64_t> dims, const int64_t *const *offsets,
                          const float *data) {
  if (!name.starts_with(probePrefix))
    return;
  if (!io.contains(name))
    fail("the model shows `{}`, which io.safetensors does not have", name);
  std::vector<int64_t> shape;
  for (int64_t dim : dims)
    shape.push_back(dim >= 0 ? dim : offsets[-1 - dim][1]);
  const Tensor &want = use(name);
  if (want.shape != shape)
    fail("`{}` is {}, but the model shows {}", name, showShape(want.shape), showShape(shape));
  compare(name, want, std::vector<float>(data, data + want.size()), shape, {}, 1);
  tapped.insert(name);
}

void Verifier::execute(json_t *call) {
  const char *key = nullptr;
  json_t *ignored = nullptr;
  json_object_foreach(call, key, ignored) {
    if (!knownKeys.contains(key))
      fail("verify.json: a call has an unknown key `{}`", key);
  }
  calling = textOf(json_object_get(call, "fn"), "fn");
  if (json_object_get(call, "greedy"))
    return decode(call);

  int32_t function = model.find(calling);
  Batch batch(model, function, sequencesOf(json_object_get(call, "inputs")));
  setExtents(batch, call);
  setInputs(batch, inputsOf(batch.function(), json_object_get(call, "inputs")));
  if (!keepSessions || !sessions || int64_t(sessions->handles.size()) != batch.sequences()) {
    int64_t capacity = 1;
    for (const Extent &extent : batch.knownExtents())
      capacity = std::max(capacity, extent.padded);
    if (json_object_get(call, "keep")) // a later call may need more
      for (const auto &[name, tensor] : io)
        for (int64_t length : tensor.shape)
          capacity = std::max(capacity, length);
    sessions = std::make_unique<Sessions>(model, batch.sequences(), capacity);
  }

  json_t *probes = json_object_get(call, "probes");
  if (probes) {
    probePrefix = textOf(probes, "probes");
    tapped.clear();
    if (model.library.session_probe(sessions->handles[0], onTap, this))
      fail("{}", model.library.last_error());
  }
  batch.run(sessions->handles);
  if (probes) {
    model.library.session_probe(sessions->handles[0], nullptr, nullptr);
    if (!tapFailure.empty())
      throw Failure(tapFailure);
    for (const auto &[name, tensor] : io)
      if (name.starts_with(probePrefix) && !tapped.contains(name))
        fail("io.safetensors has `{}`, which the model does not show", name);
  }
  compareOutputs(batch, json_object_get(call, "outputs"));
  keepSessions = json_object_get(call, "keep") != nullptr;
  if (keepSessions)
    keepOutputs(batch, json_object_get(call, "keep"));
}

int Verifier::report() {
  int64_t values = 0;
  int failures = 0;
  size_t width = 6;
  for (const Row &row : rows)
    width = std::max({width, row.tensor.size(), row.call.size()});
  fmt::print("{:<{}}  {:<{}}  {:>9}  {:>9}  {:>9}\n", "call", width, "tensor", width, "values", "error", "allowed");
  for (const Row &row : rows) {
    bool agrees = row.error <= row.allowed;
    failures += !agrees;
    values += row.values;
    fmt::print("{:<{}}  {:<{}}  {:>9}  {:>9.2e}  {:>9.2e}{}\n", row.call, width, row.tensor, width, row.values,
               row.error, row.allowed, agrees ? "" : "  differs");
  }
  for (const auto &[name, tensor] : io)
    if (!used.contains(name)) {
      fmt::print(stderr, "attn-run: error: `{}` of io.safetensors was neither consumed nor compared\n", name);
      ++failures;
    }
  fmt::print("{} tensors, {} values compared; {}\n", rows.size(), values,
             failures ? fmt::format("{} failed", failures) : "all agree");
  return failures || rows.empty() ? 1 : 0;
}

int verify(const Source &source, const VerifyOptions &options) {
  if (source.model.empty())
    fail("verify needs --model=DIR, a folder with verify.json and io.safetensors");
  Json script = readJson(source.model + "/verify.json");
  json_t *calls = json_object_get(script.get(), "calls");
  if (!json_is_array(calls))
    fail("verify.json has no list `calls`");
  Source probing = source;
  size_t number = 0;
  json_t *call = nullptr;
  json_array_foreach(calls, number, call) probing.probe |= json_object_get(call, "probes") != nullptr;
  Verifier verifier(probing, options);
  json_array_foreach(calls, number, call) verifier.execute(call);
  int code = verifier.report();
  verifier.showCounts(source);
  return code;
}

} // namespace attn::run
