// Lexer.cpp: from characters to tokens, with the rules for line ends and the matching of brackets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two runs. The first cuts the text into raw tokens. The second walks them with a stack of open brackets, drops the
// line ends that do not count and repairs brackets:
//
//   f(a, b }      `(` is never closed: a `)` is put in before `}`
//   x = a)        `)` closes nothing: the statement is skipped from here
//   fn f() { …    fn g()      a function cannot begin inside a block: every open bracket is closed before it
#include "frontend/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace attn {

namespace {

bool startsWord(char c) {
  return isAlpha(c) || c == '_';
}
bool isHighByte(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}
bool continuesWord(char c) {
  return isAlnum(c) || c == '_';
}

constexpr StringRef symbols2[] = {"|>", "??", "->", "..", "+=", "//", "==", "!=", "<=", ">="};
constexpr StringRef symbols1 = "-+*/%^@<>=|(){}[],:.";

/// After these a line goes on: they cannot end an expression.
bool continuesAfter(const Token &token) {
  if (token.kind == Token::Kind::symbol)
    return !is_contained({")", "]", "}", "{"}, token.text);
  return token.kind == Token::Kind::word && !token.field &&
         is_contained({"and", "or", "not", "in", "as", "at", "if", "else", "mix", "repeat", "yield"}, token.text);
}

/// Before these a line goes on: they cannot begin an expression or a statement.
bool continuesBefore(const Token &token) {
  if (token.kind == Token::Kind::symbol)
    return !is_contained({"-", "(", "["}, token.text);
  return token.kind == Token::Kind::word && is_contained({"and", "or", "as", "else", "in"}, token.text);
}

StringRef closerOf(StringRef opener) {
  return opener == "(" ? ")" : opener == "[" ? "]" : "}";
}

class Lexer {
public:
  Lexer(StringRef source, unsigned limit) : text(source), maxErrors(limit) {}

  Tokens run() {
    if (text.starts_with("\xEF\xBB\xBF")) // a byte order mark
      at = 3;
    while (at < text.size())
      readToken();
    add(Token::Kind::end, text.size(), text.size());
    arrange();
    llvm::sort(result.errors, [](const LexError &a, const LexError &b) {
      return a.range.Start.getPointer() < b.range.Start.getPointer();
    });
    return std::move(result);
  }

private:
  // First run: raw tokens.
  void readToken();
  void readNumber();
  void readString();
  void readUnknown();
  void add(Token::Kind kind, size_t from, size_t to) {
    Token token;
    token.kind = kind;
    token.text = text.slice(from, to);
    token.range = range(from, to);
    token.field = kind == Token::Kind::word && !raw.empty() && raw.back().text == ".";
    raw.push_back(token);
    at = to;
  }
  void error(SMRange where, const Twine &message, SMRange noteRange = {}, StringRef note = {}) {
    if (result.errors.size() <= maxErrors)
      result.errors.push_back({where, message.str(), noteRange, note.str()});
  }
  SMRange range(size_t from, size_t to) const {
    return {SMLoc::getFromPointer(text.data() + from), SMLoc::getFromPointer(text.data() + to)};
  }
  template <typename Test> size_t endOf(size_t from, Test test) const {
    while (from < text.size() && test(text[from]))
      ++from;
    return from;
  }

  // Second run: line ends and brackets.
  void arrange();
  size_t addNewline(size_t index);
  void addCloser(const Token &closer);
  bool beginsFunction(size_t index) const;
  void closeAbove(size_t depth, const Token &before);
  void closeAll(const Token &before);
  void pushSynthetic(Token::Kind kind, StringRef what, const Token &before);
  void reportOpen(const Token &opener, const Token &noticed);

