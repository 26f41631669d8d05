// ParseString.cpp: strings, with escapes and expressions in braces.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   "encoder.layer.{l}.output"      text, expression, text
//   "a \"quoted\" \{brace\} \\"     the four escapes
//
// A quote ends the string even inside braces, so strings do not nest.
#include "frontend/ParserState.h"

using namespace llvm;

namespace attn {

namespace {

SMRange rangeOf(StringRef slice) {
  return {SMLoc::getFromPointer(slice.begin()), SMLoc::getFromPointer(slice.end())};
}

/// Where the brace closes that is open before `text`; npos if it does not.
size_t findClosingBrace(StringRef text) {
  unsigned depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{')
      ++depth;
    if (text[i] == '}' && depth-- == 0)
      return i;
  }
  return StringRef::npos;
}

} // namespace

const StringExpr *Parser::parseString(const Twine &what) {
  const Token &token = peek();
  if (token.kind != Token::Kind::string)
    return expected(what);
  next();
  SmallVector<StringPiece> pieces;
  if (!token.synthetic && !parsePieces(token, pieces))
    return nullptr;
  SmallVector<const Expr *> children;
  for (const StringPiece &piece : pieces)
    if (piece.expr)
      children.push_back(piece.expr);
  return cast_or_null<StringExpr>(checked(make<StringExpr>(token.range, keep(pieces)), children));
}

bool Parser::parsePieces(const Token &token, SmallVectorImpl<StringPiece> &pieces) {
  StringRef rest = token.text.drop_front().drop_back();
  while (!rest.empty()) {
    if (rest[0] == '{') {
      size_t close = findClosingBrace(rest.drop_front());
      if (close == StringRef::npos)
        return fail(rangeOf(rest.take_front()), "the brace is never closed; a brace as such is written `\\{`");
      if (!parseBraces(rest.substr(1, close), pieces))
        return false;
      rest = rest.drop_front(close + 2);
      continue;
    }
    if (rest[0] == '}')
      return fail(rangeOf(rest.take_front()), "the brace closes nothing; a brace as such is written `\\}`");
    if (!parseText(rest, pieces))
      return false;
  }
  return true;
}

/// Text up to the next brace; takes it off `rest`. Copied only if it holds escapes.
bool Parser::parseText(StringRef &rest, SmallVectorImpl<StringPiece> &pieces) {
  std::string plain;
  size_t at = 0;
  for (; at < rest.size() && rest[at] != '{' && rest[at] != '}'; ++at) {
    if (rest[at] == '\\') {
      if (!StringRef("\"\\{}").contains(rest[at + 1]))
        return fail(rangeOf(rest.substr(at, 2)), "unknown escape; the known ones are `\\\"`, `\\\\`, `\\{` and `\\}`");
      ++at;
    }
    plain += rest[at];
  }
  StringRef text = rest.take_front(at);
  pieces.push_back({plain.size() == at ? text : StringRef(plain).copy(file.arena), nullptr, rangeOf(text)});
  rest = rest.drop_front(at);
  return true;
}

bool Parser::parseBraces(StringRef inside, SmallVectorImpl<StringPiece> &pieces) {
  if (inside.trim().empty())
    return fail({SMLoc::getFromPointer(inside.begin() - 1), SMLoc::getFromPointer(inside.end() + 1)},
                "nothing stands in the braces");
  Parser inner(lex(inside), file, diags);
  inner.depth = depth;
  inner.endName = "`}`";
  const Expr *expr = inner.parseExpr();
  if (expr && inner.peek().kind != Token::Kind::end)
    expr = inner.expected("`}`");
  inner.reportLexErrors();
  pieces.push_back({StringRef(), expr, rangeOf(inside)});
  return expr && inner.tokens.errors.empty();
}

} // namespace attn
