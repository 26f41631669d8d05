// Byte-pair encoding: neighbouring tokens become one, in the order in which training found the pairs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     merges  Ġ t, h e, Ġt he          Ġ t h e n  ⇒  Ġt h e n  ⇒  Ġt he n  ⇒  Ġthe n
//
// R. Sennrich, B. Haddow, A. Birch, "Neural Machine Translation of Rare Words with Subword Units", 2016. A heap holds
// the pairs that could be merged, so a word of n letters takes n log n; the leftmost of equal pairs goes first.
#include "runtime/Error.h"
#include "runtime/tokenizer/Components.h"
#include "runtime/tokenizer/PairTable.h"
#include "runtime/tokenizer/TokenModel.h"
#include <algorithm>

namespace attn {
namespace {

// What is left of a word: a list, linked both ways by number.
struct Part {
  int32_t id;
  uint32_t begin, end; // bytes of the text
  int32_t before, next;
  bool gone = false; // into the part before
};

struct Candidate {
  PairTable::Merge merge;
  int32_t left; // the number of the part
};

class Merging {
public:
  Merging(const PairTable &table, Array<Part> &all) : merges(table), parts(all) {}
  void run();

private:
  void consider(int32_t left);
  bool isStale(const Candidate &candidate) const;
  // Orders a heap, whose first is the last in this order.
  static bool goesLater(const Candidate &a, const Candidate &b) {
    return a.merge.rank != b.merge.rank ? a.merge.rank > b.merge.rank : a.left > b.left;
  }
  Part &at(int32_t number) const { return parts[static_cast<size_t>(number)]; }

  const PairTable &merges;
  Array<Part> &parts;
  Array<Candidate> heap;
};

void Merging::consider(int32_t left) {
  if (left < 0 || at(left).next < 0)
    return;
  if (const PairTable::Merge *merge = merges.find(at(left).id, at(at(left).next).id)) {
    heap.push({*merge, left});
    std::push_heap(heap.begin(), heap.end(), goesLater);
  }
}

// Another merge has changed one of the two since.
bool Merging::isStale(const Candidate &candidate) const {
  const Part &left = at(candidate.left);
  if (left.gone || left.next < 0)
    return true;
  const PairTable::Merge *merge = merges.find(left.id, at(left.next).id);
  return !merge || merge->id != candidate.merge.id;
}

void Merging::run() {
  for (size_t i = 0; i < parts.size(); ++i)
    consider(static_cast<int32_t>(i));
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), goesLater);
    Candidate candidate = heap.back();
    heap.pop();
    if (isStale(candidate))
      continue;
    Part &left = at(candidate.left), &right = at(left.next);
    left.id = candidate.merge.id;
    left.end = right.end;
    left.next = right.next;
    right.gone = true;
    if (left.next >= 0)
      at(left.next).before = candidate.left;
    consider(left.before);
    consider(candidate.left);
  }
}

class BytePairs : public TokenModel {
public:
  explicit BytePairs(const Vocabulary &all) : vocabulary(all) {}
  bool read(const JsonDocument &file, Json description);
  void encode(Piece word, Array<Token> &out) const override;

private:
  bool readMerges(const JsonDocument &file, Json list);
  bool readMerge(const JsonDocument &file, Json entry, int32_t rank);
  bool addMerge(const JsonDocument &file, View left, View right, int32_t rank);
  int32_t findWhole(Piece word) const;
  int32_t findLetter(Piece word, const Letter *letter, Text &spelling) const;
  void spell(Piece word, Array<Part> &out) const;

  const Vocabulary &vocabulary;
  PairTable merges;
  View prefix, suffix; // of letters that continue a word; of the one that ends it
  int32_t unknown = -1;
  bool fuseUnknown = false, wholeFirst = false;
};

bool BytePairs::read(const JsonDocument &file, Json description) {
  constexpr View keys[] = {
      "type",          "dropout", "unk_token",          "fuse_unk", "byte_fallback", "continuing_subword_prefix",
      "ignore_merges", "vocab",   "end_of_word_suffix", "merges"};
  bool byteFallback;
  View unknownText;
  Json list, dropout = find(description, "dropout");
  if (!checkKeys(file, "BPE model", description, keys) || !file.readText(description, "unk_token", unknownText, "") ||
      !file.readText(description, "continuing_subword_prefix", prefix, "") ||
      !file.readText(description, "end_of_word_suffix", suffix, "") ||
      !file.readBool(description, "fuse_unk", fuseUnknown, false) ||
      !file.readBool(description, "ignore_merges", wholeFirst, false) ||
      !file.readBool(description, "byte_fallback", byteFallback, false) || !file.readArray(description, "merges", list))
    return false;
  if (dropout && !(json_is_number(dropout) && json_number_value(dropout) == 0))
    return fail("`%s`: `dropout` makes the ids random, which this library does not do", file.source());
  if (byteFallback)
    return fail("`%s`: `byte_fallback` is not one of the things that this library knows", file.source());
  unknown = find(description, "unk_token") ? vocabulary.findOwn(unknownText) : -1;
  if (unknown < 0 && find(description, "unk_token"))
    return fail("`%s`: the vocabulary has no token `%s`, which stands for unknown words", file.source(),
                Text(unknownText).c_str());
  return readMerges(file, list);
}

