// Commands.h - what attn-run does, one function a command; each throws a Failure or returns the exit code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_RUN_COMMANDS_H
#define ATTN_TOOLS_RUN_COMMANDS_H

#include "tools/run/Library.h"
#include <string>
#include <vector>

namespace attn::run {

struct EmbedOptions {
  std::vector<std::string> texts; // then those of the file
  std::string file;               // a text a line; "-": stdin; "": none
  std::string function;           // "": the one that gives a vector for ids
  bool json = false;
  bool similarities = false;
};
int embed(const Source &source, const EmbedOptions &options);

struct CallOptions {
  std::string function;
  std::string inputsFile;          // .safetensors, tensors named for the parameters
  std::vector<std::string> inputs; // name=VALUE, VALUE nested numbers
  std::string output;              // .safetensors; "": JSON on stdout
  std::string weights;             // .svg, the weights as a picture; "": none
  bool batch = false;              // the first axis is the batch
};
int call(const Source &source, const CallOptions &options);

struct TokenizeOptions {
  std::string tokenizer;
  std::string input = "-";
  std::string second; // the second text of a pair, "" for none
  bool decode = false;
  bool json = false;
  bool special = true;
};
int tokenize(const TokenizeOptions &options);

struct GenerateOptions {
  std::vector<std::string> texts; // "-": what stdin holds
  std::vector<std::string> ids;   // numbers with spaces between them; then ids come out
  std::string function;           // "": `logits` or `decode`
  int64_t maxTokens = 100;
  int64_t capacity = 0; // rows of a session; 0: as many as are needed
  std::vector<int32_t> ends;
  int32_t start = -1; // the first token of a decoder; -1: the configuration's
  bool json = false;
};
int generate(const Source &source, const GenerateOptions &options);

struct BenchOptions {
  std::string function; // as of generate
  int64_t prompt = 512;
  int64_t generate = 64;
  int64_t repetitions = 5;
};
int bench(const Source &source, const BenchOptions &options);

struct VerifyOptions {
  double tolerance = 2e-5;
  bool forget = false; // empties the caches between the steps of greedy decoding, which must make it fail
};
int verify(const Source &source, const VerifyOptions &options);

/// Sees to it that what was printed has left; fails if it cannot, as on a full disk.
void flushResults();

/// The whole of a file, or of stdin for "-".
std::string readText(const std::string &path);

} // namespace attn::run

#endif
