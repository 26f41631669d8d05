// Regular expressions of tokenizer.json: from Oniguruma's Ruby syntax to PCRE2's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     \s  ⇒  \p{White_Space}       PCRE2's \s has U+180E besides
//     \p{Han}  ⇒  \p{sc:Han}        PCRE2's \p{Han} has the script's extensions besides
//
// Refused, because the two differ: ^ and $ (lines there), \w and \b (other letters), classes in classes and && (sets
// there), {1,2}+ and {1}? (repeated there), {,2} (text here), options but i, anything named or numbered.
#include "runtime/Error.h"
#include "runtime/tokenizer/Regex.h"

namespace attn {
namespace {

class Translation {
public:
  Translation(const JsonDocument &document, Array<uint32_t> &translated) : file(document), out(translated) {}
  bool translate(View pattern);

private:
  bool piece();
  bool classPiece();
  bool escape();
  bool property(bool negated);
  bool group();
  bool repetition();

  int32_t peek(size_t ahead = 0) const { return at + ahead < letters.size() ? letters[at + ahead].code : -1; }
  bool digits();
  void copy(size_t count = 1) {
    for (; count; --count)
      out.push(static_cast<uint32_t>(letters[at++].code));
  }
  void write(View ascii) {
    for (char letter : ascii)
      out.push(static_cast<uint32_t>(letter));
  }
  // The message shows the letters from the current one on.
  bool refuse(size_t count) const {
    Text shown;
    for (size_t i = at; i < at + count && i < letters.size(); ++i)
      appendUtf8(letters[i].code, shown);
    return fail("`%s`: the regular expression has `%s`, which this library does not know", file.source(),
                shown.c_str());
  }

  const JsonDocument &file;
  Array<uint32_t> &out;
  Letters letters;
  size_t at = 0;
  bool inClass = false;
};

bool isLetter(int32_t code) {
  return (code | 32) >= 'a' && (code | 32) <= 'z';
}
bool isDigit(int32_t code) {
  return code >= '0' && code <= '9';
}

bool Translation::translate(View pattern) {
  if (!decodeUtf8(pattern, letters))
    return false;
  while (at < letters.size())
    if (!(inClass ? classPiece() : piece()))
      return false;
  return true;
}

bool Translation::piece() {
  switch (peek()) {
  case '\\':
    return escape();
  case '(':
    return group();
  case '{':
    return repetition();
  case '^':
  case '$':
    return refuse(1);
  case '[':
    if (peek(1) == ']' || (peek(1) == '^' && peek(2) == ']'))
      return refuse(peek(1) == ']' ? 2 : 3);
    copy(peek(1) == '^' ? 2 : 1);
    inClass = true;
    return true;
  default:
    copy();
    return true;
  }
}

bool Translation::classPiece() {
  if (peek() == '\\')
    return escape();
  if (peek() == '[')
    return refuse(1);
  if (peek() == '&' && peek(1) == '&')
    return refuse(2);
  inClass = peek() != ']';
  copy();
  return true;
}

bool Translation::escape() {
  int32_t code = peek(1);
  switch (code) {
  case 's':
  case 'S':
    write(code == 's' ? "\\p{White_Space}" : "\\P{White_Space}");
    at += 2;
    return true;
  case 'p':
  case 'P':
    return property(code == 'P');
  case 'd':
  case 'D':
  case 'f':
  case 'n':
  case 'r':
  case 't':
    copy(2);
    return true;
  default:
    if (code <= ' ' || code > '~' || isLetter(code) || isDigit(code))
      return refuse(2);
    copy(2);
    return true;
  }
}

// Names of one or two letters are general categories, longer ones scripts.
bool Translation::property(bool negated) {
  size_t name = 3;
  if (peek(2) != '{')
    return refuse(3);
  if (peek(3) == '^') {
    negated = !negated;
    ++name;
  }
  size_t end = name;
  while (isLetter(peek(end)) || peek(end) == '_')
    ++end;
  if (end == name || peek(end) != '}')
    return refuse(end + 1);
  write(negated ? "\\P{" : "\\p{");
  if (end - name > 2)
    write("sc:");
  at += name;
  copy(end + 1 - name);
  return true;
}

bool Translation::group() {
  constexpr View kinds[] = {"?:", "?i:", "?=", "?!", "?>", "?<=", "?<!"};
  if (peek(1) != '?' && peek(1) != '*') {
    copy();
    return true;
  }
  for (View kind : kinds) {
    size_t same = 0;
    while (same < kind.size() && peek(1 + same) == kind[same])
      ++same;
    if (same == kind.size()) {
      copy(1 + same);
      return true;
    }
  }
  return refuse(3);
}

bool Translation::digits() {
  bool any = isDigit(peek());
  while (isDigit(peek()))
    copy();
  return any;
}

// {2} {2,} {2,3}, and neither + nor ? behind it
bool Translation::repetition() {
  size_t begin = at;
  copy();
  bool known = digits();
  if (known && peek() == ',') {
    copy();
    digits();
  }
  known = known && peek() == '}';
  if (known)
    copy();
  if (known && peek() != '+' && peek() != '?')
    return true;
  size_t shown = at + 1 - begin;
  at = begin;
  return refuse(shown);
}

} // namespace

bool translateRegex(const JsonDocument &file, View pattern, Array<uint32_t> &out) {
  return Translation(file, out).translate(pattern);
}

} // namespace attn
