// What tokenizers ask of a character.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vocabulary of a model was made with a certain Unicode, and ids must come out as there. The reference (the
// `tokenizers` library, 0.23) takes general categories from Unicode 8, lower case from Unicode 17 and decompositions
// from Unicode 12 or so; utf8proc 2.8 knows Unicode 15. The differences are tables in Characters.cpp;
// test/data/tokenizers/characters.txt holds what the reference says of every code point.
#ifndef ATTN_RUNTIME_TOKENIZER_CHARACTERS_H
#define ATTN_RUNTIME_TOKENIZER_CHARACTERS_H
#include <cstdint>

namespace attn {

bool isWhitespace(int32_t code);     // property White_Space
bool isOther(int32_t code);          // categories Cc, Cf, Co
bool isPunctuation(int32_t code);    // categories P*, and all ASCII symbols
bool isNonspacingMark(int32_t code); // category Mn
bool isWordCharacter(int32_t code);  // what \w matches: letters, marks, decimal digits, connectors, joiners
bool isChinese(int32_t code);        // the CJK ideographs that BERT parts from their neighbours
int combiningClass(int32_t code);    // for canonical order

// Both write at most `mostLetters` code points to `out` and return how many.
constexpr int mostLetters = 8;
int lowerCase(int32_t code, int32_t *out); // full mapping, without context
int decompose(int32_t code, int32_t *out); // canonical, all the way

// The composite of the two, or 0.
int32_t compose(int32_t first, int32_t second);

} // namespace attn
#endif
