// ParserState.h: the parser's class, shared by Parser.cpp (items, statements) and ParseExpr.cpp (expressions).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_FRONTEND_PARSERSTATE_H
#define ATTN_FRONTEND_PARSERSTATE_H

#include "frontend/Lexer.h"
#include "frontend/Parser.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace attn {

/// What a function that has reported its error gives back: null, or false.
struct Failure {
  template <typename T> operator T *() const { return nullptr; }
  operator bool() const { return false; }
};

class Parser {
public:
  Parser(Tokens list, File &target, Diagnostics &diagnostics)
      : tokens(std::move(list)), file(target), diags(diagnostics) {}
  void parseItems();

private:
  template <typename T> using Out = llvm::SmallVectorImpl<T>;

  // Tokens and errors.
  const Token &peek(size_t ahead = 0) const { return tokens.list[std::min(index + ahead, tokens.list.size() - 1)]; }
  void next() { index = std::min(index + 1, tokens.list.size() - 1); }
  bool eat(StringRef symbol) {
    bool hit = peek().is(symbol);
    if (hit)
      next();
    return hit;
  }
  bool need(StringRef symbol, const llvm::Twine &after = "");
  bool needName(Ident &name, const llvm::Twine &what);
  Report error(SMRange range, const llvm::Twine &message);
  Failure fail(SMRange range, const llvm::Twine &message) {
    error(range, message);
    return {};
  }
  /// Reports what the lexer found before this place, or all of it.
  void reportLexErrors(const char *before = nullptr);
  Failure expected(const llvm::Twine &what);
  std::string describe(const Token &token) const;
  /// From a token to the last one taken.
  SMRange since(const Token &first) const { return since(first.range.Start); }
  SMRange since(llvm::SMLoc start) const { return {start, index ? tokens.list[index - 1].range.End : start}; }
  void skipNewlines();
  void skipStatement(bool stopAtComma);
  void skipItem(bool hadBegun);

  // Nodes.
  template <typename Node, typename... Args> Node *make(Args &&...args) {
    return new (file.arena.Allocate<Node>()) Node(std::forward<Args>(args)...);
  }
  template <typename T> ArrayRef<T> keep(const Out<T> &list) {
    T *copy = file.arena.Allocate<T>(list.size());
    std::uninitialized_copy(list.begin(), list.end(), copy);
    return {copy, list.size()};
  }
  /// Sets the height of a node above `children`; null and an error where the tree becomes too high.
  const Expr *checked(Expr *node, ArrayRef<const Expr *> children, ArrayRef<const Block *> blocks = {});

  /// One level of brackets or prefix operators while it lives.
  class Nesting {
  public:
    explicit Nesting(Parser &p) : parser(p) { ++parser.depth; }
    ~Nesting() { --parser.depth; }
    Nesting(const Nesting &) = delete;
    bool ok() { return parser.depth <= Expr::maxHeight || parser.tooDeep(parser.peek().range); }

  private:
    Parser &parser;
  };
  Failure tooDeep(SMRange range) {
    return fail(range, "nested too deeply, more than " + llvm::Twine(Expr::maxHeight) + " levels");
  }

  template <typename List> void refuseTwice(const Ident &name, StringRef what, const List &list);

  // Items.
  const Item *parseItem();
  const Item *parseVersion(const Token &first);
  const Item *parseConfig(const Token &first);
  const Item *parseWeights(const Token &first);
  const Item *parseTokenizer(const Token &first);
  const Item *parseInput(const Token &first);
  const Item *parseUse(const Token &first);
  const Item *parseLet(const Token &first);
  const Item *parseRequire(const Token &first);
  const Item *parseFunction(const Token &first);
  bool parseEntries(StringRef block, llvm::function_ref<bool()> parseEntry);
  bool parseConfigEntry(ConfigEntry &entry);
  bool parseWeightsEntry(WeightsEntry &entry);
  bool parseStored(WeightsEntry &entry);
  bool parseParameters(Ident function, Out<Parameter> &params);
  bool parseResults(Out<Result> &results);
  bool parseShape(Shape &shape);

  // Statements. `height` is raised to that of what was read.
  const Block *parseBlock();
  const Block *parseAsBlock();
  const Stmt *parseStatement(unsigned &height);
  const Stmt *parseAssign(const Token &first, ArrayRef<const Expr *> list, unsigned &height);
  const Stmt *parseAt(unsigned &height);
  bool parseList(Out<const Expr *> &list, unsigned &height);

  // Expressions.
  const Expr *parseExpr();
  const Expr *parsePipe(const Token &first, const Expr *value);
  const Expr *parseOrElse();
  const Expr *parseLevel(unsigned level);
  const Expr *parseNot();
  const Expr *parseCompare();
  const Expr *parseNegation();
  const Expr *parsePower();
  const Expr *parsePostfix(const Token &first, const Expr *value, bool isStage);
  const Expr *parseIndex(const Token &first, const Expr *base);
  const Expr *parseAs(const Token &first, const Expr *base);
  const Expr *parseField(const Token &first, const Expr *base);
  const Expr *parsePrimary();
  const Expr *parseParentheses();
  const Expr *parseNumber();
  const Expr *parseIf();
  const Expr *parseMix();
  const Expr *parseRepeat();
  const Expr *parseBound();
  const Expr *parseCall(const Token &first, Ident callee, const Expr *piped);
  bool parseArguments(Out<Argument> &args);
  bool parseArgument(Argument &argument);
  bool nameArgument(Argument &argument);
  const StringExpr *parseString(const llvm::Twine &what);
  bool parsePieces(const Token &token, Out<StringPiece> &pieces);
  bool parseText(StringRef &rest, Out<StringPiece> &pieces);
  bool parseBraces(StringRef inside, Out<StringPiece> &pieces);
  const Expr *unary(const Token &op, UnaryOp kind, const Expr *operand);
  const Expr *binary(SMRange range, BinaryOp op, SMRange opRange, const Expr *lhs, const Expr *rhs);

  Tokens tokens;
  File &file;
  Diagnostics &diags;
  size_t index = 0, lexErrors = 0; ///< how many tokens are taken, how many errors of the lexer reported
  unsigned depth = 0;
  bool pathAllowed = true; ///< false in the bounds of `repeat`, where `at` belongs to the loop
  const char *lastError = nullptr;
  StringRef endName = "the end of the file";
};

} // namespace attn

#endif // ATTN_FRONTEND_PARSERSTATE_H
