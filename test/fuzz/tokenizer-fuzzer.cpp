// tokenizer-fuzzer.cpp: any bytes as a tokenizer.json, and as a text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An input that begins with `{` is a description and, behind its first zero byte, a text; any other is a text for a
// small fixed tokenizer. Beyond not crashing it holds that ids are tokens, that spans lie in the text and come in
// order, that ids can be decoded, that the same text gives the same ids again, and that a refusal says why.
#include "runtime/Error.h"
#include "runtime/tokenizer/Tokenizer.h"

using namespace attn;

namespace {

constexpr View fixedDescription = R"({"version": "1.0",
  "added_tokens": [{"id": 0, "content": "[PAD]", "normalized": false, "special": true},
                   {"id": 1, "content": "[M]", "lstrip": true, "rstrip": true, "normalized": false, "special": true},
                   {"id": 2, "content": "aé", "single_word": true, "normalized": true}],
  "normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "BertProcessing", "sep": ["[S]", 3], "cls": ["[C]", 4]},
  "decoder": {"type": "WordPiece"},
  "model": {"type": "WordPiece", "unk_token": "[U]", "max_input_chars_per_word": 9,
            "vocab": {"[S]": 3, "[C]": 4, "[U]": 5, "a": 6, "##a": 7, "##b": 8, "e": 9, "的": 10, "'": 11, ".": 12, "##.": 13}}})";

void hold(bool condition, const char *what) {
  if (condition)
    return;
  fprintf(stderr, "does not hold: %s (%s)\n", what, lastError());
  abort();
}

void checkText(const attn_tokenizer &tokenizer, View text) {
  Array<Token> tokens, again;
  if (!tokenizer.encode(text, nullptr, true, tokens)) {
    hold(*lastError(), "a refusal says why");
    return;
  }
  Array<int32_t> ids;
  uint32_t last = 0;
  for (const Token &token : tokens) {
    hold(tokenizer.vocabulary.has(token.id), "an id is a token");
    hold(token.begin <= token.end && token.end <= text.size(), "a span lies in the text");
    hold(token.begin >= last || token.end == 0, "spans come in order");
    last = token.end ? token.begin : last;
    ids.push(token.id);
  }
  Text back;
  hold(tokenizer.decode(ids.data(), static_cast<int64_t>(ids.size()), true, back), "ids can be decoded");
  hold(tokenizer.encode(text, &text, true, again), "a text that is encoded can be encoded beside itself");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static attn_tokenizer fixed;
  static const bool ready = fixed.parse(fixedDescription, "fixed");
  hold(ready, "the fixed tokenizer is right");
  View input(reinterpret_cast<const char *>(data), size);
  if (input.empty() || input[0] != '{') {
    checkText(fixed, input);
    return 0;
  }
  size_t zero = input.find('\0');
  attn_tokenizer tokenizer;
  if (!tokenizer.parse(View(input.data(), zero == View::npos ? size : zero), "fuzz"))
    hold(*lastError(), "a refusal says why");
  else if (zero != View::npos)
    checkText(tokenizer, View(input.data() + zero + 1, size - zero - 1));
  return 0;
}
