// Parser.cpp: items, blocks and statements; expressions are read in ParseExpr.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recursive descent with one token of look-ahead. A function that fails has reported its error and returns null; the
// nearest loop over statements, entries or items then skips to where its next one can begin. The lexer has balanced the
// brackets, so skipping is counting.
#include "frontend/ParserState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace attn {

namespace {

const Ident &identOf(const Ident &ident) {
  return ident;
}
template <typename T> const Ident &identOf(const T &named) {
  return named.name;
}

bool beginsItem(const Token &token) {
  return token.kind == Token::Kind::word &&
         is_contained({"attn", "config", "weights", "tokenizer", "input", "use", "let", "require", "export", "fn"},
                      token.text);
}

} // namespace

//===-- Tokens and errors -------------------------------------------------------------------------------------------===

std::string Parser::describe(const Token &token) const {
  if (token.kind == Token::Kind::end)
    return endName.str();
  if (token.kind == Token::Kind::newline)
    return token.text == ";" ? "`;`" : "the end of the line";
  if (token.kind == Token::Kind::string)
    return "a string";
  if (token.kind == Token::Kind::word && isReserved(token.text) && !token.field)
    return ("the word `" + token.text + "`").str();
  return ("`" + token.text + "`").str();
}

/// Reports unless that is a consequence of an unclosed bracket or of an error at the same token.
Report Parser::error(SMRange range, const Twine &message) {
  const char *where = range.Start.getPointer();
  bool silent = peek().synthetic || where == lastError;
  for (SMRange spoiled : tokens.spoiled)
    silent |= where >= spoiled.Start.getPointer() && where <= spoiled.End.getPointer();
  lastError = where;
  reportLexErrors(where);
  return silent ? Report(diags, false) : diags.error(range, message);
}

void Parser::reportLexErrors(const char *before) {
  for (; lexErrors < tokens.errors.size(); ++lexErrors) {
    const LexError &found = tokens.errors[lexErrors];
    if (before && found.range.Start.getPointer() > before)
      return;
    Report report = diags.error(found.range, found.message);
    if (found.noteRange.isValid())
      report.note(found.noteRange, found.note);
  }
}

/// At the end of the text the caret stands behind the last token, not on an empty line.
Failure Parser::expected(const Twine &what) {
  SMRange where = peek().range;
  if (peek().kind == Token::Kind::end && index > 0)
    where = {tokens.list[index - 1].range.End, tokens.list[index - 1].range.End};
  error(where, "expected " + what + ", found " + describe(peek()));
  return {};
}

bool Parser::need(StringRef symbol, const Twine &after) {
  if (eat(symbol))
    return true;
  expected("`" + symbol + "`" + after);
  return false;
}

bool Parser::needName(Ident &name, const Twine &what) {
  const Token &token = peek();
  if (token.kind != Token::Kind::word || (isReserved(token.text) && !token.field)) {
    expected(what);
    return false;
  }
  name = {token.text, token.range};
  next();
  return true;
}

/// An error where `name` is that of an earlier one of `list`.
template <typename List> void Parser::refuseTwice(const Ident &name, StringRef what, const List &list) {
  for (const auto &other : list)
    if (name && identOf(other).text == name.text)
      return void(error(name.range, "`" + name.text + "` is the name of two " + what)
                      .note(identOf(other).range, "the first one is here"));
}

void Parser::skipNewlines() {
  while (peek().kind == Token::Kind::newline)
    next();
}

/// To the end of the statement or entry: a line end (or a comma, for entries) or the `}` of the block around.
void Parser::skipStatement(bool stopAtComma) {
  unsigned open = 0;
  for (; peek().kind != Token::Kind::end; next()) {
    const Token &token = peek();
    if (open == 0 && (token.kind == Token::Kind::newline || token.is("}") || (stopAtComma && token.is(","))))
      return;
    if (token.is("{") || token.is("(") || token.is("["))
      ++open;
    else if ((token.is("}") || token.is(")") || token.is("]")) && open > 0)
      --open;
  }
}

/// To the end of the declaration; where none had begun, to a line that begins with a word of a declaration.
void Parser::skipItem(bool hadBegun) {
  for (unsigned open = 0; peek().kind != Token::Kind::end; next()) {
    if (peek().kind == Token::Kind::newline && open == 0 && (hadBegun || beginsItem(peek(1))))
      return;
    if (peek().is("{"))
      ++open;
    else if (peek().is("}") && open > 0)
      --open;
  }
}

