// The third step of a tokenizer: a word becomes tokens.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_TOKENIZER_TOKEN_MODEL_H
#define ATTN_RUNTIME_TOKENIZER_TOKEN_MODEL_H
#include "runtime/tokenizer/Letters.h"
#include "runtime/tokenizer/Vocabulary.h"

namespace attn {

struct Token {
  int32_t id;
  int32_t type = 0;            // the segment
  uint32_t begin = 0, end = 0; // bytes of its text
  bool added = false;          // found in the text as a whole
};

class TokenModel : public Heap {
public:
  virtual ~TokenModel() = default;
  virtual void encode(Piece word, Array<Token> &out) const;
};

// The model that tokenizer.json describes, and its vocabulary; null and an error if this library does not know it.
TokenModel *readTokenModel(const JsonDocument &file, Json description, Vocabulary &vocabulary);
// One kind each, when the vocabulary has been read.
TokenModel *readWordPiece(const JsonDocument &file, Json description, const Vocabulary &vocabulary);
TokenModel *readBytePairs(const JsonDocument &file, Json description, const Vocabulary &vocabulary);

} // namespace attn
#endif
