// Decoder.cpp - a model that is fed token by token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/run/Decoder.h"

#include "tools/run/Batch.h"
#include "tools/run/Failure.h"
#include <algorithm>
#include <chrono>

namespace attn::run {
namespace {

std::string functionName(const Model &model, const std::string &wanted) {
  if (!wanted.empty())
    return wanted;
  for (int32_t i = 0; const attn_function *function = model.library.model_function(model.handle, i); ++i)
    for (const char *name : {"logits", "decode"})
      if (std::string(function->name) == name)
        return name;
  fail("there is no exported function `logits` or `decode`: name the one that gives logits with --function");
}

/// Whether a value's first dimension is a sequence of that kind.
bool isAlong(const attn_function &function, const attn_value &value, int32_t kind) {
  return value.rank > 0 && value.dims[0].size < 0 && function.sequence_kinds[-1 - value.dims[0].size] == kind;
}

bool isIds(const attn_value &value) {
  return value.type == ATTN_INT32 && value.rank == 1;
}

} // namespace

Decoder::Decoder(const Model &owner, const std::string &name)
    : model(owner), function(owner.find(functionName(owner, name))) {
  findIds();
  findOthers();
}

void Decoder::findIds() {
  const attn_function &called = signature();
  for (int32_t p = 0; p < called.params && idsParam < 0; ++p)
    if (isIds(called.param[p]) && isAlong(called, called.param[p], ATTN_CACHED))
      idsParam = p;
  if (idsParam < 0)
    fail("`{}` takes no ids along a sequence that it caches: it cannot be fed token by token", called.name);
  along = int32_t(-1 - called.param[idsParam].dims[0].size);
  const attn_value *logits = called.results ? &called.result[0] : nullptr;
  if (!logits || logits->rank != 2 || logits->dims[0].size != -1 - along || logits->dims[1].size < 1)
    fail("the first result of `{}` is not a row of logits for each of `{}`", called.name, called.param[idsParam].name);
  width = logits->dims[1].size;
}

/// What the function takes besides the ids.
void Decoder::findOthers() {
  const attn_function &called = signature();
  std::vector<int32_t> encoded;
  for (int32_t p = 0; p < called.params; ++p) {
    const attn_value &param = called.param[p];
    if (p == idsParam || param.has_default)
      continue;
    bool once = isAlong(called, param, ATTN_KEPT);
    if (!once || (isIds(param) && sourceParam >= 0))
      fail("`{}` takes `{}`, which is not given once: there is nothing to give", called.name, param.name);
    if (isIds(param))
      sourceParam = p;
    else
      encoded.push_back(p);
  }
  if (!encoded.empty())
    findEncoder(encoded);
}

void Decoder::findEncoder(const std::vector<int32_t> &params) {
  encoder = model.find("encode");
  const attn_function &giver = model.function(*encoder);
  int32_t needed = 0;
  for (int32_t p = 0; p < giver.params; ++p)
    needed += !giver.param[p].has_default;
  if (needed != 1 || !isIds(giver.param[0]) || giver.param[0].has_default || giver.sequences != 1)
    fail("`{}` does not take the ids of a text alone", giver.name);
  for (int32_t p : params)
    memories.push_back({p, resultFor(giver, signature().param[p], memories)});
}

/// The first result that is shaped as the parameter and not taken yet.
int32_t Decoder::resultFor(const attn_function &giver, const attn_value &param,
                           const std::vector<Memory> &taken) const {
  for (int32_t r = 0; r < giver.results; ++r) {
    const attn_value &result = giver.result[r];
    bool fits = result.rank == param.rank && result.dims[0].size < 0 && param.type == ATTN_FLOAT32;
    for (int32_t d = 1; fits && d < param.rank; ++d)
      fits = result.dims[d].size == param.dims[d].size && param.dims[d].size >= 0;
    for (const Memory &other : taken)
      fits = fits && other.result != r;
    if (fits)
      return r;
  }
  fail("no result of `{}` has the shape of `{}` of `{}`", giver.name, param.name, signature().name);
}

Stream Decoder::start(std::vector<int32_t> ids, std::vector<int32_t> source, int64_t capacity) const {
  Stream stream;
  stream.session = std::make_unique<Sessions>(model, 1, capacity);
  stream.ids = std::move(ids);
  stream.source = std::move(source);
  if (encoder)
    encode(stream);
  return stream;
}

void Decoder::encode(Stream &stream) const {
  Batch batch(model, *encoder, 1);
  batch.extents[0] = Extent::whole(1, int64_t(stream.source.size()));
  Tensor ids;
  ids.integer = true;
  ids.integers.assign(stream.source.begin(), stream.source.end());
  batch.setPacked(0, ids);
  batch.run(stream.session->handles);
  for (const Memory &memory : memories)
    stream.memory.push_back(std::move(batch.outputs[size_t(memory.result)]));
}

/// Adds what a stream gives to this call.
void Feeding::add(const Stream &stream, size_t more) {
  const attn_function &called = decoder.signature();
  bool first = stream.fed == 0; // what is given once goes with the first tokens
  auto from = stream.ids.begin() + int64_t(stream.fed);
  std::vector<int32_t> &ids = integers[size_t(decoder.idsParam)];
  ids.insert(ids.end(), from, from + int64_t(more));
  if (first && decoder.sourceParam >= 0) {
    std::vector<int32_t> &source = integers[size_t(decoder.sourceParam)];
    source.insert(source.end(), stream.source.begin(), stream.source.end());
  }
  for (size_t m = 0; first && m < decoder.memories.size(); ++m) {
    std::vector<float> &memory = floats[size_t(decoder.memories[m].param)];
    memory.insert(memory.end(), stream.memory[m].begin(), stream.memory[m].end());
  }
  for (int32_t s = 0; s < called.sequences; ++s) {
    bool once = called.sequence_kinds[s] == ATTN_KEPT && first;
    int64_t rows = s == decoder.along ? int64_t(more) : once ? int64_t(stream.source.size()) : 0;
    offsets[size_t(s)].push_back(offsets[size_t(s)].back() + rows);
  }
}

std::vector<const void *> Feeding::inputs() const {
  static const char nothing[64] = {}; // an empty vector's data may be null, which means "the default"
  const attn_function &called = decoder.signature();
  std::vector<const void *> pointers;
  for (int32_t p = 0; p < called.params; ++p) {
    const auto &ids = integers[size_t(p)];
    const auto &numbers = floats[size_t(p)];
    const void *data = called.param[p].type == ATTN_INT32 ? static_cast<const void *>(ids.data()) : numbers.data();
    pointers.push_back(called.param[p].has_default ? nullptr : ids.empty() && numbers.empty() ? nothing : data);
  }
  return pointers;
}

std::vector<void *> Feeding::outputs(int64_t n, const int64_t *const *lists) {
  const Library &library = decoder.model.library;
  std::vector<void *> pointers;
  results.resize(size_t(decoder.signature().results));
  for (size_t r = 0; r < results.size(); ++r) {
    int64_t numbers = library.output_size(decoder.model.handle, decoder.function, int32_t(r), n, lists);
    if (numbers < 0)
      fail("{}", library.last_error());
    if (numbers > results[r].room)
      results[r] = {std::make_unique_for_overwrite<float[]>(size_t(numbers)), numbers};
    pointers.push_back(results[r].numbers.get());
  }
  return pointers;
}

double Feeding::feed(std::span<Stream *const> streams, size_t most) {
  const attn_function &called = decoder.signature();
  const Library &library = decoder.model.library;
  int64_t n = int64_t(streams.size());
  offsets.assign(size_t(called.sequences), {0});
  floats.assign(size_t(called.params), {});
  integers.assign(size_t(called.params), {});
  auto news = [&](const Stream &stream) { return std::min(most, stream.ids.size() - stream.fed); };
  std::vector<attn_session *> sessions;
  for (const Stream *stream : streams) {
    add(*stream, news(*stream));
    sessions.push_back(stream->session->handles[0]);
  }
  std::vector<const int64_t *> lists;
  for (const auto &list : offsets)
    lists.push_back(list.data());
  std::vector<const void *> given = inputs();
  std::vector<void *> wanted = outputs(n, lists.data());
  auto began = std::chrono::steady_clock::now();
  if (library.run(sessions.data(), n, decoder.function, given.data(), lists.data(), wanted.data()))
    fail("{}", library.last_error());
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  for (Stream *stream : streams)
    stream->fed += news(*stream);
  return seconds;
}

std::span<const float> Feeding::logits(size_t stream) const {
  return {results[0].numbers.get() + (offsets[size_t(decoder.along)][stream + 1] - 1) * decoder.width,
          size_t(decoder.width)};
}

int32_t largest(std::span<const float> logits) {
  return int32_t(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

} // namespace attn::run
