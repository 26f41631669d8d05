// A tokenizer, as tokenizer.json describes it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/Error.h"
#include "runtime/tokenizer/Components.h"

using namespace attn;

bool attn_tokenizer::open(const char *path) {
  return file.parseFile(path) && read();
}

bool attn_tokenizer::parse(View text, View source) {
  return file.parse(text, source) && read();
}

bool attn_tokenizer::read() {
  constexpr View keys[] = {"version",       "truncation",     "padding", "added_tokens", "normalizer",
                           "pre_tokenizer", "post_processor", "decoder", "model"};
  Json root = file.root(), addedTokens;
  if (!checkKeys(file, "tokenizer", root, keys) || !file.readArray(root, "added_tokens", addedTokens, true))
    return false;
  normalizer = Owned(readNormalizer(file, find(root, "normalizer")));
  preTokenizer = normalizer ? Owned(readPreTokenizer(file, find(root, "pre_tokenizer"))) : Owned<PreTokenizer>();
  model = preTokenizer ? Owned(readTokenModel(file, find(root, "model"), vocabulary)) : Owned<TokenModel>();
  decoder = model ? Owned(readDecoder(file, find(root, "decoder"))) : Owned<Decoder>();
  return decoder && added.read(file, addedTokens, *normalizer, vocabulary) &&
         postProcessor.read(file, find(root, "post_processor"), vocabulary);
}

bool attn_tokenizer::encode(View text, const View *second, bool special, Array<Token> &out) const {
  Array<Token> texts[2];
  if (!encodeText(text, texts[0]) || (second && !encodeText(*second, texts[1])))
    return false;
  postProcessor.apply(texts, second != nullptr, special, out);
  return true;
}

bool attn_tokenizer::encodeText(View text, Array<Token> &out) const {
  Letters letters;
  if (!decodeUtf8(text, letters))
    return false;
  Array<AddedTokens::Stretch> stretches;
  added.find(pieceOf(letters), false, stretches);
  for (const AddedTokens::Stretch &stretch : stretches)
    if (stretch.id >= 0)
      out.push({stretch.id, 0, stretch.piece.begin->begin, stretch.piece.end[-1].end, true});
    else if (!encodeGap(stretch.piece, out))
      return false;
  postProcessor.trim(text, vocabulary, out);
  return true;
}

// Text between the tokens that were found before normalization.
bool attn_tokenizer::encodeGap(Piece gap, Array<Token> &out) const {
  Letters letters;
  for (const Letter *letter = gap.begin; letter != gap.end; ++letter)
    letters.push(*letter);
  normalizer->apply(letters);
  Array<AddedTokens::Stretch> stretches;
  added.find(pieceOf(letters), true, stretches);
  for (const AddedTokens::Stretch &stretch : stretches) {
    if (stretch.id >= 0) {
      out.push({stretch.id, 0, stretch.piece.begin->begin, stretch.piece.end[-1].end, true});
      continue;
    }
    Words words;
    for (const Letter *letter = stretch.piece.begin; letter != stretch.piece.end; ++letter)
      words.letters.push(*letter);
    words.cuts.push({0, words.letters.size()});
    if (!preTokenizer->apply(words))
      return false;
    for (const Cut &cut : words.cuts)
      model->encode({words.letters.begin() + cut.begin, words.letters.begin() + cut.end}, out);
  }
  return true;
}

bool attn_tokenizer::decode(const int32_t *ids, int64_t n, bool special, Text &out) const {
  Array<View> tokens;
  for (int64_t i = 0; i < n; ++i) {
    if (!vocabulary.has(ids[i]))
      return fail("no token has the id %d", ids[i]);
    if (special || !added.isSpecial(ids[i]))
      tokens.push(vocabulary.text(ids[i]));
  }
  decoder->decode(tokens, out);
  return true;
}
