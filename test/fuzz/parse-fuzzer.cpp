// parse-fuzzer.cpp: any bytes as an .attn file and as a config.json.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   build/bin/parse-fuzzer std examples        runs until it is stopped; a crash leaves its input behind
//
// Beyond not crashing it holds that every node lies inside the text and inside its limits, that a text without errors
// gives a tree that can be printed, that printing and parsing are functions of the text alone, and that tokens are
// balanced.
#include "frontend/Config.h"
#include "frontend/Lexer.h"
#include "frontend/Parser.h"
#include <cstdlib>

using namespace attn;
using llvm::StringRef;

namespace {

void hold(bool condition, const char *what) {
  if (condition)
    return;
  llvm::errs() << "does not hold: " << what << '\n';
  std::abort();
}

bool isInside(llvm::SMRange range, StringRef text) {
  const char *begin = range.Start.getPointer(), *end = range.End.getPointer();
  return text.begin() <= begin && begin <= end && end <= text.end();
}

void checkTokens(StringRef text) {
  Tokens tokens = lex(text);
  hold(!tokens.list.empty() && tokens.list.back().kind == Token::Kind::end, "the last token is the end");
  std::string open;
  const char *last = text.begin();
  for (const Token &token : tokens.list) {
    hold(isInside(token.range, text), "a token lies in the text");
    hold(token.range.Start.getPointer() >= last, "tokens come in order");
    last = token.range.Start.getPointer();
    if (token.is("(") || token.is("[") || token.is("{"))
      open += token.text == "(" ? ')' : token.text == "[" ? ']' : '}';
    if (token.is(")") || token.is("]") || token.is("}")) {
      hold(!open.empty() && open.back() == token.text[0], "brackets match");
      open.pop_back();
    }
  }
  hold(open.empty(), "brackets are closed");
}

/// The printed tree, or the messages.
std::string parse(StringRef input) {
  std::string messages, tree;
  llvm::raw_string_ostream stream(messages), treeStream(tree);
  Diagnostics diags(stream);
  StringRef text = diags.addFile("fuzz.attn", input);
  std::unique_ptr<File> file = parseFile("fuzz.attn", text, diags);
  for (const Item *item : file->items)
    hold(isInside(item->range, text), "an item lies in the text");
  printAst(*file, treeStream);
  hold(diags.hasErrors() == !messages.empty(), "an error has a message");
  hold(diags.hasErrors() || !file->items.empty(), "no tree, but no error");
  return diags.hasErrors() ? messages : tree;
}

void readConfig(StringRef input) {
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  Diagnostics diags(stream);
  std::unique_ptr<Config> config = Config::parse("config.json", input, diags);
  hold(bool(config) == !diags.hasErrors(), "a configuration or an error");
  if (!config)
    return;
  for (const std::string &path : config->unreadKeys())
    config->lookup({path});
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef input(reinterpret_cast<const char *>(data), size);
  checkTokens(input);
  hold(parse(input) == parse(input), "parsing depends on the text alone");
  readConfig(input);
  return 0;
}
