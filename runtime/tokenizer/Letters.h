// Text as code points, each knowing the bytes of the caller's text that it came from.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_TOKENIZER_LETTERS_H
#define ATTN_RUNTIME_TOKENIZER_LETTERS_H
#include "runtime/Memory.h"

namespace attn {

struct Letter {
  int32_t code;
  uint32_t begin, end; // bytes of the original text
};
using Letters = Array<Letter>;

// Some of a text's letters.
struct Piece {
  const Letter *begin, *end;

  size_t size() const { return static_cast<size_t>(end - begin); }
};
inline Piece pieceOf(const Letters &letters) {
  return {letters.begin(), letters.end()};
}

// A text cut into words; what is in none of the cuts is lost.
struct Cut {
  size_t begin, end; // letters
};
struct Words {
  Letters letters;
  Array<Cut> cuts;
};

// Fails at the first byte that is not UTF-8.
bool decodeUtf8(View text, Letters &out);
void appendUtf8(int32_t code, Text &out);
// What is not UTF-8 becomes U+FFFD, one for the longest beginning of a character that is there (Unicode 3.9, table
// 3-8).
void appendRepaired(View bytes, Text &out);

} // namespace attn
#endif
