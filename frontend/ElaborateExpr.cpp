// ElaborateExpr.cpp: expressions: names, operators, strings, `if`, `[ ]`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "frontend/Elaborator.h"
#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;

namespace attn {

/// A file writes out its functions and some of its loops; this bounds what it can ask for.
static constexpr int64_t maxSteps = 1'000'000;

Value Elaborator::eval(const Expr *e) {
  if (isStopping() || steps > maxSteps)
    return Value::poison();
  if (++steps > maxSteps)
    return fail(e->range, "written out turn by turn, this file has more than " + llvm::Twine(maxSteps) + " steps");
  switch (e->kind) {
  case Expr::Kind::number: {
    auto *n = llvm::cast<NumberExpr>(e);
    return Value::of(n->value, n->isInteger);
  }
  case Expr::Kind::string:
    return evalString(*llvm::cast<StringExpr>(e));
  case Expr::Kind::name:
    return evalName(*llvm::cast<NameExpr>(e));
  case Expr::Kind::constant: {
    auto value = llvm::cast<ConstantExpr>(e)->value;
    return value == ConstantExpr::Value::none ? Value::none() : Value::of(value == ConstantExpr::Value::true_);
  }
  case Expr::Kind::tuple: {
    std::vector<Value> elements;
    for (const Expr *element : llvm::cast<TupleExpr>(e)->elements)
      elements.push_back(eval(element));
    if (llvm::any_of(elements, [](const Value &v) { return v.isPoison(); }))
      return Value::poison();
    return Value::of(std::move(elements));
  }
  case Expr::Kind::call:
    return evalCall(*llvm::cast<CallExpr>(e));
  case Expr::Kind::index:
    return evalIndex(*llvm::cast<IndexExpr>(e));
  case Expr::Kind::as:
    return evalAs(*llvm::cast<AsExpr>(e));
  case Expr::Kind::field:
    return evalField(*llvm::cast<FieldExpr>(e), false);
  case Expr::Kind::unary: {
    auto *unary = llvm::cast<UnaryExpr>(e);
    bool negates = unary->op == UnaryOp::negate;
    Value operand = eval(unary->operand);
    return apply(negates ? ScalarOp::negate : ScalarOp::not_, {operand}, e->range, negates ? "`-`" : "`not`");
  }
  case Expr::Kind::binary:
    return evalBinary(*llvm::cast<BinaryExpr>(e));
  case Expr::Kind::compare:
    return evalCompare(*llvm::cast<CompareExpr>(e));
  case Expr::Kind::conditional:
    return evalIf(*llvm::cast<IfExpr>(e), true);
  case Expr::Kind::mix:
    return fail(e->range, "`mix` is not in this edition of the compiler yet");
  case Expr::Kind::repeat:
    return evalRepeat(*llvm::cast<RepeatExpr>(e));
  }
  return Value::poison();
}

// --------------------------------------------------------------------------------------------------------------- names

Value *Elaborator::lookup(StringRef name) {
  for (Scope *scope = frame.scope; scope; scope = scope->outer)
    if (auto it = scope->names.find(name); it != scope->names.end())
      return &it->second;
  return lookupGlobal(name, frame.home);
}

/// Words that are not names of values but look like them.
static std::optional<Value> builtinConstant(StringRef name) {
  if (name == "pi")
    return Value::of(std::numbers::pi, false);
  if (name == "inf")
    return Value::of(std::numeric_limits<double>::infinity(), false);
  return std::nullopt;
}

Value Elaborator::evalName(const NameExpr &e) {
  if (inConfig)
    return *evalConfigPath(&e, false);
  if (Value *value = lookup(e.name))
    return *value;
  if (auto constant = builtinConstant(e.name))
    return *constant;
  if (e.name == "pos" || e.name == "past" || e.name == "capacity")
    return sessionValue(e.name, e.range);
  if (auto [fn, home] = findFunction(e.name); fn) {
    if (clause)
      return callFunction(*fn, home, nullptr, e.range);
    return fail(e.range, "`" + e.name + "` is a function: call it, `" + e.name + "(…)`");
  }
  if (clause && e.name.size() == 1 && StringRef("sijhqk").contains(e.name)) {
    StringRef name = StringRef("ijh").contains(e.name) ? "mask" : "score";
    return fail(e.range, "unknown name `" + e.name + "`: a clause lists what it uses of the pair, `" + name + "(" +
                             e.name + "): …`");
  }
  return fail(e.range, "unknown name `" + e.name + "`" + suggestion(e.name, false));
}

std::string Elaborator::suggestion(StringRef name, bool functions) {
  StringRef best;
  if (name.size() < 3)
    return "";
  unsigned limit = name.size() < 4 ? 1 : 2, distance = limit + 1;
  auto consider = [&](StringRef other) {
    unsigned d = name.edit_distance(other, true, limit);
    if (d < distance && other != name) {
      distance = d;
      best = other;
    }
  };
  if (!functions)
    for (Scope *scope = frame.scope; scope; scope = scope->outer)
      for (auto &entry : scope->names)
        consider(entry.getKey());
  for (Home *home = frame.home; home; home = home->outer) {
    if (functions)
      for (auto &entry : home->functions)
        consider(entry.getKey());
    else
      for (auto &entry : home->globals)
        consider(entry.getKey());
  }
  if (functions)
    for (StringRef builtin :
         {"param", "linear", "dense", "conv2d", "concat", "softmax", "attend",  "select", "clamp", "range", "fill",
          "tap",   "sum",    "mean",  "sqrt",   "rsqrt",  "tanh",    "sigmoid", "cache",  "once",  "rotate"})
      consider(builtin);
  return best.empty() ? "" : "; did you mean `" + best.str() + "`?";
}

// ----------------------------------------------------------------------------------------------------- numbers, truths

std::optional<double> Elaborator::number(const Value &v, SMRange where, StringRef what, bool *whole) {
  Value operand = v;
  if (!asOperand(operand, where, what))
    return std::nullopt;
  if (operand.is(Value::Kind::number)) {
    if (whole)
      *whole = operand.whole;
    return operand.number;
  }
  fail(where, what + " must be a number known when compiling, not " + operand.described());
  return std::nullopt;
}

std::optional<int64_t> Elaborator::wholeNumber(const Value &v, SMRange where, StringRef what) {
  auto n = number(v, where, what);
  if (!n)
    return std::nullopt;
  if (*n != std::floor(*n) || std::fabs(*n) > 1e15) {
    fail(where, what + " must be a whole number, not " + numberText(*n));
    return std::nullopt;
  }
  return static_cast<int64_t>(*n);
}

std::optional<bool> Elaborator::truth(const Value &v, SMRange where, StringRef what) {
  if (v.is(Value::Kind::boolean))
    return v.boolean;
  if (v.isPoison())
    return std::nullopt;
  if (v.is(Value::Kind::tensor))
    report(where, what + " is decided when compiling, and this is known only when the model runs")
        .note("`select(c, a, b)` chooses between two values then");
  else
    fail(where, what + " needs a truth value, not " + v.described());
  return std::nullopt;
}

// ----------------------------------------------------------------------------------------------------------- operators

static ScalarOp scalarOp(BinaryOp op) {
  switch (op) {
  case BinaryOp::add:
    return ScalarOp::add;
  case BinaryOp::subtract:
    return ScalarOp::subtract;
  case BinaryOp::multiply:
    return ScalarOp::multiply;
  case BinaryOp::divide:
    return ScalarOp::divide;
  case BinaryOp::floorDivide:
    return ScalarOp::floorDivide;
  case BinaryOp::modulo:
    return ScalarOp::modulo;
  case BinaryOp::and_:
    return ScalarOp::and_;
  case BinaryOp::or_:
    return ScalarOp::or_;
  default:
    return ScalarOp::power;
  }
}

Value Elaborator::evalBinary(const BinaryExpr &e) {
  switch (e.op) {
  case BinaryOp::orElse: {
    Value left = evalSoft(e.lhs);
    return left.is(Value::Kind::none) ? eval(e.rhs) : left;
  }
  case BinaryOp::bar:
    return fail(e.range, "`A | B` is a shape, and stands where dimensions are written");
  case BinaryOp::and_:
  case BinaryOp::or_:
    return evalLogic(e);
  case BinaryOp::matmul: {
    Value a = eval(e.lhs), b = eval(e.rhs);
    return matmul(a, b, e.range);
  }
  default:
    break;
  }
  Value a = eval(e.lhs), b = eval(e.rhs);
  bool divides = e.op == BinaryOp::floorDivide || e.op == BinaryOp::modulo || e.op == BinaryOp::divide;
  bool isReal = e.op == BinaryOp::divide && a.is(Value::Kind::tensor); // by 0 it is infinite
  if (divides && b.is(Value::Kind::number) && b.number == 0 && !isReal)
    return a.isPoison() ? a : fail(e.range, "division by zero");
  return apply(scalarOp(e.op), {a, b}, e.range, ("`" + spelling(e.op) + "`").str());
}

/// A constant side decides or drops out; the other side is not looked at where the left one decides.
Value Elaborator::evalLogic(const BinaryExpr &e) {
  bool decides = e.op == BinaryOp::or_;
  std::string what = ("`" + spelling(e.op) + "`").str();
  Value a = eval(e.lhs);
  if (a.is(Value::Kind::boolean) && a.boolean == decides)
    return a;
  Value b = eval(e.rhs);
  bool aKnown = a.is(Value::Kind::boolean), bKnown = b.is(Value::Kind::boolean);
  bool bTruth = bKnown || (b.is(Value::Kind::tensor) && b.tensor.elem == Elem::i1);
  bool aTruth = aKnown || (a.is(Value::Kind::tensor) && a.tensor.elem == Elem::i1);
  if (aKnown && bTruth)
    return b;
  if (bKnown && aTruth)
    return b.boolean == decides ? b : a;
  return apply(scalarOp(e.op), {a, b}, e.range, what);
}

Value Elaborator::evalCompare(const CompareExpr &e) {
  Value result, left = eval(e.terms[0]);
  for (size_t i = 0; i < e.ops.size(); ++i) {
    if (i && result.is(Value::Kind::boolean) && !result.boolean)
      return result;
    Value right = eval(e.terms[i + 1]);
    Value one = compareValues(e.ops[i], left, right, e.range, e.terms[i]->range, e.terms[i + 1]->range);
    result = i == 0 || result.is(Value::Kind::boolean) ? one : apply(ScalarOp::and_, {result, one}, e.range, "`and`");
    left = right;
  }
  return result;
}

static bool isComparable(const Value &v) {
  return v.is(Value::Kind::none) || v.is(Value::Kind::string) || v.is(Value::Kind::boolean) ||
         v.is(Value::Kind::config);
}

Value Elaborator::compareValues(CompareOp op, const Value &a, const Value &b, SMRange where, SMRange ra, SMRange rb) {
  if (a.isPoison() || b.isPoison())
    return Value::poison();
  bool equality = op == CompareOp::equal || op == CompareOp::notEqual;
  if (equality && (isComparable(a) || isComparable(b))) {
    bool same = a.kind == b.kind;
    if (same && a.is(Value::Kind::string)) {
      for (const Value *v : {&a, &b})
        for (auto &piece : v->text.pieces)
          if (piece.turn)
            return needNumber(piece.turn, where, "`==` on a string");
      same = a.text.shown() == b.text.shown();
    } else if (same && a.is(Value::Kind::boolean)) {
      same = a.boolean == b.boolean;
    } else if (same && a.is(Value::Kind::config)) {
      return fail(where, "objects of config.json cannot be compared");
    }
    return Value::of(same == (op == CompareOp::equal));
  }
  auto scalar = static_cast<ScalarOp>(static_cast<int>(ScalarOp::less) + static_cast<int>(op));
  return apply(scalar, {a, b}, where, ("`" + spelling(op) + "`").str());
}

Value Elaborator::evalIf(const IfExpr &e, bool wanted) {
  auto condition = truth(eval(e.condition), e.condition->range, "`if`");
  if (!condition)
    return Value::poison();
  if (*condition)
    return evalBlock(*e.then, wanted);
  if (e.otherwise)
    return evalBlock(*e.otherwise, wanted);
  return wanted ? fail(e.range, "this `if` has no `else`, and its value is used where the condition is false")
                : Value::unit();
}

// ------------------------------------------------------------------------------------------------------------- strings

Value Elaborator::evalString(const StringExpr &e) {
  Text result;
  for (const StringPiece &piece : e.pieces) {
    if (!piece.expr) {
      result.append(piece.text);
      continue;
    }
    Value v = eval(piece.expr);
    if (v.isPoison())
      return v;
    if (v.is(Value::Kind::turn))
      result.append(v.turn);
    else if (v.is(Value::Kind::string))
      result.append(v.text);
    else if (auto n = wholeNumber(v, piece.range, "a number in a string"))
      result.append(std::to_string(*n));
    else
      return Value::poison();
  }
  return Value::of(std::move(result));
}

std::optional<Text> Elaborator::evalText(const Expr *e, StringRef what) {
  Value v = eval(e);
  if (v.is(Value::Kind::string))
    return v.text;
  if (!v.isPoison())
    fail(e->range, what + " is a string, not " + v.described());
  return std::nullopt;
}

Text Elaborator::joined(const Text &path, const Text &name) const {
  if (path.empty() || name.startsWith('/'))
    return name;
  Text result = path;
  if (!name.empty()) {
    result.append(".");
    result.append(name);
  }
  return result;
}

// ------------------------------------------------------------------------------------------------------------- indices

Value Elaborator::evalIndex(const IndexExpr &e) {
  Value base = eval(e.base);
  llvm::SmallVector<Value, 0> indices;
  for (const Expr *index : e.indices)
    indices.push_back(eval(index));
  if (base.isPoison() || llvm::any_of(indices, [](const Value &v) { return v.isPoison(); }))
    return Value::poison();
  if (base.is(Value::Kind::config)) {
    auto *list = base.config.json->getAsArray();
    if (!list || indices.size() != 1)
      return fail(e.range, "only a list of config.json, or a tensor, has `[ ]`");
    auto n = wholeNumber(indices[0], e.indices[0]->range, "an index");
    if (!n)
      return Value::poison();
    if (*n < 0 || *n >= static_cast<int64_t>(list->size()))
      return fail(e.indices[0]->range, "index " + llvm::Twine(*n) + " is outside the list, which has " +
                                           llvm::Twine(list->size()) + " entries");
    auto path = base.config.path;
    path.push_back(std::to_string(*n));
    return fromJson((*list)[*n], path, e.range);
  }
  if (!base.is(Value::Kind::tensor))
    return fail(e.range, "only a tensor has `[ ]`; this is " + base.described());
  return indexTensor(base.tensor, indices, e);
}

} // namespace attn