bool BytePairs::readMerges(const JsonDocument &file, Json list) {
  merges = PairTable(json_array_size(list));
  for (size_t i = 0; i < json_array_size(list); ++i)
    if (!readMerge(file, json_array_get(list, i), static_cast<int32_t>(i)))
      return false;
  return true;
}

// "Ġ t" or ["Ġ", "t"]
bool BytePairs::readMerge(const JsonDocument &file, Json entry, int32_t rank) {
  Json left = json_array_get(entry, 0), right = json_array_get(entry, 1);
  if (json_array_size(entry) == 2 && json_is_string(left) && json_is_string(right))
    return addMerge(file, textOf(left), textOf(right), rank);
  View line = json_is_string(entry) ? textOf(entry) : View();
  size_t space = line.find(' ');
  if (space == View::npos || line.find(' ', space + 1) != View::npos)
    return file.wrong("merges", "a list of pairs");
  return addMerge(file, View(line.data(), space), View(line.data() + space + 1, line.size() - space - 1), rank);
}

bool BytePairs::addMerge(const JsonDocument &file, View left, View right, int32_t rank) {
  Text merged(left);
  View rest = right;
  rest.remove_prefix(rest.size() < prefix.size() ? rest.size() : prefix.size());
  merged.append(rest);
  int32_t ids[3];
  View texts[] = {left, right, merged.view()};
  for (int i = 0; i < 3; ++i) {
    ids[i] = vocabulary.findOwn(texts[i]);
    if (ids[i] < 0)
      return fail("`%s`: the merge of `%s` and `%s` needs the token `%s`, which the vocabulary does not have",
                  file.source(), Text(left).c_str(), Text(right).c_str(), Text(texts[i]).c_str());
  }
  merges.set(ids[0], ids[1], {rank, ids[2]});
  return true;
}

void BytePairs::encode(Piece word, Array<Token> &out) const {
  int32_t whole = wholeFirst ? findWhole(word) : -1;
  if (whole >= 0) {
    out.push({whole, 0, word.begin->begin, word.end[-1].end});
    return;
  }
  Array<Part> parts;
  spell(word, parts);
  Merging(merges, parts).run();
  for (const Part &part : parts)
    if (!part.gone)
      out.push({part.id, 0, part.begin, part.end});
}

int32_t BytePairs::findWhole(Piece word) const {
  Text text;
  for (const Letter *letter = word.begin; letter != word.end && text.size() <= vocabulary.longest(); ++letter)
    appendUtf8(letter->code, text);
  return text.size() <= vocabulary.longest() ? vocabulary.findOwn(text.view()) : -1;
}

int32_t BytePairs::findLetter(Piece word, const Letter *letter, Text &spelling) const {
  spelling.clear();
  if (letter != word.begin)
    spelling.append(prefix);
  appendUtf8(letter->code, spelling);
  if (letter + 1 == word.end)
    spelling.append(suffix);
  return vocabulary.findOwn(spelling.view());
}

// The word's letters as tokens. One that the vocabulary does not have is the unknown token, if there is one, else lost.
void BytePairs::spell(Piece word, Array<Part> &out) const {
  Text spelling;
  bool afterUnknown = false;
  out.reserve(word.size());
  for (const Letter *letter = word.begin; letter != word.end; ++letter) {
    int32_t id = findLetter(word, letter, spelling), number = static_cast<int32_t>(out.size());
    bool isUnknown = id < 0;
    if (isUnknown && unknown < 0)
      continue;
    if (isUnknown && afterUnknown && fuseUnknown)
      out.back().end = letter->end;
    else
      out.push({isUnknown ? unknown : id, letter->begin, letter->end, number - 1, number + 1});
    afterUnknown = isUnknown;
  }
  if (!out.empty())
    out.back().next = -1;
}

} // namespace

TokenModel *readBytePairs(const JsonDocument &file, Json description, const Vocabulary &vocabulary) {
  Owned<BytePairs> made(new BytePairs(vocabulary));
  return made->read(file, description) ? made.release() : nullptr;
}

} // namespace attn
