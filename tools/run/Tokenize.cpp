// Tokenize.cpp - attn-run tokenize: text to ids and back. It needs no model, so the runtime's tokenizer is linked in.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/attn.h"
#include "tools/run/Commands.h"
#include "tools/run/Failure.h"
#include "tools/run/Json.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

namespace attn::run {
namespace {

struct TokenizerRelease {
  void operator()(attn_tokenizer *tokenizer) const { attn_tokenizer_free(tokenizer); }
};
using Tokenizer = std::unique_ptr<attn_tokenizer, TokenizerRelease>;

struct Tokens {
  std::vector<int32_t> ids, types;
  std::vector<int64_t> spans; // two a token
};

Tokens tokensOf(const attn_tokenizer *tokenizer, const TokenizeOptions &options) {
  std::string first = readText(options.input);
  std::string second = options.second.empty() ? "" : readText(options.second);
  const char *other = options.second.empty() ? nullptr : second.data();
  uint32_t flags = options.special ? ATTN_SPECIAL : 0;
  Tokens tokens;
  auto read = [&](int64_t capacity) {
    tokens.ids.resize(size_t(capacity));
    tokens.types.resize(size_t(capacity));
    tokens.spans.resize(size_t(2 * capacity));
    int64_t count = attn_tokenize_pair(tokenizer, first.data(), int64_t(first.size()), other, int64_t(second.size()),
                                       flags, tokens.ids.data(), tokens.types.data(), tokens.spans.data(), capacity);
    if (count < 0)
      fail("{}", attn_last_error());
    return count;
  };
  int64_t count = read(int64_t(first.size() + second.size()) + 16);
  if (count > int64_t(tokens.ids.size()))
    count = read(count);
  tokens.ids.resize(size_t(count));
  return tokens;
}

void printJson(const attn_tokenizer *tokenizer, const Tokens &tokens) {
  Json list(json_array());
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    const char *text = attn_token_text(tokenizer, tokens.ids[i]);
    json_t *token =
        json_pack("{s:i, s:s, s:i, s:[I, I]}", "id", tokens.ids[i], "token", text ? text : "", "type", tokens.types[i],
                  "bytes", json_int_t(tokens.spans[2 * i]), json_int_t(tokens.spans[2 * i + 1]));
    json_array_append_new(list.get(), token);
  }
  char *text = json_dumps(list.get(), 0);
  std::puts(text);
  std::free(text);
}

int decode(const attn_tokenizer *tokenizer, const TokenizeOptions &options) {
  std::istringstream words(readText(options.input));
  std::vector<int32_t> ids;
  for (std::string word; words >> word;) {
    size_t end = 0;
    int64_t id = -1;
    try {
      id = std::stoll(word, &end);
    } catch (const std::exception &) {
    }
    if (end != word.size() || id < 0 || id > INT32_MAX)
      fail("`{}` is not an id", word);
    ids.push_back(int32_t(id));
  }
  uint32_t flags = options.special ? 0 : ATTN_SPECIAL;
  std::string text;
  int64_t bytes = attn_detokenize(tokenizer, ids.data(), int64_t(ids.size()), flags, nullptr, 0);
  if (bytes >= 0) {
    text.resize(size_t(bytes));
    bytes = attn_detokenize(tokenizer, ids.data(), int64_t(ids.size()), flags, text.data(), bytes);
  }
  if (bytes < 0)
    fail("{}", attn_last_error());
  fmt::print("{}\n", text);
  return 0;
}

} // namespace

void flushResults() {
  if (std::fflush(stdout) || std::ferror(stdout))
    fail("cannot write to stdout: {}", std::strerror(errno));
}

std::string readText(const std::string &path) {
  if (path == "-")
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file)
    fail("cannot read `{}`", path);
  return text;
}

int tokenize(const TokenizeOptions &options) {
  Tokenizer tokenizer(attn_tokenizer_create(options.tokenizer.c_str()));
  if (!tokenizer)
    fail("{}", attn_last_error());
  if (options.decode)
    return decode(tokenizer.get(), options);
  Tokens tokens = tokensOf(tokenizer.get(), options);
  if (options.json)
    printJson(tokenizer.get(), tokens);
  else
    fmt::print("{}\n", fmt::join(tokens.ids, " "));
  return 0;
}

} // namespace attn::run
