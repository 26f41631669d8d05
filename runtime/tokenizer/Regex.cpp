// Regular expressions of tokenizer.json: compiled and matched by PCRE2.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/Regex.h"
#include "runtime/Error.h"
#define PCRE2_CODE_UNIT_WIDTH 32
#include <pcre2.h>

namespace attn {
namespace {

constexpr uint32_t mostKibibytes = 256 << 10; // that one match may need

Text messageOf(int error) {
  PCRE2_UCHAR letters[200];
  Text out;
  int count = pcre2_get_error_message(error, letters, sizeof letters / sizeof *letters);
  for (int i = 0; i < count; ++i)
    appendUtf8(static_cast<int32_t>(letters[i]), out);
  return out;
}

// What PCRE2 needs to look for matches in one text.
class Search {
public:
  Search(const pcre2_code *wanted, const Letters &letters)
      : code(wanted), data(pcre2_match_data_create_from_pattern(wanted, nullptr)),
        limits(pcre2_match_context_create(nullptr)) {
    codes.reserve(letters.size());
    for (const Letter &letter : letters)
      codes.push(static_cast<uint32_t>(letter.code));
    if (limits)
      pcre2_set_heap_limit(limits, mostKibibytes);
  }
  Search(const Search &) = delete;
  Search &operator=(const Search &) = delete;
  ~Search() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(limits);
  }

  // The first match of the word that begins at `from` or later; an empty one at the word's end if there is none.
  bool find(const Cut &word, size_t from, Cut &match) const {
    match = {word.end, word.end};
    int found = !data || !limits ? PCRE2_ERROR_NOMEMORY
                                 : pcre2_match(code, codes.data() + word.begin, word.end - word.begin,
                                               from - word.begin, PCRE2_NO_UTF_CHECK, data, limits);
    if (found == PCRE2_ERROR_NOMATCH)
      return true;
    if (found < 0)
      return fail("the regular expression of the tokenizer gave up on the text: %s", messageOf(found).c_str());
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
    match = {word.begin + ends[0], word.begin + ends[1]};
    return true;
  }

private:
  const pcre2_code *code;
  pcre2_match_data *data;
  pcre2_match_context *limits;
  Array<uint32_t> codes;
};

// A stretch of a word: a match, or what lies between two.
struct Stretch {
  Cut cut;
  bool matches;
};

bool cutWord(const Search &search, const Cut &word, Array<Stretch> &out) {
  for (size_t at = word.begin; at < word.end;) {
    Cut match;
    if (!search.find(word, at, match))
      return false;
    if (match.begin > at)
      out.push({{at, match.begin}, false});
    if (match.end > match.begin)
      out.push({match, true});
    at = match.end;
  }
  return true;
}

// Whether a stretch goes into one word with the stretch before it.
bool joins(const Stretch &before, const Stretch &stretch, Regex::Behavior behavior) {
  switch (behavior) {
  case Regex::MergedWithPrevious:
    return stretch.matches && !before.matches;
  case Regex::MergedWithNext:
    return before.matches && !stretch.matches;
  case Regex::Contiguous:
    return stretch.matches == before.matches;
  case Regex::Isolated:
  case Regex::Removed:
    break;
  }
  return false;
}

} // namespace

Regex::~Regex() {
  pcre2_code_free(code);
}

bool Regex::compile(const JsonDocument &file, View pattern, bool literal) {
  Array<uint32_t> codes;
  Letters letters;
  if (literal ? !decodeUtf8(pattern, letters) : !translateRegex(file, pattern, codes))
    return false;
  for (const Letter &letter : letters)
    codes.push(static_cast<uint32_t>(letter.code));
  int error;
  PCRE2_SIZE where;
  uint32_t options = literal ? PCRE2_LITERAL | PCRE2_UTF : PCRE2_UTF | PCRE2_UCP, matchesNothing = 0;
  codes.reserve(1); // so that the pointer is one
  code = pcre2_compile(codes.data(), codes.size(), options, &error, &where, nullptr);
  if (!code)
    return fail("`%s`: the regular expression `%s` is wrong: %s", file.source(), Text(pattern).c_str(),
                messageOf(error).c_str());
  pcre2_pattern_info(code, PCRE2_INFO_MATCHEMPTY, &matchesNothing);
  return !matchesNothing ||
         fail("`%s`: the regular expression `%s` could match no letters at all", file.source(), Text(pattern).c_str());
}

bool Regex::split(Words &words, Behavior behavior, bool invert) const {
  Search search(code, words.letters);
  Array<Cut> out;
  Array<Stretch> stretches;
  for (const Cut &word : words.cuts) {
    stretches.clear();
    if (!cutWord(search, word, stretches))
      return false;
    for (size_t i = 0; i < stretches.size(); ++i) {
      stretches[i].matches ^= invert;
      if (i && joins(stretches[i - 1], stretches[i], behavior))
        out.back().end = stretches[i].cut.end;
      else if (behavior != Removed || !stretches[i].matches)
        out.push(stretches[i].cut);
    }
  }
  words.cuts = std::move(out);
  return true;
}

} // namespace attn
