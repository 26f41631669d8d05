// Tokens that are found in the text before anything else happens to it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/Error.h"
#include "runtime/tokenizer/Characters.h"
#include "runtime/tokenizer/Components.h"
#include <algorithm>

namespace attn {

bool AddedTokens::read(const JsonDocument &file, Json list, const Normalizer &normalizer, Vocabulary &vocabulary) {
  for (size_t i = 0; i < json_array_size(list); ++i)
    if (!readToken(file, json_array_get(list, i), normalizer, vocabulary))
      return false;
  for (Array<AddedToken> &set : sets)
    std::sort(set.begin(), set.end(), [](const AddedToken &a, const AddedToken &b) {
      return a.codes[0] != b.codes[0] ? a.codes[0] < b.codes[0] : a.codes.size() > b.codes.size();
    });
  return true;
}

bool AddedTokens::readToken(const JsonDocument &file, Json entry, const Normalizer &normalizer,
                            Vocabulary &vocabulary) {
  constexpr View keys[] = {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"};
  AddedToken token;
  View content;
  int64_t id;
  bool normalized, isSpecialToken;
  if (!json_is_object(entry))
    return file.wrong("added_tokens", "a list of objects");
  if (!checkKeys(file, "added token", entry, keys) || !file.readText(entry, "content", content) ||
      !file.readInteger(entry, "id", id) || !file.readBool(entry, "single_word", token.singleWord, false) ||
      !file.readBool(entry, "lstrip", token.stripLeft, false) ||
      !file.readBool(entry, "rstrip", token.stripRight, false) ||
      !file.readBool(entry, "special", isSpecialToken, false) ||
      !file.readBool(entry, "normalized", normalized, !isSpecialToken) || !vocabulary.addBeside(file, content, id))
    return false;
  token.id = static_cast<int32_t>(id);
  if (static_cast<size_t>(id) >= special.size())
    special.resize(static_cast<size_t>(id) + 1);
  special[static_cast<size_t>(id)] = isSpecialToken;
  Letters letters;
  if (!decodeUtf8(content, letters))
    return false;
  if (normalized)
    normalizer.apply(letters);
  for (const Letter &letter : letters)
    token.codes.push(letter.code);
  if (!token.codes.empty()) // nothing can be found in no letters
    sets[normalized].push(std::move(token));
  return true;
}

const AddedTokens::AddedToken *AddedTokens::longestAt(const Letter *at, const Letter *end, bool normalized) const {
  const Array<AddedToken> &set = sets[normalized];
  const AddedToken *token = std::lower_bound(set.begin(), set.end(), at->code,
                                             [](const AddedToken &a, int32_t code) { return a.codes[0] < code; });
  for (; token != set.end() && token->codes[0] == at->code; ++token) {
    size_t matched = 0, size = token->codes.size();
    if (static_cast<size_t>(end - at) < size)
      continue;
    while (matched < size && at[matched].code == token->codes[matched])
      ++matched;
    if (matched == size)
      return token;
  }
  return nullptr;
}

void AddedTokens::find(Piece text, bool normalized, Array<Stretch> &out) const {
  const Letter *done = text.begin; // everything before is in `out`
  for (const Letter *at = text.begin; at < text.end;) {
    const AddedToken *token = longestAt(at, text.end, normalized);
    if (!token) {
      ++at;
      continue;
    }
    const Letter *begin = at, *end = at + token->codes.size();
    at = end;
    if (token->singleWord &&
        ((begin != text.begin && isWordCharacter(begin[-1].code)) || (end != text.end && isWordCharacter(end->code))))
      continue;
    while (token->stripLeft && begin > done && isWhitespace(begin[-1].code))
      --begin;
    while (token->stripRight && end < text.end && isWhitespace(end->code))
      ++end;
    if (done < begin)
      out.push({-1, {done, begin}});
    out.push({token->id, {begin, end}});
    done = end;
    at = end;
  }
  if (done < text.end)
    out.push({-1, {done, text.end}});
}

} // namespace attn
