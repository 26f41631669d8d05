// Byte level: each byte of the text as a letter that can be seen.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/ByteLevel.h"
#include "runtime/tokenizer/Components.h"
#include "runtime/tokenizer/Regex.h"

namespace attn {
namespace {

// Bytes that are their own letter. The others, in order, are the letters from U+0100 on.
bool isVisible(int32_t byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
}
constexpr int32_t firstHidden = 0x100, behindSpaces = 0x21, firstUpper = 0x7f, behindUpper = 0xa1, softHyphen = 0xad;
constexpr int32_t hiddenUpper = firstHidden + behindSpaces, hiddenHyphen = hiddenUpper + behindUpper - firstUpper;

// What GPT-2 cuts its texts with: contractions, words, numbers and signs with the one space before them, spaces.
constexpr View wordPattern = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

class ByteLevelPreTokenizer : public PreTokenizer {
public:
  bool read(const JsonDocument &file, Json description);
  bool apply(Words &words) const override;

private:
  ByteLevelOptions options;
  Regex regex;
};

bool ByteLevelPreTokenizer::read(const JsonDocument &file, Json description) {
  return options.read(file, "pre-tokenizer", description) &&
         (!options.useRegex || regex.compile(file, wordPattern, false));
}

// Each word gets a space in front, unless it has one; it was made from no byte.
Words withSpaces(const Words &words) {
  Words out;
  out.letters.reserve(words.letters.size() + words.cuts.size());
  for (const Cut &cut : words.cuts) {
    Letter first = words.letters[cut.begin];
    size_t begin = out.letters.size();
    if (first.code != ' ')
      out.letters.push({' ', first.begin, first.begin});
    for (size_t i = cut.begin; i < cut.end; ++i)
      out.letters.push(words.letters[i]);
    out.cuts.push({begin, out.letters.size()});
  }
  return out;
}

// Every byte of a letter counts as made from all of that letter.
Words asBytes(const Words &words) {
  Words out;
  out.letters.reserve(words.letters.size() * 2);
  Text bytes;
  for (const Cut &cut : words.cuts) {
    size_t begin = out.letters.size();
    for (size_t i = cut.begin; i < cut.end; ++i) {
      const Letter &letter = words.letters[i];
      bytes.clear();
      appendUtf8(letter.code, bytes);
      for (char byte : bytes.view())
        out.letters.push({letterOfByte(static_cast<unsigned char>(byte)), letter.begin, letter.end});
    }
    out.cuts.push({begin, out.letters.size()});
  }
  return out;
}

bool ByteLevelPreTokenizer::apply(Words &words) const {
  if (options.addPrefixSpace)
    words = withSpaces(words);
  if (options.useRegex && !regex.split(words, Regex::Isolated, false))
    return false;
  words = asBytes(words);
  return true;
}

// A token with a letter that stands for no byte is taken as it is spelt. Bytes that are no characters are repaired.
class ByteLevelDecoder : public Decoder {
public:
  void decode(const Array<View> &tokens, Text &out) const override;
};

void ByteLevelDecoder::decode(const Array<View> &tokens, Text &out) const {
  Text all, bytes;
  for (View token : tokens) {
    Letters letters;
    bool stands = decodeUtf8(token, letters);
    bytes.clear();
    for (const Letter &letter : letters) {
      int byte = byteOfLetter(letter.code);
      stands = stands && byte >= 0;
      bytes.append(static_cast<char>(byte));
    }
    all.append(stands ? bytes.view() : token);
  }
  appendRepaired(all.view(), out);
}

} // namespace

int32_t letterOfByte(unsigned char byte) {
  return isVisible(byte)       ? byte
         : byte < behindSpaces ? firstHidden + byte
         : byte < behindUpper  ? hiddenUpper + byte - firstUpper
                               : hiddenHyphen;
}

int byteOfLetter(int32_t letter) {
  return isVisible(letter)        ? letter
         : letter < firstHidden   ? -1
         : letter < hiddenUpper   ? letter - firstHidden
         : letter < hiddenHyphen  ? letter - hiddenUpper + firstUpper
         : letter == hiddenHyphen ? softHyphen
                                  : -1;
}

bool ByteLevelOptions::read(const JsonDocument &file, const char *component, Json description) {
  constexpr View keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex"};
  return checkKeys(file, component, description, keys) &&
         file.readBool(description, "add_prefix_space", addPrefixSpace, true) &&
         file.readBool(description, "trim_offsets", trimOffsets, true) &&
         file.readBool(description, "use_regex", useRegex, true);
}

PreTokenizer *readByteLevelPreTokenizer(const JsonDocument &file, Json description) {
  Owned<ByteLevelPreTokenizer> made(new ByteLevelPreTokenizer);
  return made->read(file, description) ? made.release() : nullptr;
}

Decoder *readByteLevelDecoder(const JsonDocument &file, Json description) {
  ByteLevelOptions unused;
  return unused.read(file, "decoder", description) ? new ByteLevelDecoder : nullptr;
}

} // namespace attn
