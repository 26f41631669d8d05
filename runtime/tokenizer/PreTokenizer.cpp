// Pre-tokenizers: BertPreTokenizer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/PreTokenizer.h"
#include "runtime/Error.h"
#include "runtime/tokenizer/Characters.h"
#include "runtime/tokenizer/Components.h"

namespace attn {
namespace {

// Words are what white space leaves; each punctuation character is a word.
class BertPreTokenizer : public PreTokenizer {
public:
  void split(const Letters &letters, Array<Piece> &words) const override;
};

void BertPreTokenizer::split(const Letters &letters, Array<Piece> &words) const {
  const Letter *start = letters.begin();
  auto endWord = [&](const Letter *end) {
    if (start != end)
      words.push({start, end});
    start = end;
  };
  for (const Letter *letter = letters.begin(); letter != letters.end(); ++letter) {
    if (isWhitespace(letter->code)) {
      endWord(letter);
      start = letter + 1;
    } else if (isPunctuation(letter->code)) {
      endWord(letter);
      endWord(letter + 1);
    }
  }
  endWord(letters.end());
}

} // namespace

void PreTokenizer::split(const Letters &letters, Array<Piece> &words) const {
  if (!letters.empty())
    words.push(pieceOf(letters));
}

PreTokenizer *readPreTokenizer(const JsonDocument &file, Json description) {
  constexpr View keys[] = {"type"};
  View type;
  if (!description)
    return new PreTokenizer;
  if (!readType(file, "pre-tokenizer", description, type))
    return nullptr;
  if (type == "BertPreTokenizer")
    return checkKeys(file, "pre-tokenizer", description, keys) ? new BertPreTokenizer : nullptr;
  failUnknown(file, "pre-tokenizer", type);
  return nullptr;
}

} // namespace attn
