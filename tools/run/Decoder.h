// Decoder.h - a model that is fed token by token: what its functions take and give, and streams of tokens fed to it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Knows no family: a decoder is a function that takes ids along a cached sequence and gives a row of logits for each of
// them. What else it takes is given once: the source's ids, or what another function, `encode`, makes of them.
#ifndef ATTN_TOOLS_RUN_DECODER_H
#define ATTN_TOOLS_RUN_DECODER_H

#include "tools/run/Library.h"
#include <memory>
#include <optional>
#include <span>

namespace attn::run {

/// One sequence on its way: its session, and the tokens that go into it.
struct Stream {
  std::unique_ptr<Sessions> session;
  std::vector<int32_t> ids; // the prompt, then what came
  size_t fed = 0;           // how many of them the session holds
  std::vector<int32_t> source;
  std::vector<std::vector<float>> memory; // what `encode` made of the source, one a parameter that takes it
};

class Decoder {
public:
  /// The function of that name; "": the one called `logits` or `decode`. Fails, saying why, if it is none.
  Decoder(const Model &model, const std::string &function);

  bool hasSource() const { return encoder || sourceParam >= 0; }
  /// Numbers in a row of logits.
  int64_t tokens() const { return width; }
  /// One more than the largest id that it takes; 0: any.
  int64_t idLimit() const { return signature().param[idsParam].limit; }
  /// The most tokens that a session may hold; 0: any number.
  int64_t positions() const { return signature().sequence_limits[along]; }
  const attn_function &signature() const { return model.function(function); }

  /// A stream that begins with these tokens; the source is encoded at once.
  Stream start(std::vector<int32_t> ids, std::vector<int32_t> source, int64_t capacity) const;

  const Model &model;

private:
  friend class Feeding;
  struct Memory {
    int32_t param;  // of the decoder
    int32_t result; // of the encoder
  };

  void findIds();
  void findOthers();
  void findEncoder(const std::vector<int32_t> &params);
  int32_t resultFor(const attn_function &giver, const attn_value &param, const std::vector<Memory> &taken) const;
  void encode(Stream &stream) const;

  int32_t function;
  int32_t idsParam = -1;
  int32_t along = -1; // the sequence dimension of the ids
  int64_t width = 0;
  int32_t sourceParam = -1; // takes the source's ids, once
  std::optional<int32_t> encoder;
  std::vector<Memory> memories;
};

/// Feeds streams side by side: one call, whatever is new of each. Keeps its memory from call to call.
class Feeding {
public:
  explicit Feeding(const Decoder &called) : decoder(called) {}

  /// Gives each stream's session the next of its ids, `most` at most. The library's time alone, in seconds.
  double feed(std::span<Stream *const> streams, size_t most);
  /// The logits behind the last id that a stream was fed.
  std::span<const float> logits(size_t stream) const;

private:
  void add(const Stream &stream, size_t more);
  std::vector<const void *> inputs() const;
  std::vector<void *> outputs(int64_t n, const int64_t *const *lists);

  struct Buffer {
    std::unique_ptr<float[]> numbers;
    int64_t room = 0;
  };
  const Decoder &decoder;
  std::vector<std::vector<int64_t>> offsets; // one list a sequence dimension
  std::vector<std::vector<float>> floats;    // one a parameter
  std::vector<std::vector<int32_t>> integers;
  std::vector<Buffer> results;
};

/// The number of the largest; of several, the first.
int32_t largest(std::span<const float> logits);

} // namespace attn::run

#endif
