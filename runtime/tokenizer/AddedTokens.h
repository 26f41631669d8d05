// Tokens that are found in the text before anything else happens to it: [MASK], <|endoftext|>.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Those that are not `normalized` are looked for in the text as it came, the others in the normalized text. At each
// place the longest one wins. A `single_word` one must not touch a word character; `lstrip` and `rstrip` ones swallow
// white space.
#ifndef ATTN_RUNTIME_TOKENIZER_ADDED_TOKENS_H
#define ATTN_RUNTIME_TOKENIZER_ADDED_TOKENS_H
#include "runtime/tokenizer/Normalizer.h"
#include "runtime/tokenizer/Vocabulary.h"

namespace attn {

class AddedTokens {
public:
  // A stretch of the text: a token, or (id -1) what lies between.
  struct Stretch {
    int32_t id;
    Piece piece;
  };

  bool read(const JsonDocument &file, Json list, const Normalizer &normalizer, Vocabulary &vocabulary);
  void find(Piece text, bool normalized, Array<Stretch> &out) const;
  bool isSpecial(int32_t id) const {
    return static_cast<size_t>(id) < special.size() && special[static_cast<size_t>(id)];
  }

private:
  struct AddedToken {
    int32_t id = -1;
    bool singleWord = false, stripLeft = false, stripRight = false;
    Array<int32_t> codes; // what is looked for
  };
  bool readToken(const JsonDocument &file, Json entry, const Normalizer &normalizer, Vocabulary &vocabulary);
  const AddedToken *longestAt(const Letter *at, const Letter *end, bool normalized) const;

  Array<AddedToken> sets[2]; // as it came; normalized. Sorted by the first code, longer ones first
  Array<bool> special;       // by id
};

} // namespace attn
#endif