/// Entries of `config` and `weights`, parted by commas or line ends.
bool Parser::parseEntries(StringRef block, function_ref<bool()> parseEntry) {
  if (!need("{", " after `" + block + "`"))
    return false;
  while (true) {
    while (peek().kind == Token::Kind::newline || peek().is(","))
      next();
    if (eat("}"))
      return true;
    if (peek().kind == Token::Kind::end)
      return expected("`}`");
    bool parsed = parseEntry();
    if (parsed && peek().kind != Token::Kind::newline && !peek().is(",") && !peek().is("}"))
      parsed = expected("`,` or the end of the line");
    if (!parsed)
      skipStatement(/*stopAtComma=*/true);
  }
}

//===-- Items -------------------------------------------------------------------------------------------------------===

void Parser::parseItems() {
  skipNewlines();
  if (peek().kind == Token::Kind::end && tokens.errors.empty())
    error(peek().range, "the file has no declarations");
  while (peek().kind != Token::Kind::end && !diags.full()) {
    bool begins = beginsItem(peek());
    const Item *item = parseItem();
    if (item)
      file.items.push_back(item);
    if (item && peek().kind != Token::Kind::newline && peek().kind != Token::Kind::end)
      item = expected("the end of the line after a declaration");
    if (!item)
      skipItem(begins);
    skipNewlines();
  }
  reportLexErrors();
}

const Item *Parser::parseItem() {
  using Read = const Item *(Parser::*)(const Token &);
  const Token &first = peek();
  Read read = StringSwitch<Read>(first.kind == Token::Kind::word ? first.text : "")
                  .Case("attn", &Parser::parseVersion)
                  .Case("config", &Parser::parseConfig)
                  .Case("weights", &Parser::parseWeights)
                  .Case("tokenizer", &Parser::parseTokenizer)
                  .Case("input", &Parser::parseInput)
                  .Case("use", &Parser::parseUse)
                  .Case("let", &Parser::parseLet)
                  .Case("require", &Parser::parseRequire)
                  .Cases({"export", "fn"}, &Parser::parseFunction)
                  .Default(nullptr);
  if (!read)
    return expected("a declaration (`config`, `weights`, `let`, `fn`, …)");
  if (first.text != "export" && first.text != "fn")
    next();
  return (this->*read)(first);
}

const Item *Parser::parseVersion(const Token &first) {
  const Token &number = peek();
  if (number.kind != Token::Kind::number)
    return expected("the number of the edition after `attn`");
  next();
  if (number.text != "1")
    return fail(number.range, "edition " + number.text + " is unknown; this compiler reads edition 1");
  if (!file.items.empty())
    return fail(first.range, "`attn 1` stands before all other declarations");
  return make<VersionItem>(since(first), 1u);
}

const Item *Parser::parseConfig(const Token &first) {
  const StringExpr *path = nullptr;
  if (eat("at") && !(path = parseString("the name of an object of config.json")))
    return nullptr;
  SmallVector<ConfigEntry> entries;
  if (!parseEntries("config", [&] {
        ConfigEntry entry;
        bool ok = parseConfigEntry(entry);
        if (ok)
          entries.push_back(entry);
        return ok;
      }))
    return nullptr;
  return make<ConfigBlock>(since(first), path, keep(entries));
}

bool Parser::parseConfigEntry(ConfigEntry &entry) {
  const Token &first = peek();
  if (first.is("ignore") && peek(1).kind == Token::Kind::string) {
    next();
    entry.ignored = parseString("the key to ignore");
  } else {
    if (!needName(entry.name, "a name for a value of the configuration"))
      return false;
    if (!need("=", " after `" + entry.name.text + "`"))
      return false;
    entry.value = parseExpr();
  }
  entry.range = since(first);
  return entry.value || entry.ignored;
}

const Item *Parser::parseWeights(const Token &first) {
  SmallVector<WeightsEntry> entries;
  if (!parseEntries("weights", [&] {
        WeightsEntry entry;
        bool ok = parseWeightsEntry(entry);
        if (ok)
          entries.push_back(entry);
        return ok;
      }))
    return nullptr;
  return make<WeightsBlock>(since(first), keep(entries));
}

