// Embed.cpp - attn-run embed: texts to vectors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/run/Batch.h"
#include "tools/run/Commands.h"
#include "tools/run/Failure.h"
#include "tools/run/Text.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace attn::run {
namespace {

/// Texts of one call: enough to keep the cores busy, few enough to keep the scratch memory small.
constexpr size_t textsAtOnce = 32;

/// Whether a function takes the ids of one sequence (and nothing else that it insists on) and gives one vector.
bool givesVector(const attn_function &function) {
  if (function.missing || function.results != 1 || function.result[0].rank != 1 || function.result[0].dims[0].size < 0)
    return false;
  int32_t needed = 0;
  for (int32_t p = 0; p < function.params; ++p)
    needed += !function.param[p].has_default;
  return function.sequences == 1 && needed == 1 && !function.param[0].has_default &&
         function.param[0].type == ATTN_INT32;
}

int32_t functionFor(const Model &model, const std::string &name) {
  if (!name.empty()) {
    int32_t index = model.find(name);
    if (!givesVector(model.function(index)))
      fail("`{}` does not give one vector for the ids of a text", name);
    return index;
  }
  std::vector<int32_t> fitting;
  for (int32_t i = 0; const attn_function *function = model.library.model_function(model.handle, i); ++i) {
    if (!givesVector(*function))
      continue;
    if (std::string(function->name) == "embed")
      return i;
    fitting.push_back(i);
  }
  if (fitting.size() != 1)
    fail("{} exported functions give one vector for the ids of a text: name one with --function", fitting.size());
  return fitting[0];
}

std::vector<std::string> textsOf(const EmbedOptions &options) {
  std::vector<std::string> texts = options.texts;
  if (!options.file.empty()) {
    std::istringstream lines(readText(options.file));
    for (std::string line; std::getline(lines, line);)
      texts.push_back(line);
  }
  if (texts.empty())
    fail("no text to embed: give --text=TEXT or a file with a text a line");
  return texts;
}

/// Vectors of some texts, end to end.
std::vector<float> embedSome(const Model &model, int32_t function, std::span<const std::string> texts) {
  Batch batch(model, function, int64_t(texts.size()));
  Tensor packed;
  packed.integer = true;
  Extent extent;
  int64_t longest = 1;
  for (const std::string &text : texts) {
    std::vector<int32_t> ids = idsOf(model, text);
    packed.integers.insert(packed.integers.end(), ids.begin(), ids.end());
    extent.places.emplace_back(ids.size());
    longest = std::max(longest, int64_t(ids.size()));
  }
  batch.extents[0] = extent;
  batch.setPacked(0, packed);
  Sessions sessions(model, batch.sequences(), longest);
  batch.run(sessions.handles);
  return batch.outputs[0];
}

void printVector(std::span<const float> values, bool json) {
  for (size_t i = 0; i < values.size(); ++i)
    fmt::print("{}{:.9g}", i ? (json ? ", " : " ") : "", values[i]);
}

void printSimilarities(const std::vector<float> &vectors, const std::vector<std::string> &texts, size_t width) {
  auto dot = [&](size_t a, size_t b) {
    double sum = 0;
    for (size_t i = 0; i < width; ++i)
      sum += double(vectors[a * width + i]) * vectors[b * width + i];
    return sum;
  };
  for (size_t a = 0; a < texts.size(); ++a)
    for (size_t b = a + 1; b < texts.size(); ++b)
      fmt::print("{:.6f}  {} {}\n", dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)), a + 1, b + 1);
}

} // namespace

int embed(const Source &source, const EmbedOptions &options) {
  std::vector<std::string> texts = textsOf(options);
  Model model(source);
  int32_t function = functionFor(model, options.function);
  size_t width = size_t(model.function(function).result[0].dims[0].size);
  std::vector<float> vectors;
  for (size_t at = 0; at < texts.size(); at += textsAtOnce) {
    auto some = std::span(texts).subspan(at, std::min(textsAtOnce, texts.size() - at));
    std::vector<float> part = embedSome(model, function, some);
    vectors.insert(vectors.end(), part.begin(), part.end());
  }
  if (options.similarities) {
    printSimilarities(vectors, texts, width);
    return 0;
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    if (options.json)
      fmt::print("{}", i ? ",\n [" : "[[");
    printVector(std::span(vectors).subspan(i * width, width), options.json);
    fmt::print("{}", options.json ? "]" : "\n");
  }
  if (options.json)
    fmt::print("]\n");
  return 0;
}

} // namespace attn::run
