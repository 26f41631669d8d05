// The C interface to tokenizers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Error.h"
#include "runtime/tokenizer/Tokenizer.h"

using namespace attn;

namespace {

bool checkText(const char *text, int64_t bytes) {
  if (bytes < 0 || bytes > INT32_MAX)
    return fail("a text cannot have %lld bytes", static_cast<long long>(bytes));
  return text || bytes == 0 || fail("the text is null");
}

bool checkFlags(uint32_t flags) {
  return (flags & ~static_cast<uint32_t>(ATTN_SPECIAL)) == 0 ||
         fail("the flags %u of a tokenizer are not known", flags);
}

} // namespace

attn_tokenizer *attn_tokenizer_create(const char *file) {
  Owned<attn_tokenizer> tokenizer(new attn_tokenizer);
  return tokenizer->open(file) ? tokenizer.release() : nullptr;
}

void attn_tokenizer_free(attn_tokenizer *tokenizer) {
  delete tokenizer;
}

int64_t attn_tokenize(const attn_tokenizer *tokenizer, const char *text, int64_t bytes, uint32_t flags, int32_t *ids,
                      int64_t capacity) {
  return attn_tokenize_pair(tokenizer, text, bytes, nullptr, 0, flags, ids, nullptr, nullptr, capacity);
}

int64_t attn_tokenize_pair(const attn_tokenizer *tokenizer, const char *text, int64_t bytes, const char *second,
                           int64_t second_bytes, uint32_t flags, int32_t *ids, int32_t *types, int64_t *spans,
                           int64_t capacity) {
  if (!checkText(text, bytes) || !checkText(second, second_bytes) || !checkFlags(flags))
    return -1;
  View secondText(second ? second : "", static_cast<size_t>(second_bytes));
  Array<Token> tokens;
  if (!tokenizer->encode(View(text, static_cast<size_t>(bytes)), second ? &secondText : nullptr, flags & ATTN_SPECIAL,
                         tokens))
    return -1;
  for (size_t i = 0; i < tokens.size() && static_cast<int64_t>(i) < capacity; ++i) {
    if (ids)
      ids[i] = tokens[i].id;
    if (types)
      types[i] = tokens[i].type;
    if (spans) {
      spans[2 * i] = tokens[i].begin;
      spans[2 * i + 1] = tokens[i].end;
    }
  }
  return static_cast<int64_t>(tokens.size());
}

int64_t attn_detokenize(const attn_tokenizer *tokenizer, const int32_t *ids, int64_t n, uint32_t flags, char *text,
                        int64_t capacity) {
  Text out;
  if (!checkFlags(flags) || !tokenizer->decode(ids, n, flags & ATTN_SPECIAL, out))
    return -1;
  int64_t bytes = static_cast<int64_t>(out.size()), copied = bytes < capacity ? bytes : capacity;
  if (text && copied > 0)
    memcpy(text, out.c_str(), static_cast<size_t>(copied));
  return bytes;
}

int32_t attn_token_count(const attn_tokenizer *tokenizer) {
  return tokenizer->vocabulary.size();
}

const char *attn_token_text(const attn_tokenizer *tokenizer, int32_t id) {
  return tokenizer->vocabulary.has(id) ? tokenizer->vocabulary.text(id).data() : nullptr;
}

int32_t attn_token_id(const attn_tokenizer *tokenizer, const char *text) {
  return tokenizer->vocabulary.find(text);
}