  StringRef text;
  unsigned maxErrors;
  size_t at = 0;
  std::vector<Token> raw, open;
  Tokens result;
};

void Lexer::readToken() {
  char c = text[at];
  if (c == ' ' || c == '\t' || c == '\r') {
    ++at;
  } else if (c == '#') {
    at = std::min(text.find('\n', at), text.size());
  } else if (c == '\n' || c == ';') {
    add(Token::Kind::newline, at, at + 1);
  } else if (isDigit(c)) {
    readNumber();
  } else if (c == '"') {
    readString();
  } else if (startsWord(c)) {
    add(Token::Kind::word, at, endOf(at, continuesWord));
  } else if (is_contained(symbols2, text.substr(at, 2))) {
    add(Token::Kind::symbol, at, at + 2);
  } else if (symbols1.contains(c)) {
    add(Token::Kind::symbol, at, at + 1);
  } else {
    readUnknown();
  }
}

/// Digits, then perhaps `.` and digits, then perhaps `e` and an exponent: `0..L` begins with the number 0.
void Lexer::readNumber() {
  size_t from = at, to = endOf(from, [](char c) { return isDigit(c); });
  auto digit = [&](size_t i) { return i < text.size() && isDigit(text[i]); };
  if (to < text.size() && text[to] == '.' && digit(to + 1))
    to = endOf(to + 1, [](char c) { return isDigit(c); });
  if (to < text.size() && (text[to] == 'e' || text[to] == 'E')) {
    size_t exponent = to + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-'))
      ++exponent;
    if (digit(exponent))
      to = endOf(exponent, [](char c) { return isDigit(c); });
  }
  size_t end = endOf(to, continuesWord);
  if (end != to) {
    error(range(from, end), "`" + text.slice(from, end) + "` is neither a number nor a name");
  }
  add(Token::Kind::number, from, to);
  at = end;
}

/// To the closing quote in the same line; a backslash takes the next character along.
void Lexer::readString() {
  size_t from = at, to = from + 1;
  while (to < text.size() && text[to] != '"' && text[to] != '\n')
    to += text[to] == '\\' && to + 1 < text.size() && text[to + 1] != '\n' ? 2 : 1;
  if (to < text.size() && text[to] == '"')
    return add(Token::Kind::string, from, to + 1);
  to = from + text.slice(from, std::min(to, text.size())).rtrim().size();
  error(range(from, to), "the string is never closed");
  add(Token::Kind::string, from, to);
  raw.back().synthetic = true;
}

/// One message for a run of bytes that begin no token; text in single quotes is one run.
void Lexer::readUnknown() {
  auto *begin = reinterpret_cast<const UTF8 *>(text.bytes_begin() + at);
  size_t length = getNumBytesForUTF8(*begin), from = at, to;
  bool isText = at + length <= text.size() && isLegalUTF8Sequence(begin, begin + length) &&
                (length > 1 || (text[at] > 0x20 && text[at] != 0x7F));
  if (isText) {
    StringRef character = text.substr(at, length);
    StringRef hint = character == "!"   ? "; the language writes `not`"
                     : character == "&" ? "; the language writes `and`"
                     : character == "'" ? "; strings stand in double quotes"
                                        : "";
    error(range(from, from + length), "unknown character `" + character + "`" + hint);
    to = endOf(at + length, [&](char c) { return length > 1 ? isHighByte(c) : c == text[from]; });
    size_t quote = character == "'" ? text.find_first_of("'\n", to) : StringRef::npos;
    if (quote != StringRef::npos && text[quote] == '\'')
      to = quote + 1;
  } else {
    to = endOf(at + 1, [](char c) { return isHighByte(c) || c == 0x7F || (c < 0x20 && !isSpace(c)); });
    error(range(from, to), "unknown byte 0x" + utohexstr(static_cast<unsigned char>(text[from]), true, 2));
  }
  add(Token::Kind::unknown, from, to);
  raw.back().synthetic = true;
}

void Lexer::arrange() {
  for (size_t i = 0; i < raw.size();) {
    const Token &token = raw[i];
    if (token.kind == Token::Kind::newline) {
      i = addNewline(i);
      continue;
    }
    if (token.is(")") || token.is("]") || token.is("}")) {
      addCloser(token);
    } else {
      if (!open.empty() && (token.kind == Token::Kind::end || beginsFunction(i)))
        closeAll(token);
      if (token.is("(") || token.is("[") || token.is("{"))
        open.push_back(token);
      result.list.push_back(token);
    }
    ++i;
  }
}

/// Looks at all line ends from here to the next other token; returns that token's index. `;` always counts.
size_t Lexer::addNewline(size_t index) {
  size_t next = index, kept = raw.size();
  for (; raw[next].kind == Token::Kind::newline; ++next)
    if (kept == raw.size() && raw[next].text == ";")
      kept = next;
  bool inParentheses = !open.empty() && !open.back().is("{");
  bool atStart = result.list.empty() || result.list.back().kind == Token::Kind::newline;
  if (kept == raw.size() && !inParentheses && !atStart && !continuesAfter(result.list.back()) &&
      !continuesBefore(raw[next]))
    kept = index;
  if (kept != raw.size() && !atStart)
    result.list.push_back(raw[kept]);
  return next;
}

/// `fn name` or `export fn` is no expression anywhere, so a bracket open before it was forgotten.
bool Lexer::beginsFunction(size_t index) const {
  const Token &next = raw[std::min(index + 1, raw.size() - 1)];
  if (raw[index].is("export"))
    return next.is("fn");
  return raw[index].is("fn") && next.kind == Token::Kind::word && !isReserved(next.text);
}

void Lexer::addCloser(const Token &closer) {
  // The bracket that it closes: the innermost of its kind; `)` and `]` do not look beyond a `{`.
  size_t depth = open.size();
  while (depth > 0 && closerOf(open[depth - 1].text) != closer.text && !(open[depth - 1].is("{") && !closer.is("}")))
    --depth;
  bool found = depth > 0 && closerOf(open[depth - 1].text) == closer.text;
  if (!found && !open.empty() && !closer.is("}") && !open.back().is("{")) {
    error(closer.range, "`" + open.back().text + "` is closed by `" + closer.text + "`", open.back().range,
          "opened here");
    return closeAbove(open.size() - 1, closer);
  }
  if (!found) {
    error(closer.range, "`" + closer.text + "` closes nothing");
    result.list.push_back(closer);
    result.list.back().kind = Token::Kind::unknown;
    result.list.back().synthetic = true;
    return;
  }
  if (depth != open.size()) {
    reportOpen(open.back(), closer);
    closeAbove(depth, closer);
  }
  open.pop_back();
  result.list.push_back(closer);
}

void Lexer::reportOpen(const Token &opener, const Token &noticed) {
  StringRef what = opener.is("{") ? "block" : opener.is("(") ? "parenthesis" : "bracket";
  error(opener.range, "the " + what + " `" + opener.text + "` is never closed");
  result.spoiled.push_back({opener.range.Start, noticed.range.Start});
}

/// Closes all brackets but the outer `depth` ones, as if that were written before `before`.
void Lexer::closeAbove(size_t depth, const Token &before) {
  while (open.size() > depth) {
    pushSynthetic(Token::Kind::symbol, closerOf(open.back().text), before);
    open.pop_back();
  }
}

void Lexer::closeAll(const Token &before) {
  reportOpen(open.back(), before);
  closeAbove(0, before);
  pushSynthetic(Token::Kind::newline, "\n", before);
}

void Lexer::pushSynthetic(Token::Kind kind, StringRef what, const Token &before) {
  Token token;
  token.kind = kind;
  token.text = what;
  token.range = {before.range.Start, before.range.Start};
  token.synthetic = true;
  result.list.push_back(token);
}

} // namespace

Tokens lex(StringRef text, unsigned maxErrors) {
  return Lexer(text, maxErrors).run();
}

bool isReserved(StringRef word) {
  return is_contained(
      {"repeat", "in", "at", "as", "yield", "mix", "if", "else", "and", "or", "not", "none", "true", "false"}, word);
}

} // namespace attn
