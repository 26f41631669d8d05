// Whole-number expressions over a tile of queries and a tile of keys.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/masks/Numbers.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>

namespace attn::masks {

static bool isConstant(Number a) {
  return a->kind == NumberKind::Constant;
}
static bool isConstant(Number a, int64_t number) {
  return isConstant(a) && a->id == number;
}
static int64_t held(int64_t number) {
  return std::clamp(number, -huge * 16, huge * 16);
}

/// Whether a <= b wherever the expressions are computed. Tiles have a query and a key, and the keys looked at are some
/// that there are.
bool Numbers::surelyAtMost(Number a, Number b, int depth) {
  using enum NumberKind;
  if (a == b || a->most <= b->least)
    return true;
  if ((a->kind == FirstQuery && b->kind == LastQuery) || (a->kind == FirstHead && b->kind == LastHead) ||
      (a->kind == FirstKey && (b->kind == LastKey || b->kind == FinalKey)) ||
      (a->kind == LastKey && b->kind == FinalKey))
    return true;
  if (depth == 0)
    return false;
  auto below = [&](Number x, Number y) { return surelyAtMost(x, y, depth - 1); };
  if (a->kind == Min && (below(a->args[0], b) || below(a->args[1], b)))
    return true;
  if (b->kind == Max && (below(a, b->args[0]) || below(a, b->args[1])))
    return true;
  if (a->kind == Max && below(a->args[0], b) && below(a->args[1], b))
    return true;
  if (b->kind == Min && below(a, b->args[0]) && below(a, b->args[1]))
    return true;
  auto split = [](Number x) {
    bool plus = x->kind == Add && isConstant(x->args[1]);
    return std::pair(plus ? x->args[0] : x, plus ? x->args[1]->id : 0);
  };
  auto [x, c] = split(a);
  auto [y, d] = split(b);
  if ((x != a || y != b) && c <= d && below(x, y))
    return true;
  auto samePart = [&](NumberKind kind) { return a->kind == kind && b->kind == kind && a->args[1] == b->args[1]; };
  return samePart(FloorDiv) && below(a->args[0], b->args[0]);
}

Number Numbers::make(NumberKind kind, int64_t id, mlir::Value value, Number a, Number b, Number c, int64_t least,
                     int64_t most) {
  Number &place = known[Key(kind, id, value.getAsOpaquePointer(), a, b, c)];
  if (place)
    return place;
  NumberNode node{kind, id, value, {a, b, c}, least, most};
  node.ofKeys = kind == NumberKind::FirstKey || kind == NumberKind::LastKey;
  for (Number arg : node.args)
    node.ofKeys |= arg && arg->ofKeys;
  node.order = unsigned(nodes.size());
  nodes.push_back(node);
  return place = &nodes.back();
}

Number Numbers::make(NumberKind kind, Number a, Number b, int64_t least, int64_t most) {
  least = held(least), most = held(most);
  if (least == most)
    return constant(least);
  return make(kind, 0, {}, a, b, nullptr, least, most);
}

Number Numbers::constant(int64_t number) {
  return make(NumberKind::Constant, number, {}, nullptr, nullptr, nullptr, number, number);
}

Number Numbers::leaf(NumberKind kind) {
  bool end = kind == NumberKind::FinalKey || kind == NumberKind::LastKey; // -1 where there is no key
  return make(kind, 0, {}, nullptr, nullptr, nullptr, end ? -1 : 0, rowLimit - 1);
}

Number Numbers::scalar(mlir::Value value, bool high, int64_t least, int64_t most) {
  return make(NumberKind::Scalar, high, value, nullptr, nullptr, nullptr, least, most);
}

Number Numbers::add(Number a, Number b) {
  if (isConstant(a))
    std::swap(a, b);
  if (isConstant(b, 0))
    return a;
  if (isConstant(a))
    return constant(a->id + b->id);
  if (isConstant(b) && a->kind == NumberKind::Add && isConstant(a->args[1]))
    return add(a->args[0], constant(a->args[1]->id + b->id));
  if (a->kind == NumberKind::Add && isConstant(a->args[1]))
    return add(add(a->args[0], b), a->args[1]);
  if (b->kind == NumberKind::Add && isConstant(b->args[1]))
    return add(add(a, b->args[0]), b->args[1]);
  if (a->kind == NumberKind::Sub && a->args[1] == b)
    return a->args[0];
  if (b->kind == NumberKind::Sub && b->args[1] == a)
    return b->args[0];
  if (!isConstant(b) && b->order < a->order)
    std::swap(a, b);
  return make(NumberKind::Add, a, b, a->least + b->least, a->most + b->most);
}

Number Numbers::sub(Number a, Number b) {
  if (isConstant(b))
    return add(a, constant(-b->id));
  if (a == b)
    return constant(0);
  if (a->kind == NumberKind::Add && isConstant(a->args[1]))
    return add(sub(a->args[0], b), a->args[1]);
  if (b->kind == NumberKind::Add && isConstant(b->args[1]))
    return add(sub(a, b->args[0]), constant(-b->args[1]->id));
  if (a->kind == NumberKind::Add && (a->args[0] == b || a->args[1] == b))
    return a->args[a->args[0] == b];
  if (b->kind == NumberKind::Sub && b->args[0] == a)
    return b->args[1];
  return make(NumberKind::Sub, a, b, a->least - b->most, a->most - b->least);
}

Number Numbers::mul(Number a, int64_t factor) {
  if (factor == 0)
    return constant(0);
  if (factor == 1)
    return a;
  if (isConstant(a))
    return constant(a->id * factor);
  int64_t x = held(a->least * factor), y = held(a->most * factor);
  return make(NumberKind::Mul, a, constant(factor), std::min(x, y), std::max(x, y));
}

Number Numbers::floorDiv(Number a, int64_t divisor) {
  if (divisor == 1)
    return a;
  int64_t least = llvm::divideFloorSigned(a->least, divisor), most = llvm::divideFloorSigned(a->most, divisor);
  return make(NumberKind::FloorDiv, a, constant(divisor), least, most);
}

Number Numbers::ceilDiv(Number a, int64_t divisor) {
  return divisor == 1 ? a : floorDiv(add(a, constant(divisor - 1)), divisor);
}

/// The smaller of two numbers for Min, the larger for Max.
Number Numbers::extreme(NumberKind kind, Number a, Number b) {
  bool least = kind == NumberKind::Min;
  auto wins = [&](Number x, Number y) { return least ? surelyAtMost(x, y) : surelyAtMost(y, x); };
  if (wins(a, b))
    return a;
  if (wins(b, a))
    return b;
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (x->kind == kind) // of three numbers, where y decides one of the others
      for (int n : {0, 1})
        if (wins(y, x->args[n]))
          return extreme(kind, x->args[1 - n], y);
  if (b->order < a->order)
    std::swap(a, b);
  auto end = [&](int64_t x, int64_t y) { return least ? std::min(x, y) : std::max(x, y); };
  return make(kind, a, b, end(a->least, b->least), end(a->most, b->most));
}

Number Numbers::select(Number condition, Number a, Number b) {
  if (isConstant(condition))
    return condition->id ? a : b;
  if (a == b)
    return a;
  int64_t least = std::min(a->least, b->least), most = std::max(a->most, b->most);
  return make(NumberKind::Select, 0, {}, condition, a, b, least, most);
}

Number Numbers::lessEqual(Number a, Number b) {
  if (surelyAtMost(a, b))
    return yes();
  if (a->least > b->most || surelyAtMost(add(b, constant(1)), a))
    return no();
  return make(NumberKind::LessEqual, a, b, 0, 1);
}

Number Numbers::both(Number a, Number b) {
  if (isConstant(a))
    return a->id ? b : a;
  if (isConstant(b) || a == b)
    return isConstant(b, 0) ? b : a;
  if (b->order < a->order)
    std::swap(a, b);
  return make(NumberKind::And, a, b, 0, 1);
}

Number Numbers::either(Number a, Number b) {
  if (isConstant(a))
    return a->id ? a : b;
  if (isConstant(b) || a == b)
    return isConstant(b, 1) ? b : a;
  if (b->order < a->order)
    std::swap(a, b);
  return make(NumberKind::Or, a, b, 0, 1);
}

constexpr int64_t leastInt = std::numeric_limits<int32_t>::min(), mostInt = std::numeric_limits<int32_t>::max();

Number Numbers::tableLength(int64_t table) {
  return make(NumberKind::TableLength, table, {}, nullptr, nullptr, nullptr, 0, rowLimit);
}
Number Numbers::tableSorted(int64_t table) {
  return make(NumberKind::TableSorted, table, {}, nullptr, nullptr, nullptr, 0, 1);
}
Number Numbers::tableAt(int64_t table, Number place) {
  return make(NumberKind::TableAt, table, {}, place, nullptr, nullptr, leastInt, mostInt);
}
Number Numbers::tableMin(int64_t table, Number first, Number last) {
  return make(NumberKind::TableMin, table, {}, first, last, nullptr, leastInt, mostInt);
}
Number Numbers::tableMax(int64_t table, Number first, Number last) {
  return make(NumberKind::TableMax, table, {}, first, last, nullptr, leastInt, mostInt);
}
Number Numbers::tableBelow(int64_t table, Number number) {
  return make(NumberKind::TableBelow, table, {}, number, nullptr, nullptr, 0, rowLimit);
}

// ------------------------------------------------------------------------------------------------------- evaluation

int64_t Evaluation::operator()(Number number) {
  if (isConstant(number))
    return number->id;
  if (done.size() <= number->order)
    done.resize(number->order + 1);
  if (!done[number->order])
    done[number->order] = compute(number);
  return *done[number->order];
}

int64_t Evaluation::compute(Number number) {
  auto arg = [&](int n) { return (*this)(number->args[n]); };
  const std::vector<int32_t> *table = number->kind < NumberKind::TableLength ? nullptr : data.table(number->id);
  auto place = [&](int n) { return table->begin() + std::clamp<int64_t>(arg(n), 0, int64_t(table->size()) - 1); };
  switch (number->kind) {
  case NumberKind::Constant:
    return number->id;
  case NumberKind::FirstQuery:
    return tile.firstQuery;
  case NumberKind::LastQuery:
    return tile.lastQuery;
  case NumberKind::FirstKey:
    return tile.firstKey;
  case NumberKind::LastKey:
    return tile.lastKey;
  case NumberKind::FinalKey:
    return tile.keys - 1;
  case NumberKind::FirstHead:
    return tile.firstHead;
  case NumberKind::LastHead:
    return tile.lastHead;
  case NumberKind::Scalar:
    return data.scalar(number->value).value_or(number->id ? number->most : number->least);
  case NumberKind::Add:
    return arg(0) + arg(1);
  case NumberKind::Sub:
    return arg(0) - arg(1);
  case NumberKind::Mul:
    return arg(0) * arg(1);
  case NumberKind::FloorDiv:
    return llvm::divideFloorSigned(arg(0), arg(1));
  case NumberKind::Min:
    return std::min(arg(0), arg(1));
  case NumberKind::Max:
    return std::max(arg(0), arg(1));
  case NumberKind::Select:
    return arg(0) ? arg(1) : arg(2);
  case NumberKind::LessEqual:
    return arg(0) <= arg(1);
  case NumberKind::And:
    return arg(0) && arg(1);
  case NumberKind::Or:
    return arg(0) || arg(1);
  case NumberKind::TableLength:
    return table ? int64_t(table->size()) : tile.keys;
  case NumberKind::TableSorted:
    return table && std::is_sorted(table->begin(), table->end());
  case NumberKind::TableAt:
    return table && !table->empty() ? *place(0) : 0;
  case NumberKind::TableMin:
    return table && !table->empty() ? *std::min_element(place(0), std::max(place(0), place(1)) + 1) : leastInt;
  case NumberKind::TableMax:
    return table && !table->empty() ? *std::max_element(place(0), std::max(place(0), place(1)) + 1) : mostInt;
  case NumberKind::TableBelow:
    return table ? std::lower_bound(table->begin(), table->end(), arg(0)) - table->begin() : 0;
  }
  llvm_unreachable("every kind is above");
}

} // namespace attn::masks
