// Pre-tokenizers: BertPreTokenizer, Split, Sequence; ByteLevel is in ByteLevel.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/PreTokenizer.h"
#include "runtime/Error.h"
#include "runtime/tokenizer/ByteLevel.h"
#include "runtime/tokenizer/Characters.h"
#include "runtime/tokenizer/Components.h"
#include "runtime/tokenizer/Regex.h"

namespace attn {
namespace {

// Words are what white space leaves; each punctuation character is a word.
class BertPreTokenizer : public PreTokenizer {
public:
  bool apply(Words &words) const override;
};

void cutAtPunctuation(const Letters &letters, const Cut &word, Array<Cut> &out) {
  size_t start = word.begin;
  auto endWord = [&](size_t end) {
    if (start != end)
      out.push({start, end});
    start = end;
  };
  for (size_t i = word.begin; i < word.end; ++i) {
    if (isWhitespace(letters[i].code)) {
      endWord(i);
      start = i + 1;
    } else if (isPunctuation(letters[i].code)) {
      endWord(i);
      endWord(i + 1);
    }
  }
  endWord(word.end);
}

bool BertPreTokenizer::apply(Words &words) const {
  Array<Cut> out;
  for (const Cut &word : words.cuts)
    cutAtPunctuation(words.letters, word, out);
  words.cuts = std::move(out);
  return true;
}

// Cuts where a regular expression or a text matches.
class SplitPreTokenizer : public PreTokenizer {
public:
  bool read(const JsonDocument &file, Json description);
  bool apply(Words &words) const override { return regex.split(words, behavior, invert); }

private:
  bool readBehavior(const JsonDocument &file, View name);

  Regex regex;
  Regex::Behavior behavior = Regex::Isolated;
  bool invert = false;
};

bool SplitPreTokenizer::read(const JsonDocument &file, Json description) {
  constexpr View keys[] = {"type", "pattern", "behavior", "invert"}, kinds[] = {"Regex", "String"};
  Json pattern;
  View text, name;
  if (!checkKeys(file, "pre-tokenizer", description, keys) || !file.readObject(description, "pattern", pattern) ||
      !checkKeys(file, "pattern", pattern, kinds) || !file.readText(description, "behavior", name) ||
      !file.readBool(description, "invert", invert, false) || !readBehavior(file, name))
    return false;
  bool literal = !attn::find(pattern, "Regex");
  return file.readText(pattern, literal ? "String" : "Regex", text) && regex.compile(file, text, literal);
}

bool SplitPreTokenizer::readBehavior(const JsonDocument &file, View name) {
  constexpr View names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
  for (int i = 0; i < 5; ++i) {
    if (name != names[i])
      continue;
    behavior = static_cast<Regex::Behavior>(i);
    return true;
  }
  return failUnknown(file, "behavior of a pattern", name);
}

// One after the other.
class PreTokenizerSequence : public PreTokenizer {
public:
  bool read(const JsonDocument &file, Json description);
  bool apply(Words &words) const override;

private:
  Array<Owned<PreTokenizer>> steps;
};

bool PreTokenizerSequence::read(const JsonDocument &file, Json description) {
  constexpr View keys[] = {"type", "pretokenizers"};
  Json list;
  if (!checkKeys(file, "pre-tokenizer", description, keys) || !file.readArray(description, "pretokenizers", list))
    return false;
  for (size_t i = 0; i < json_array_size(list); ++i) {
    Owned<PreTokenizer> step(readPreTokenizer(file, json_array_get(list, i)));
    if (!step)
      return false;
    steps.push(std::move(step));
  }
  return true;
}

bool PreTokenizerSequence::apply(Words &words) const {
  for (const Owned<PreTokenizer> &step : steps)
    if (!step->apply(words))
      return false;
  return true;
}

template <class Kind> PreTokenizer *readKind(const JsonDocument &file, Json description) {
  Owned<Kind> made(new Kind);
  return made->read(file, description) ? made.release() : nullptr;
}

} // namespace

bool PreTokenizer::apply(Words &) const {
  return true;
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
  if (type == "ByteLevel")
    return readByteLevelPreTokenizer(file, description);
  if (type == "Split")
    return readKind<SplitPreTokenizer>(file, description);
  if (type == "Sequence")
    return readKind<PreTokenizerSequence>(file, description);
  failUnknown(file, "pre-tokenizer", type);
  return nullptr;
}

} // namespace attn
