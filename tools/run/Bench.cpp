// Bench.cpp - attn-run bench: how fast a model reads a prompt and writes tokens, and what memory that takes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The prompt is random ids, from a fixed seed, in one call; then tokens come one a call, the most likely one each time.
// Only the library's calls are timed, and the encoding of a source, which is the prompt then. One round goes before
// that is not counted.
#include "tools/run/Commands.h"
#include "tools/run/Decoder.h"
#include "tools/run/Failure.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <utility>

namespace attn::run {
namespace {

/// What /proc/self/status says under a key, in bytes.
double memoryOf(const std::string &key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":"))
      return 1024 * std::stod(line.substr(key.size() + 1));
  return 0;
}

/// Seconds of the rounds.
struct Times {
  std::vector<double> seconds;

  void row(const char *name, int64_t tokens) const {
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    size_t n = sorted.size();
    double median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    auto rate = [&](double time) { return double(tokens) / time; };
    fmt::print("{:<8}  {:>7}  {:>10.1f}  {:>10.1f}  {:>10.1f}\n", name, tokens, rate(sorted.back()), rate(median),
               rate(sorted.front()));
  }
};

std::vector<int32_t> randomIds(const Decoder &decoder, int64_t count) {
  int64_t limit = decoder.idLimit() ? decoder.idLimit() : decoder.tokens();
  std::mt19937_64 random(1);
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i)
    ids.push_back(int32_t(random() % uint64_t(limit)));
  return ids;
}

void checkCounts(const Decoder &decoder, const BenchOptions &options) {
  if (options.prompt < 1 || options.generate < 1 || options.repetitions < 1)
    fail("--prompt, --generate and --repetitions should be at least 1");
  int64_t positions = decoder.positions();
  int64_t tokens = options.prompt + options.generate;
  if (!decoder.hasSource() && positions && tokens > positions)
    fail("--prompt={} and --generate={} are {} tokens, the model has positions for {}", options.prompt,
         options.generate, tokens, positions);
  if (decoder.hasSource() && positions && 1 + options.generate > positions)
    fail("--generate={}: the model has positions for {}", options.generate, positions);
}

} // namespace

int bench(const Source &source, const BenchOptions &options) {
  Model model(source);
  Decoder decoder(model, options.function);
  checkCounts(decoder, options);
  std::vector<int32_t> prompt = randomIds(decoder, options.prompt);
  std::vector<int32_t> words;
  if (decoder.hasSource())
    words = std::exchange(prompt, std::vector<int32_t>{0});
  int64_t tokens = int64_t(prompt.size());
  Feeding feeding(decoder);
  Times prefill;
  Times decode;
  double perSession = 0;
  std::optional<Stream> last; // kept, so that the next one's memory is its own
  for (int64_t round = 0; round <= options.repetitions; ++round) {
    double before = memoryOf("VmRSS");
    auto began = std::chrono::steady_clock::now();
    Stream stream = decoder.start(prompt, words, tokens + options.generate);
    double encoding = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    Stream *one[] = {&stream};
    double reading = feeding.feed(one, prompt.size()) + (decoder.hasSource() ? encoding : 0);
    double writing = 0;
    for (int64_t i = 0; i < options.generate; ++i) {
      stream.ids.push_back(largest(feeding.logits(0)));
      writing += feeding.feed(one, 1);
    }
    if (round > 0) {
      prefill.seconds.push_back(reading);
      decode.seconds.push_back(writing);
    }
    if (round == 1)
      perSession = memoryOf("VmRSS") - before;
    if (round == 0)
      last = std::move(stream);
  }
  constexpr double megabyte = 1e6;
  fmt::print("{:<8}  {:>7}  {:>10}  {:>10}  {:>10}\n", "", "tokens", "min tok/s", "median", "max");
  prefill.row("prefill", options.prompt);
  decode.row("decode", options.generate);
  fmt::print("memory    peak {:.1f} MB, a session of {} tokens {:.1f} MB; {} rounds\n", memoryOf("VmHWM") / megabyte,
             options.prompt + options.generate, std::max(perSession, 0.0) / megabyte, options.repetitions);
  printCounts(source, model);
  return 0;
}

} // namespace attn::run
