// Normalizers: BertNormalizer, NFC, NFD, Lowercase, Sequence.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/Normalizer.h"
#include "runtime/Error.h"
#include "runtime/tokenizer/Characters.h"
#include "runtime/tokenizer/Components.h"
#include <algorithm>

namespace attn {
namespace {

// Cleans control characters away, parts Chinese characters from their neighbours, strips accents, lowers case; in this
// order.
class BertNormalizer : public Normalizer {
public:
  bool read(const JsonDocument &file, Json description);
  void apply(Letters &letters) const override;

private:
  bool clean = true, chinese = true, strip = true, lower = true;
};

bool BertNormalizer::read(const JsonDocument &file, Json description) {
  constexpr View keys[] = {"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"};
  return checkKeys(file, "normalizer", description, keys) && file.readBool(description, "clean_text", clean, true) &&
         file.readBool(description, "handle_chinese_chars", chinese, true) &&
         file.readBool(description, "lowercase", lower, true) &&
         file.readBool(description, "strip_accents", strip, lower);
}

Letters cleaned(const Letters &letters) {
  Letters out;
  out.reserve(letters.size());
  for (Letter letter : letters) {
    bool isBlank = isWhitespace(letter.code);
    if (letter.code == 0 || letter.code == 0xfffd)
      continue;
    if (isOther(letter.code) && letter.code != '\t' && letter.code != '\n' && letter.code != '\r')
      continue;
    letter.code = isBlank ? ' ' : letter.code;
    out.push(letter);
  }
  return out;
}

Letters parted(const Letters &letters) {
  Letters out;
  out.reserve(letters.size());
  for (Letter letter : letters) {
    bool part = isChinese(letter.code);
    if (part)
      out.push({' ', letter.begin, letter.end});
    out.push(letter);
    if (part)
      out.push({' ', letter.begin, letter.end});
  }
  return out;
}

int classOf(int32_t code) {
  return code < 0x300 ? 0 : combiningClass(code);
}

// Canonical order: marks by class, those of one class as they stood (Unicode 3.11). The spans stay where they are.
void orderMarks(Letter *begin, Letter *end) {
  struct Mark {
    int own;
    int32_t place, code;
  };
  Array<Mark> marks;
  for (Letter *letter = begin; letter != end; ++letter)
    marks.push({classOf(letter->code), static_cast<int32_t>(letter - begin), letter->code});
  std::sort(marks.begin(), marks.end(),
            [](const Mark &a, const Mark &b) { return a.own != b.own ? a.own < b.own : a.place < b.place; });
  for (size_t i = 0; i < marks.size(); ++i)
    begin[i].code = marks[i].code;
}

// Canonical decomposition, in canonical order.
Letters decomposed(const Letters &letters) {
  Letters out;
  out.reserve(letters.size());
  for (const Letter &letter : letters) {
    int32_t codes[mostLetters];
    int count = decompose(letter.code, codes);
    for (int i = 0; i < count; ++i)
      out.push({codes[i], letter.begin, letter.end});
  }
  for (size_t i = 0, next; i < out.size(); i = next) {
    for (next = i; next < out.size() && classOf(out[next].code); ++next) {
    }
    if (next - i > 1)
      orderMarks(out.begin() + i, out.begin() + next);
    next = next == i ? i + 1 : next;
  }
  return out;
}

// Canonical composition of what is decomposed and in order (Unicode 3.11): a letter goes into the last starter unless
// something between them keeps it off.
Letters composed(const Letters &letters) {
  Letters out;
  out.reserve(letters.size());
  size_t starters = 0; // one more than where the last starter is
  int lastClass = 0;
  for (const Letter &letter : letters) {
    int own = classOf(letter.code);
    bool reaches = starters && (out.size() == starters || lastClass < own);
    int32_t code = reaches ? compose(out[starters - 1].code, letter.code) : 0;
    if (code) {
      out[starters - 1].code = code;
      out[starters - 1].end = letter.end;
      continue;
    }
    out.push(letter);
    lastClass = own;
    if (!own)
      starters = out.size();
  }
  return out;
}

Letters withoutMarks(const Letters &letters) {
  Letters out;
  out.reserve(letters.size());
  for (const Letter &letter : letters)
    if (!isNonspacingMark(letter.code))
      out.push(letter);
  return out;
}

Letters lowered(const Letters &letters) {
  Letters out;
  out.reserve(letters.size());
  for (const Letter &letter : letters) {
    int32_t codes[mostLetters];
    int count = lowerCase(letter.code, codes);
    for (int i = 0; i < count; ++i)
      out.push({codes[i], letter.begin, letter.end});
  }
  return out;
}

void BertNormalizer::apply(Letters &letters) const {
  if (clean)
    letters = cleaned(letters);
  if (chinese)
    letters = parted(letters);
  if (strip)
    letters = withoutMarks(decomposed(letters));
  if (lower)
    letters = lowered(letters);
}

// What needs no options.
class PlainNormalizer : public Normalizer {
public:
  enum Kind { Composed, Decomposed, Lowered };
  explicit PlainNormalizer(Kind which) : kind(which) {}
  void apply(Letters &letters) const override {
    letters = kind == Composed     ? composed(decomposed(letters))
              : kind == Decomposed ? decomposed(letters)
                                   : lowered(letters);
  }

private:
  Kind kind;
};

// One after the other.
class NormalizerSequence : public Normalizer {
public:
  bool read(const JsonDocument &file, Json description);
  void apply(Letters &letters) const override {
    for (const Owned<Normalizer> &step : steps)
      step->apply(letters);
  }

private:
  Array<Owned<Normalizer>> steps;
};

bool NormalizerSequence::read(const JsonDocument &file, Json description) {
  constexpr View keys[] = {"type", "normalizers"};
  Json list;
  if (!checkKeys(file, "normalizer", description, keys) || !file.readArray(description, "normalizers", list))
    return false;
  for (size_t i = 0; i < json_array_size(list); ++i) {
    Owned<Normalizer> step(readNormalizer(file, json_array_get(list, i)));
    if (!step)
      return false;
    steps.push(std::move(step));
  }
  return true;
}

template <class Kind> Normalizer *readKind(const JsonDocument &file, Json description) {
  Owned<Kind> made(new Kind);
  return made->read(file, description) ? made.release() : nullptr;
}

} // namespace

void Normalizer::apply(Letters &) const {}

Normalizer *readNormalizer(const JsonDocument &file, Json description) {
  View type;
  if (!description)
    return new Normalizer;
  if (!readType(file, "normalizer", description, type))
    return nullptr;
  if (type == "BertNormalizer")
    return readKind<BertNormalizer>(file, description);
  if (type == "Sequence")
    return readKind<NormalizerSequence>(file, description);
  constexpr View keys[] = {"type"}, plain[] = {"NFC", "NFD", "Lowercase"};
  for (int i = 0; i < 3; ++i)
    if (type == plain[i])
      return checkKeys(file, "normalizer", description, keys)
                 ? new PlainNormalizer(static_cast<PlainNormalizer::Kind>(i))
                 : nullptr;
  failUnknown(file, "normalizer", type);
  return nullptr;
}

} // namespace attn