bool Parser::parseWeightsEntry(WeightsEntry &entry) {
  const Token &first = peek();
  entry.optional = eat("optional");
  const Token &word = peek();
  if (entry.optional && !word.is("prefix"))
    return expected("`prefix` after `optional`");
  if (word.is("prefix") || word.is("rename") || word.is("ignore")) {
    next();
    entry.kind = word.is("prefix")   ? WeightsEntry::Kind::prefix
                 : word.is("rename") ? WeightsEntry::Kind::rename
                                     : WeightsEntry::Kind::ignore;
    if (!(entry.first = parseString("a string after `" + word.text + "`")))
      return false;
    if (word.is("rename") && !(entry.second = parseString("the new part of the name")))
      return false;
  } else if (eat("stored")) {
    entry.kind = WeightsEntry::Kind::stored;
    if (!parseStored(entry))
      return false;
  } else {
    return expected("`prefix`, `optional prefix`, `rename`, `ignore` or `stored`");
  }
  entry.range = since(first);
  return true;
}

/// `[in, out]` or `[out, in]`: how the file lays out the matrices of `linear` and `dense`.
bool Parser::parseStored(WeightsEntry &entry) {
  const Token &open = peek();
  if (!need("[", " after `stored`"))
    return false;
  StringRef a = peek().text;
  next();
  bool comma = eat(",");
  StringRef b = peek().text;
  next();
  if (!comma || !eat("]") || !((a == "in" && b == "out") || (a == "out" && b == "in")))
    return fail(since(open), "a layout is `[in, out]` or `[out, in]`");
  entry.inFirst = a == "in";
  return true;
}

const Item *Parser::parseTokenizer(const Token &first) {
  const StringExpr *path = parseString("the name of a file after `tokenizer`");
  return path ? make<TokenizerItem>(since(first), path) : nullptr;
}

const Item *Parser::parseInput(const Token &first) {
  Ident name;
  SmallVector<Argument> args;
  if (!needName(name, "a kind of input, as in `input image(…)`"))
    return nullptr;
  if (!peek().is("("))
    return expected("`(` after `input " + name.text + "`");
  return parseArguments(args) ? make<InputItem>(since(first), name, keep(args)) : nullptr;
}

const Item *Parser::parseUse(const Token &first) {
  const StringExpr *path = parseString("the name of a file after `use`");
  if (!path)
    return nullptr;
  SmallVector<Ident> names;
  if (eat("(")) {
    do {
      if (!needName(names.emplace_back(), "the name of a function"))
        return nullptr;
    } while (eat(","));
    if (!eat(")"))
      return expected("`,` or `)`");
  }
  return make<UseItem>(since(first), path, keep(names));
}

const Item *Parser::parseLet(const Token &first) {
  Ident name;
  if (!needName(name, "a name after `let`") || !need("=", " after `let " + name.text + "`"))
    return nullptr;
  const Expr *value = parseExpr();
  return value ? make<LetItem>(since(first), name, value) : nullptr;
}

const Item *Parser::parseRequire(const Token &first) {
  const Expr *condition = parseExpr();
  return condition ? make<RequireItem>(since(first), condition) : nullptr;
}

//===-- Functions ---------------------------------------------------------------------------------------------------===

const Item *Parser::parseFunction(const Token &first) {
  bool exported = eat("export");
  Ident name;
  if (!need("fn", " after `export`") || !needName(name, "the name of the function"))
    return nullptr;
  SmallVector<Parameter> params;
  SmallVector<Result> results;
  if (!parseParameters(name, params))
    return nullptr;
  bool arrow = eat("->");
  if (arrow && !parseResults(results))
    return nullptr;
  bool equals = eat("=");
  if (!equals && !peek().is("{"))
    return expected("`=` or `{` and the body of `" + name.text + "`");
  const Block *body = equals ? parseAsBlock() : parseBlock();
  return body ? make<FnDecl>(since(first), exported, name, keep(params), arrow, keep(results), equals, body) : nullptr;
}

bool Parser::parseParameters(Ident function, SmallVectorImpl<Parameter> &params) {
  if (!need("(", " after `fn " + function.text + "`"))
    return false;
  while (!eat(")")) {
    Parameter param;
    const Token &first = peek();
    if (!needName(param.name, "the name of a parameter"))
      return false;
    refuseTwice(param.name, "parameters", params);
    if (peek().is("[")) {
      param.hasShape = true;
      if (!parseShape(param.shape))
        return false;
    }
    if (eat("=") && !(param.defaultValue = parseExpr()))
      return false;
    param.range = since(first);
    params.push_back(param);
    if (!peek().is(")") && !need(",", " or `)`"))
      return false;
  }
  return true;
}

