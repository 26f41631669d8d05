// ParseExpr.cpp: expressions, loosest binding first.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   |>   ??   |   or   and   not   comparisons   + -   * / // % @   unary -   ^   call [index] as .key at
//
// One function a level where levels differ, one table for those that are alike. Whatever can be written n times in a
// row is a loop, not a recursion; what nests goes through a Nesting, so no text can exhaust the stack.
#include "frontend/ParserState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <optional>

using namespace llvm;

namespace attn {

namespace {

struct Operator {
  StringRef text;
  BinaryOp op;
};

/// Left-associative levels, loosest first; between `and` and `+` stand `not` and the comparisons.
constexpr Operator bars[] = {{"|", BinaryOp::bar}};
constexpr Operator ors[] = {{"or", BinaryOp::or_}};
constexpr Operator ands[] = {{"and", BinaryOp::and_}};
constexpr Operator sums[] = {{"+", BinaryOp::add}, {"-", BinaryOp::subtract}};
constexpr Operator products[] = {{"*", BinaryOp::multiply},
                                 {"/", BinaryOp::divide},
                                 {"//", BinaryOp::floorDivide},
                                 {"%", BinaryOp::modulo},
                                 {"@", BinaryOp::matmul}};
const ArrayRef<Operator> levels[] = {bars, ors, ands, sums, products};
enum Level : unsigned { barLevel, orLevel, andLevel, sumLevel, productLevel };

struct Comparison {
  StringRef text;
  CompareOp op;
};
constexpr Comparison comparisons[] = {{"<", CompareOp::less},    {"<=", CompareOp::lessEqual},
                                      {">", CompareOp::greater}, {">=", CompareOp::greaterEqual},
                                      {"==", CompareOp::equal},  {"!=", CompareOp::notEqual}};

template <typename Table> auto find(const Table &table, const Token &token) {
  return find_if(table, [&](auto &entry) { return token.is(entry.text); });
}

bool isOperator(const Token &token) {
  auto in = [&](auto &table) { return find(table, token) != std::end(table); };
  return in(comparisons) || any_of(levels, in) || token.is("^") || token.is("??");
}

} // namespace

StringRef spelling(BinaryOp op) {
  if (op == BinaryOp::orElse)
    return "??";
  for (ArrayRef<Operator> level : levels)
    for (const Operator &candidate : level)
      if (candidate.op == op)
        return candidate.text;
  return "^";
}

StringRef spelling(CompareOp op) {
  return comparisons[static_cast<unsigned>(op)].text;
}

//===-- Nodes -------------------------------------------------------------------------------------------------------===

const Expr *Parser::checked(Expr *node, ArrayRef<const Expr *> children, ArrayRef<const Block *> blocks) {
  for (const Expr *child : children)
    node->height = std::max(node->height, child->height + 1);
  for (const Block *body : blocks)
    node->height = std::max(node->height, body->height + 1);
  if (node->height > Expr::maxHeight)
    return tooDeep(node->range);
  return node;
}

const Expr *Parser::unary(const Token &op, UnaryOp kind, const Expr *operand) {
  return checked(make<UnaryExpr>(since(op), kind, operand), operand);
}

const Expr *Parser::binary(SMRange range, BinaryOp op, SMRange opRange, const Expr *lhs, const Expr *rhs) {
  return checked(make<BinaryExpr>(range, op, opRange, lhs, rhs), {lhs, rhs});
}

//===-- Operators ---------------------------------------------------------------------------------------------------===

const Expr *Parser::parseExpr() {
  Nesting nesting(*this);
  if (!nesting.ok())
    return nullptr;
  bool outer = std::exchange(pathAllowed, true);
  const Token &first = peek();
  const Expr *value = parseOrElse();
  if (value && peek().is("|>"))
    value = parsePipe(first, value);
  pathAllowed = outer;
  return value;
}

/// Stages: each takes the value so far as its first argument.
const Expr *Parser::parsePipe(const Token &first, const Expr *value) {
  while (value && eat("|>")) {
    const Token &stage = peek();
    Ident callee;
    if (!needName(callee, "a function after `|>`"))
      return nullptr;
    value = parseCall(stage, callee, value);
    value = value ? parsePostfix(first, value, /*isStage=*/true) : nullptr;
  }
  if (value && isOperator(peek()))
    return fail(peek().range, "`" + peek().text + "` after a stage of `|>` needs parentheses around the stages");
  return value;
}

/// `a ?? b ?? c` is a ?? (b ?? c).
const Expr *Parser::parseOrElse() {
  struct Operand {
    const Token *first;
    const Expr *expr;
    SMRange op; ///< the operator after it
  };
  SmallVector<Operand> operands;
  do {
    const Token &first = peek();
    const Expr *expr = parseLevel(barLevel);
    if (!expr)
      return nullptr;
    operands.push_back({&first, expr, peek().range});
  } while (eat("??"));
  const Expr *value = operands.pop_back_val().expr;
  for (; value && !operands.empty(); operands.pop_back()) {
    const Operand &left = operands.back();
    value = binary(since(*left.first), BinaryOp::orElse, left.op, left.expr, value);
  }
  return value;
}

const Expr *Parser::parseLevel(unsigned level) {
  auto parseOperand = [&] {
    return level == andLevel ? parseNot() : level == productLevel ? parseNegation() : parseLevel(level + 1);
  };
  const Token &first = peek();
  const Expr *value = parseOperand();
  for (auto op = find(levels[level], peek()); value && op != levels[level].end(); op = find(levels[level], peek())) {
    SMRange where = peek().range;
    next();
    const Expr *rhs = parseOperand();
    value = rhs ? binary(since(first), op->op, where, value, rhs) : nullptr;
  }
  return value;
}

const Expr *Parser::parseNot() {
  SmallVector<const Token *> nots;
  for (; peek().is("not"); next())
    nots.push_back(&peek());
  const Expr *value = parseCompare();
  for (; value && !nots.empty(); nots.pop_back())
    value = unary(*nots.back(), UnaryOp::not_, value);
  return value;
}

const Expr *Parser::parseCompare() {
  const Token &first = peek();
  SmallVector<const Expr *> terms;
  SmallVector<CompareOp> ops;
  while (true) {
    const Expr *term = parseLevel(sumLevel);
    if (!term)
      return nullptr;
    terms.push_back(term);
    auto comparison = find(comparisons, peek());
    if (comparison == std::end(comparisons))
      break;
    ops.push_back(comparison->op);
    next();
  }
  if (ops.empty())
    return terms[0];
  return checked(make<CompareExpr>(since(first), keep(terms), keep(ops)), terms);
}

const Expr *Parser::parseNegation() {
  SmallVector<const Token *> minuses;
  for (; peek().is("-"); next())
    minuses.push_back(&peek());
  const Expr *value = parsePower();
  for (; value && !minuses.empty(); minuses.pop_back())
    value = unary(*minuses.back(), UnaryOp::negate, value);
  return value;
}

/// `a ^ b` with b a negation again, which may hold the next `^`: right-associative.
const Expr *Parser::parsePower() {
  const Token &first = peek();
  const Expr *base = parsePrimary();
  base = base ? parsePostfix(first, base, /*isStage=*/false) : nullptr;
  if (!base || !peek().is("^"))
    return base;
  SMRange where = peek().range;
  next();
  Nesting nesting(*this);
  const Expr *exponent = nesting.ok() ? parseNegation() : nullptr;
  return exponent ? binary(since(first), BinaryOp::power, where, base, exponent) : nullptr;
}

//===-- What follows a value ----------------------------------------------------------------------------------------===

const Expr *Parser::parsePostfix(const Token &first, const Expr *value, bool isStage) {
  while (value) {
    if (peek().is("["))
      value = parseIndex(first, value);
    else if (peek().is("as"))
      value = parseAs(first, value);
    else if (peek().is(".") && !isStage)
      value = parseField(first, value);
    else if (peek().is("at") && pathAllowed)
      return fail(peek().range, isa<CallExpr>(value) && cast<CallExpr>(value)->at ? "a call has one `at`"
                                                                                  : "`at` follows a call directly");
    else
      return value;
  }
  return value;
}

const Expr *Parser::parseIndex(const Token &first, const Expr *base) {
  Shape indices;
  SMRange open = peek().range;
  if (!parseShape(indices))
    return nullptr;
  if (indices.dims.empty())
    return fail(open, "an index needs at least one expression");
  SmallVector<const Expr *> children(indices.dims);
  children.push_back(base);
  return checked(make<IndexExpr>(since(first), base, indices.dims), children);
}

const Expr *Parser::parseAs(const Token &first, const Expr *base) {
  next();
  Shape shape;
  if (!peek().is("["))
    return expected("a shape such as `[T,E]` after `as`");
  if (!parseShape(shape))
    return nullptr;
  SmallVector<const Expr *> children(shape.dims);
  children.push_back(base);
  return checked(make<AsExpr>(since(first), base, shape), children);
}

const Expr *Parser::parseField(const Token &first, const Expr *base) {
  next();
  Ident field;
  if (!needName(field, "a key after `.`"))
    return nullptr;
  return checked(make<FieldExpr>(since(first), base, field), base);
}

/// Arguments, if there are any, and `at "p"`; of a stage of `|>`, the piped value goes in front.
const Expr *Parser::parseCall(const Token &first, Ident callee, const Expr *piped) {
  SmallVector<Argument> args;
  if (piped) {
    args.emplace_back();
    args.back().value = piped;
    args.back().range = piped->range;
  }
  if ((peek().is("(") || !piped) && !parseArguments(args))
    return nullptr;
  const StringExpr *path = nullptr;
  SmallVector<const Expr *> children;
  for (const Argument &arg : args)
    children.push_back(arg.value);
  if (pathAllowed && eat("at")) {
    if (!(path = parseString("a string after `at`")))
      return nullptr;
    children.push_back(path);
  }
  SMRange own = since(first);
  auto *call = make<CallExpr>(piped ? since(piped->range.Start) : own, callee, keep(args), piped != nullptr);
  call->at = path;
  call->callRange = own;
  return checked(call, children);
}

bool Parser::parseArguments(SmallVectorImpl<Argument> &args) {
  next();
  while (!eat(")")) {
    Argument &argument = args.emplace_back();
    if (!parseArgument(argument))
      return false;
    if (peek().is("="))
      return fail(peek().range, "a named argument is written `name: value`");
    if (!peek().is(")") && !eat(","))
      return expected("`,` or `)`");
  }
  return true;
}

bool Parser::parseArgument(Argument &argument) {
  const Token &first = peek();
  argument.value = parseExpr();
  if (!argument.value)
    return false;
  if (peek().is(":")) {
    if (!nameArgument(argument))
      return fail(since(first), "expected a name, or a name with names in parentheses, before `:`");
    next();
    if (!(argument.value = parseExpr()))
      return false;
  }
  argument.range = since(first);
  return true;
}

/// What was read as `name` or `name(a, b)` turns out to stand before `:`.
bool Parser::nameArgument(Argument &argument) {
  if (auto *name = dyn_cast<NameExpr>(argument.value)) {
    argument.name = {name->name, name->range};
    return true;
  }
  auto *call = dyn_cast<CallExpr>(argument.value);
  if (!call || call->at || call->piped)
    return false;
  SmallVector<Ident> binders;
  for (const Argument &inner : call->args) {
    auto *name = dyn_cast<NameExpr>(inner.value);
    if (!name || inner.name)
      return false;
    binders.push_back({name->name, name->range});
  }
  argument.name = call->callee;
  argument.hasBinders = true;
  argument.binders = keep(binders);
  return true;
}

//===-- Values ------------------------------------------------------------------------------------------------------===

const Expr *Parser::parsePrimary() {
  const Token &token = peek();
  if (token.kind == Token::Kind::number)
    return parseNumber();
  if (token.kind == Token::Kind::string)
    return parseString("a string");
  if (token.is("("))
    return parseParentheses();
  if (token.is("if"))
    return parseIf();
  if (token.is("mix"))
    return parseMix();
  if (token.is("repeat"))
    return parseRepeat();
  using Value = ConstantExpr::Value;
  if (eat("none"))
    return make<ConstantExpr>(token.range, Value::none);
  if (eat("true"))
    return make<ConstantExpr>(token.range, Value::true_);
  if (eat("false"))
    return make<ConstantExpr>(token.range, Value::false_);
  Ident name;
  if (!needName(name, "an expression"))
    return nullptr;
  if (peek().is("("))
    return parseCall(token, name, nullptr);
  return make<NameExpr>(token.range, name.text);
}

const Expr *Parser::parseNumber() {
  const Token &token = peek();
  next();
  int64_t integer = 0;
  double real = 0;
  bool isInteger = all_of(token.text, isDigit);
  bool bad = isInteger ? token.text.getAsInteger(10, integer) : token.text.getAsDouble(real) || std::isinf(real);
  if (bad)
    return fail(token.range, "the number is too large");
  return make<NumberExpr>(token.range, isInteger ? static_cast<double>(integer) : real, isInteger, integer, token.text);
}

const Expr *Parser::parseParentheses() {
  const Token &first = peek();
  next();
  SmallVector<const Expr *> list;
  unsigned height = 0;
  if (!parseList(list, height))
    return nullptr;
  if (!eat(")"))
    return expected("`,` or `)`");
  return list.size() == 1 ? list[0] : checked(make<TupleExpr>(since(first), keep(list)), list);
}

const Expr *Parser::parseIf() {
  Nesting nesting(*this);
  if (!nesting.ok())
    return nullptr;
  const Token &first = peek();
  next();
  const Expr *condition = parseExpr();
  const Block *then = condition ? parseBlock() : nullptr;
  if (!then)
    return nullptr;
  SmallVector<const Block *> blocks = {then};
  if (eat("else")) {
    blocks.push_back(peek().is("if") ? parseAsBlock() : parseBlock());
    if (!blocks.back())
      return nullptr;
  }
  return checked(make<IfExpr>(since(first), condition, then, blocks.size() > 1 ? blocks[1] : nullptr), condition,
                 blocks);
}

const Expr *Parser::parseMix() {
  const Token &first = peek();
  next();
  Ident variable;
  if (!needName(variable, "a name after `mix`") || !need("in", " after `mix " + variable.text + "`"))
    return nullptr;
  const Expr *selection = parseExpr();
  const Block *body = selection ? parseBlock() : nullptr;
  return body ? checked(make<MixExpr>(since(first), variable, selection, body), selection, body) : nullptr;
}

const Expr *Parser::parseRepeat() {
  const Token &first = peek();
  next();
  Ident variable;
  if (!needName(variable, "a name after `repeat`") || !need("in", " after `repeat " + variable.text + "`"))
    return nullptr;
  SmallVector<const Expr *> children = {parseBound()};
  if (children[0] && eat(".."))
    children.push_back(parseBound());
  if (!children.back())
    return nullptr;
  const Expr *upper = children.size() > 1 ? children[1] : nullptr;
  const StringExpr *path = nullptr;
  if (eat("at")) {
    if (!(path = parseString("a string after `at`")))
      return nullptr;
    children.push_back(path);
  }
  const Block *body = parseBlock();
  return body ? checked(make<RepeatExpr>(since(first), variable, children[0], upper, path, body), children, body)
              : nullptr;
}

/// A sum whose calls leave `at` to the loop.
const Expr *Parser::parseBound() {
  bool outer = std::exchange(pathAllowed, false);
  const Expr *bound = parseLevel(sumLevel);
  pathAllowed = outer;
  return bound;
}

} // namespace attn
