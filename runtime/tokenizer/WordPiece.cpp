// WordPiece: a word is cut, from the left, into the longest tokens that the vocabulary has.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     unaffable  ⇒  un ##aff ##able          a word with a part that nothing matches is one unknown token
//
// Y. Wu et al., "Google's Neural Machine Translation System", 2016, section 4.1; J. Devlin et al., "BERT", 2018.
#include "runtime/Error.h"
#include "runtime/tokenizer/Components.h"
#include "runtime/tokenizer/TokenModel.h"

namespace attn {
namespace {

class WordPiece : public TokenModel {
public:
  explicit WordPiece(const Vocabulary &all) : vocabulary(all) {}
  bool read(const JsonDocument &file, Json description);
  void encode(Piece word, Array<Token> &out) const override;

private:
  bool cut(Piece word, Array<Token> &out) const;

  const Vocabulary &vocabulary;
  View prefix; // of tokens that continue a word
  int64_t longestWord = 100;
  int32_t unknown = -1;
};

bool WordPiece::read(const JsonDocument &file, Json description) {
  constexpr View keys[] = {"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"};
  View unknownText;
  if (!checkKeys(file, "WordPiece model", description, keys) ||
      !file.readText(description, "unk_token", unknownText, "[UNK]") ||
      !file.readText(description, "continuing_subword_prefix", prefix, "##") ||
      !file.readInteger(description, "max_input_chars_per_word", longestWord, 100))
    return false;
  unknown = vocabulary.findOwn(unknownText);
  return unknown >= 0 || fail("`%s`: the vocabulary has no token `%s`, which stands for unknown words", file.source(),
                              Text(unknownText).c_str());
}

void WordPiece::encode(Piece word, Array<Token> &out) const {
  size_t before = out.size();
  if (static_cast<int64_t>(word.size()) <= longestWord && cut(word, out))
    return;
  out.resize(before);
  out.push({unknown, 0, word.begin->begin, word.end[-1].end});
}

bool WordPiece::cut(Piece word, Array<Token> &out) const {
  Text bytes(prefix);
  Array<size_t> ends; // in `bytes`, of each letter
  for (const Letter *letter = word.begin; letter != word.end; ++letter) {
    appendUtf8(letter->code, bytes);
    ends.push(bytes.size());
  }
  Text part;
  for (size_t start = 0, next; start < word.size(); start = next) {
    size_t from = start ? ends[start - 1] : prefix.size();
    int32_t id = -1;
    for (next = word.size() + 1; id < 0 && --next > start;) {
      View letters(bytes.c_str() + from, ends[next - 1] - from);
      if (letters.size() > vocabulary.longest())
        continue;
      part.clear();
      id = vocabulary.findOwn(start ? part.append(prefix).append(letters).view() : letters);
    }
    if (id < 0)
      return false;
    out.push({id, 0, word.begin[start].begin, word.begin[next - 1].end});
  }
  return true;
}

} // namespace

TokenModel *readWordPiece(const JsonDocument &file, Json description, const Vocabulary &vocabulary) {
  Owned<WordPiece> made(new WordPiece(vocabulary));
  return made->read(file, description) ? made.release() : nullptr;
}

} // namespace attn
