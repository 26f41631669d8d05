// Text.cpp - a model's tokenizer: texts to ids, and ids to text while they still come.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/run/Text.h"

#include "tools/run/Failure.h"
#include <algorithm>

namespace attn::run {
namespace {

constexpr std::string_view broken = "\xef\xbf\xbd"; // U+FFFD: what detokenize makes of bytes that are no character

const attn_tokenizer *tokenizerOf(const Model &model) {
  const attn_tokenizer *tokenizer = model.library.model_tokenizer(model.handle);
  if (!tokenizer)
    fail("{}", model.library.last_error());
  return tokenizer;
}

std::string textOf(const Model &model, const std::vector<int32_t> &ids) {
  const attn_tokenizer *tokenizer = tokenizerOf(model);
  std::string text;
  auto decode = [&] {
    int64_t bytes =
        model.library.detokenize(tokenizer, ids.data(), int64_t(ids.size()), 0, text.data(), int64_t(text.size()));
    if (bytes < 0)
      fail("{}", model.library.last_error());
    return size_t(bytes);
  };
  text.resize(decode());
  decode();
  return text;
}

} // namespace

std::vector<int32_t> idsOf(const Model &model, const std::string &text) {
  const attn_tokenizer *tokenizer = tokenizerOf(model);
  std::vector<int32_t> ids(text.size() + 16);
  for (;;) {
    int64_t count = model.library.tokenize(tokenizer, text.data(), int64_t(text.size()), ATTN_SPECIAL, ids.data(),
                                           int64_t(ids.size()));
    if (count < 0)
      fail("{}", model.library.last_error());
    bool all = size_t(count) <= ids.size();
    ids.resize(size_t(count));
    if (all)
      return ids;
  }
}

GrowingText::GrowingText(const Model &owner, std::span<const int32_t> prompt) : model(owner) {
  constexpr size_t enough = 16; // of the prompt, for a decoder to know that it is not at the beginning
  auto last = prompt.last(std::min(prompt.size(), enough));
  ids.assign(last.begin(), last.end());
  prefix = textOf(model, ids);
}

std::string GrowingText::whole() const {
  std::string text = textOf(model, ids);
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

std::string GrowingText::beyond(const std::string &text) {
  if (!text.starts_with(told)) // a decoder that changes what it has said is waited for
    return "";
  std::string more = text.substr(told.size());
  told = text;
  return more;
}

std::string GrowingText::add(int32_t id) {
  ids.push_back(id);
  std::string text = whole();
  while (text.ends_with(broken))
    text.resize(text.size() - broken.size());
  return beyond(text);
}

std::string GrowingText::end() {
  std::string text = whole();
  return text.starts_with(told) ? beyond(text) : "\n" + text;
}

} // namespace attn::run