bool Parser::parseResults(SmallVectorImpl<Result> &results) {
  bool several = eat("(");
  do {
    if (several && !results.empty() && peek().is(")"))
      break; // a comma at the end
    Result result;
    if (peek().kind == Token::Kind::word && !needName(result.name, "the name of a result"))
      return false;
    refuseTwice(result.name, "results", results);
    if (!peek().is("["))
      return expected("a shape such as `[T,E]`");
    if (!parseShape(result.shape))
      return false;
    results.push_back(result);
  } while (several && eat(","));
  return !several || eat(")") || expected("`,` or `)`");
}

bool Parser::parseShape(Shape &shape) {
  const Token &first = peek();
  next();
  SmallVector<const Expr *> dims;
  while (!eat("]")) {
    const Expr *dim = parseExpr();
    if (!dim)
      return false;
    dims.push_back(dim);
    if (!peek().is("]") && !need(",", " or `]`"))
      return false;
  }
  shape = {keep(dims), since(first)};
  return true;
}

//===-- Blocks and statements ---------------------------------------------------------------------------------------===

const Block *Parser::parseBlock() {
  const Token &first = peek();
  Nesting nesting(*this);
  if (!nesting.ok() || !need("{"))
    return nullptr;
  SmallVector<const Stmt *> statements;
  unsigned height = 0;
  for (skipNewlines(); !eat("}"); skipNewlines()) {
    if (peek().kind == Token::Kind::end)
      return expected("`}`");
    const Stmt *statement = parseStatement(height);
    if (statement && peek().kind != Token::Kind::newline && !peek().is("}"))
      statement = expected("the end of the statement");
    if (statement)
      statements.push_back(statement);
    else
      skipStatement(/*stopAtComma=*/false);
  }
  return make<Block>(keep(statements), since(first), height + 1);
}

/// `= e` as a block.
const Block *Parser::parseAsBlock() {
  const Token &first = peek();
  const Expr *expr = parseExpr();
  if (!expr)
    return nullptr;
  SmallVector<const Stmt *> statements = {make<ExprStmt>(since(first), expr)};
  return make<Block>(keep(statements), since(first), expr->height + 1);
}

const Stmt *Parser::parseStatement(unsigned &height) {
  const Token &first = peek();
  if (first.is("at") && peek(1).kind == Token::Kind::string)
    return parseAt(height);
  if (eat("yield")) {
    SmallVector<const Expr *> values;
    return parseList(values, height) ? make<YieldStmt>(since(first), keep(values)) : nullptr;
  }
  SmallVector<const Expr *> list;
  if (!parseList(list, height))
    return nullptr;
  if (peek().is("=") || peek().is("+="))
    return parseAssign(first, list, height);
  const Expr *value = list[0];
  if (list.size() > 1)
    value = checked(make<TupleExpr>(since(first), keep(list)), list);
  return value ? make<ExprStmt>(since(first), value) : nullptr;
}

bool Parser::parseList(SmallVectorImpl<const Expr *> &list, unsigned &height) {
  do {
    const Expr *expr = parseExpr();
    if (!expr)
      return false;
    height = std::max(height, expr->height);
    list.push_back(expr);
  } while (eat(","));
  return true;
}

const Stmt *Parser::parseAt(unsigned &height) {
  const Token &first = peek();
  next();
  const StringExpr *path = parseString("a string after `at`");
  const Block *body = path ? parseBlock() : nullptr;
  if (!body)
    return nullptr;
  height = std::max(height, body->height + 1);
  return make<AtStmt>(since(first), path, body);
}

/// What was read as expressions turns out to be targets.
const Stmt *Parser::parseAssign(const Token &first, ArrayRef<const Expr *> list, unsigned &height) {
  SmallVector<Ident> targets;
  for (const Expr *target : list) {
    auto *name = dyn_cast<NameExpr>(target);
    if (!name)
      return fail(target->range, "only names can be assigned");
    refuseTwice({name->name, name->range}, "values", targets);
    targets.push_back({name->name, name->range});
  }
  const Token &op = peek();
  next();
  if (op.is("+=") && targets.size() > 1)
    return fail(op.range, "`+=` takes one name");
  const Expr *value = parseExpr();
  if (!value)
    return nullptr;
  height = std::max(height, value->height);
  return make<AssignStmt>(since(first), keep(targets), op.is("+="), value);
}

//===----------------------------------------------------------------------------------------------------------------===

std::unique_ptr<File> parseFile(StringRef name, StringRef text, Diagnostics &diags) {
  auto file = std::make_unique<File>();
  file->name = name;
  file->text = text;
  Parser(lex(text), *file, diags).parseItems();
  return file;
}

} // namespace attn
