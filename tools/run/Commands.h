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

struct VerifyOptions {
  double tolerance = 2e-5;
};
int verify(const Source &source, const VerifyOptions &options);

/// The whole of a file, or of stdin for "-".
std::string readText(const std::string &path);

} // namespace attn::run

#endif
