// attn-run.cpp - runs models: embed, generate, call, tokenize, verify, bench.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No LLVM in here: a FILE.attn is given to the attnc that lies beside this program, and the library that comes out is
// opened through the same C interface that users get. Results alone go to stdout. Exit 0 done, 1 diagnosed, 2 usage.
#include "tools/run/Commands.h"
#include "tools/run/Failure.h"
#include <CLI/CLI.hpp>
#include <cstdio>

using namespace attn::run;

namespace {

void addSource(CLI::App *command, Source &source) {
  command->add_option("FILE", source.file, "a model's text (.attn) or a compiled library (.so)")->required();
  command->add_option("--model", source.model, "folder with config.json, model.safetensors, tokenizer.json");
  command->add_option("--config", source.config, "configuration, file or folder (default: the model's)");
  command->add_option("--mcpu", source.mcpu, "processor to compile for")->capture_default_str();
  command->add_option("--precision", source.precision, "what attention and products multiply in")
      ->check(CLI::IsMember({"f32", "bf16"}));
  command->add_option("--threads", source.threads, "threads of a call (default: one a core)")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--strict", source.strict, "unused tensors and unread configuration are errors");
}

void addCount(CLI::App *command, Source &source) {
  command->add_flag("--count", source.count, "show how many tiles of its mask each attention visited, and bytes read");
}

/// An error of more than the largest value, or one that is no number, would let everything pass.
std::string checkTolerance(std::string &text) {
  double tolerance = 0;
  bool inside = CLI::detail::lexical_cast(text, tolerance) && tolerance >= 0 && tolerance <= 1;
  return inside ? "" : "should be in 0 .. 1, not " + text;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("runs attn models");
  app.require_subcommand(1);
  Source source;

  EmbedOptions embedding;
  CLI::App *embedCommand = app.add_subcommand("embed", "vectors of texts, one a line");
  addSource(embedCommand, source);
  embedCommand->add_option("--text", embedding.texts, "a text; may be given several times")->allow_extra_args(false);
  embedCommand->add_option("--file", embedding.file, "a file with a text a line; - is stdin");
  embedCommand->add_option("--function", embedding.function,
                           "the exported function (default: `embed`, or the only fitting one)");
  embedCommand->add_flag("--json", embedding.json, "an array of arrays");
  embedCommand->add_flag("--similarities", embedding.similarities, "the cosine of every two texts, and their numbers");

  CallOptions calling;
  CLI::App *callCommand = app.add_subcommand("call", "one exported function on given tensors");
  addSource(callCommand, source);
  addCount(callCommand, source);
  callCommand->add_option("FUNCTION", calling.function, "the exported function")->required();
  callCommand->add_option("--inputs", calling.inputsFile, "a .safetensors file, tensors named for the parameters");
  callCommand->add_option("--input", calling.inputs, "name=[[1, 2], [3, 4]]")->allow_extra_args(false);
  callCommand->add_option("--output", calling.output, "the .safetensors file to write (default: JSON on stdout)");
  callCommand->add_option("--weights-out", calling.weights, "the .svg to draw the result `weights` in, as a heat map");
  callCommand->add_flag("--batch", calling.batch, "the first axis of every tensor is the batch");

  TokenizeOptions tokenizing;
  bool ids = false;
  CLI::App *tokenizeCommand = app.add_subcommand("tokenize", "the ids of a text, on one line");
  tokenizeCommand->add_option("--tokenizer", tokenizing.tokenizer, "tokenizer.json")->required();
  tokenizeCommand->add_option("FILE", tokenizing.input, "the text, or with --decode the ids; - is stdin")
      ->capture_default_str();
  tokenizeCommand->add_option("--pair", tokenizing.second, "the second text of a pair");
  tokenizeCommand->add_flag("--ids", ids, "print ids (the default)");
  tokenizeCommand->add_flag("--decode", tokenizing.decode, "the way back: ids to text")->excludes("--ids");
  tokenizeCommand->add_flag("--json", tokenizing.json, "ids, tokens and the bytes that they came from");
  bool bare = false;
  tokenizeCommand->add_flag("--no-special", bare, "do not add special tokens");
  bool showSpecial = false;
  tokenizeCommand->add_flag("--show-special", showSpecial, "with --decode: show special tokens too");

  GenerateOptions generating;
  CLI::App *generateCommand = app.add_subcommand("generate", "continues texts, the most likely token each time");
  addSource(generateCommand, source);
  generateCommand->add_option("--text", generating.texts, "a text; may be given several times; - is stdin")
      ->allow_extra_args(false);
  generateCommand->add_option("--ids", generating.ids, "ids instead of a text, \"1 2 3\"; then ids come out")
      ->allow_extra_args(false);
  generateCommand->add_option("--function", generating.function,
                              "the exported function (default: `logits` or `decode`)");
  generateCommand->add_option("--max-tokens", generating.maxTokens, "tokens to add to each text")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  generateCommand->add_option("--capacity", generating.capacity, "tokens that a session may hold (default: all)")
      ->check(CLI::PositiveNumber);
  generateCommand->add_option("--end", generating.ends, "a token that ends a text, beside the configuration's")
      ->allow_extra_args(false)
      ->check(CLI::NonNegativeNumber);
  generateCommand->add_option("--start", generating.start, "the token that a decoder begins with")
      ->check(CLI::NonNegativeNumber);
  generateCommand->add_flag("--json", generating.json, "an array with an object a text");

  BenchOptions benching;
  CLI::App *benchCommand = app.add_subcommand("bench", "tokens a second, read and written");
  addSource(benchCommand, source);
  addCount(benchCommand, source);
  benchCommand->add_option("--function", benching.function, "the exported function (default: `logits` or `decode`)");
  benchCommand->add_option("--prompt", benching.prompt, "tokens of the prompt")->capture_default_str();
  benchCommand->add_option("--generate", benching.generate, "tokens to write")->capture_default_str();
  benchCommand->add_option("--repetitions", benching.repetitions, "rounds to time")->capture_default_str();

  VerifyOptions verifying;
  CLI::App *verifyCommand = app.add_subcommand("verify", "executes the model's verify.json and compares");
  addSource(verifyCommand, source);
  addCount(verifyCommand, source);
  verifyCommand
      ->add_option("--tolerance", verifying.tolerance, "allowed error, relative to the largest value of a tensor")
      ->check(CLI::Validator(checkTolerance, "0 .. 1"))
      ->capture_default_str();
  verifyCommand->add_flag("--forget", verifying.forget,
                          "empty the caches between the steps of greedy decoding, which must make it fail");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 2 : 0;
  }
  tokenizing.special = tokenizing.decode ? !showSpecial : !bare;
  auto run = [&] {
    if (*embedCommand)
      return embed(source, embedding);
    if (*callCommand)
      return call(source, calling);
    if (*generateCommand)
      return generate(source, generating);
    if (*benchCommand)
      return bench(source, benching);
    if (*tokenizeCommand)
      return tokenize(tokenizing);
    return verify(source, verifying);
  };
  try {
    int code = run();
    flushResults();
    return code;
  } catch (const std::exception &error) {
    if (*error.what())
      fmt::print(stderr, "attn-run: error: {}\n", error.what());
    return 1;
  }
}
