// Normalizers: BertNormalizer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/Normalizer.h"
#include "runtime/Error.h"
#include "runtime/tokenizer/Characters.h"
#include "runtime/tokenizer/Components.h"

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

// Canonical decomposition, in canonical order: marks by class, those of one class as they stood (Unicode 3.11).
Letters decomposed(const Letters &letters) {
  Letters out;
  out.reserve(letters.size());
  for (const Letter &letter : letters) {
    int32_t codes[mostLetters];
    int count = decompose(letter.code, codes);
    for (int i = 0; i < count; ++i) {
      out.push({codes[i], letter.begin, letter.end});
      int own = codes[i] < 0x80 ? 0 : combiningClass(codes[i]);
      for (size_t k = out.size() - 1; own && k > 0 && combiningClass(out[k - 1].code) > own; --k)
        std::swap(out[k], out[k - 1]);
    }
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

} // namespace

void Normalizer::apply(Letters &) const {}

Normalizer *readNormalizer(const JsonDocument &file, Json description) {
  View type;
  if (!description)
    return new Normalizer;
  if (!readType(file, "normalizer", description, type))
    return nullptr;
  if (type == "BertNormalizer") {
    Owned<BertNormalizer> made(new BertNormalizer);
    return made->read(file, description) ? made.release() : nullptr;
  }
  failUnknown(file, "normalizer", type);
  return nullptr;
}

} // namespace attn
