// Regular expressions of tokenizer.json.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PCRE2 finds the matches, on code points, with Unicode's properties. The patterns were written for another library
// (Oniguruma, in its Ruby syntax). What both mean by the same text is taken over; what is another text there is
// translated (RegexSyntax.cpp); anything else is refused, so that no pattern silently means something different here.
#ifndef ATTN_RUNTIME_TOKENIZER_REGEX_H
#define ATTN_RUNTIME_TOKENIZER_REGEX_H
#include "runtime/Json.h"
#include "runtime/tokenizer/Letters.h"

struct pcre2_real_code_32;

namespace attn {

class Regex {
public:
  // What becomes of a match: it is lost, a word, the end of the word before, the beginning of the next one; or
  // neighbouring matches are one word.
  enum Behavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

  Regex() = default;
  Regex(const Regex &) = delete;
  Regex &operator=(const Regex &) = delete;
  ~Regex();

  // Fails if the pattern is not understood, or could match no letters at all.
  bool compile(const JsonDocument &file, View pattern, bool literal);
  // Cuts every word further. `invert` swaps what matches with what lies between. Fails if matching takes too long.
  bool split(Words &words, Behavior behavior, bool invert) const;

private:
  pcre2_real_code_32 *code = nullptr;
};

// The pattern in PCRE2's syntax.
bool translateRegex(const JsonDocument &file, View pattern, Array<uint32_t> &out);

} // namespace attn
#endif
