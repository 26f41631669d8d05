// Which keys a mask can show to a tile of queries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mask is a boolean expression over i (a query) and j (a key). For a tile, i is any of first … last; j is any key.
//
// Numbers. 0 <= i, j < 2^30 (rowsOfMaskBounds; the caller checks). A whole-number expression counts as affine,
// a i + b j + c, if a and b are -1, 0 or 1 and not of one sign, |c| <= 2^30, and the expressions that it is made of are
// affine. Then |a i + b j + c| <= (2^30 - 1) + 2^30 < 2^31: no operation on the way wraps, and the machine's int32
// value is the number. Differences of two such sides of a comparison are taken here, in int64, where nothing wraps
// either.
//
// Comparisons. Each of < <= > >= == on affine sides is one or two constraints  a i + b j + c <= 0  with a, b in {-1, 0,
// 1} not of one sign (others are not analysed). For b = 1, so that a is 0 or -1:
//     j <= -a i - c.   Some i of the tile admits j  only if j <= -a last - c:    visited.upper = -a last - c + 1.
//                      Every i of the tile admits j if      j <= -a first - c:   full.upper    = -a first - c + 1.
//   For b = -1, so that a is 0 or 1:
//     j >= a i + c.    Some i admits j  only if j >= a first + c:                visited.lower = a first + c.
//                      Every i admits j if      j >= a last + c:                 full.lower    = a last + c.
//   (-a i grows with i for a = -1, so its largest value in the tile is at `last`; the other cases are the same.)
//   For b = 0 the keys don't matter: nothing is known, except where a = 0 too and the constraint is a constant.
//
// Conjunctions. What f and g both admit, each admits: every visited interval of f or g, so their intersection (the
// larger lower end, the smaller upper one), is one of `f and g`. This holds when g is not analysed at all. Where all
// queries see all keys by f and by g, they do by `f and g`: the intersection of the full intervals, empty if g is not
// analysed.
//
// Disjunctions. What `f or g` admits is admitted by f or by g, so it lies in one of two intervals and in any interval
// that contains both: the smaller lower end, the larger upper one, none where one of the two has none. A full interval
// of f or of g is one of `f or g`; where both begin (or both end) nowhere their union is an interval too and is taken.
//
// Negations go down to the comparisons: not (f and g) = not f or not g; not (a < b) = a >= b. A choice, select(c, f,
// g), is (c and f) or (not c and g).
//
// An empty interval may have its ends in any order.
#include "passes/MaskBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <algorithm>
#include <optional>

using namespace mlir;

namespace attn {

int64_t KeyEnd::at(int64_t first, int64_t last) const {
  switch (kind) {
  case None:
  case Constant:
    return number;
  case First:
    return first + number;
  case Last:
    return last + number;
  case Min:
  case Max:
    break;
  }
  int64_t best = parts.front().at(first, last);
  for (const KeyEnd &part : parts) {
    int64_t next = part.at(first, last);
    best = kind == Min ? std::min(best, next) : std::max(best, next);
  }
  return best;
}

namespace {

constexpr int64_t limit = rowsOfMaskBounds;

/// a i + b j + c
struct Affine {
  int64_t i = 0, j = 0, c = 0;

  bool isSimple() const { return std::abs(i) <= 1 && std::abs(j) <= 1 && i * j <= 0; }
};

KeyEnd constantEnd(int64_t number) {
  return {KeyEnd::Constant, number};
}

/// Min or Max of two ends that both exist; constants and equal parts fold.
KeyEnd combine(KeyEnd::Kind kind, const KeyEnd &a, const KeyEnd &b) {
  if (a.kind == b.kind && a.parts.empty())
    return (kind == KeyEnd::Min) == (a.number < b.number) ? a : b;
  KeyEnd end{kind};
  for (const KeyEnd *part : {&a, &b})
    if (part->kind == kind)
      llvm::append_range(end.parts, part->parts);
    else
      end.parts.push_back(*part);
  return end;
}

/// The same where a missing end gives way to the other one.
KeyEnd tighter(KeyEnd::Kind kind, const KeyEnd &a, const KeyEnd &b) {
  if (a.kind == KeyEnd::None)
    return b;
  return b.kind == KeyEnd::None ? a : combine(kind, a, b);
}

/// The same where a missing end is the result.
KeyEnd looser(KeyEnd::Kind kind, const KeyEnd &a, const KeyEnd &b) {
  if (a.kind == KeyEnd::None || b.kind == KeyEnd::None)
    return {};
  return combine(kind, a, b);
}

KeyInterval intersect(const KeyInterval &a, const KeyInterval &b) {
  return {tighter(KeyEnd::Max, a.lower, b.lower), tighter(KeyEnd::Min, a.upper, b.upper)};
}

KeyInterval hull(const KeyInterval &a, const KeyInterval &b) {
  return {looser(KeyEnd::Min, a.lower, b.lower), looser(KeyEnd::Max, a.upper, b.upper)};
}

const KeyInterval nowhere{{}, constantEnd(0)}, everywhere{};

bool isNowhere(const KeyInterval &keys) {
  return keys.upper.kind == KeyEnd::Constant && keys.upper.number <= 0;
}

const MaskBounds unknown{everywhere, nowhere}, always{everywhere, everywhere}, never{nowhere, nowhere};

MaskBounds both(const MaskBounds &f, const MaskBounds &g) {
  bool full = !isNowhere(f.full) && !isNowhere(g.full);
  return {intersect(f.visited, g.visited), full ? intersect(f.full, g.full) : nowhere};
}

MaskBounds either(const MaskBounds &f, const MaskBounds &g) {
  if (isNowhere(f.visited))
    return g;
  if (isNowhere(g.visited))
    return f;
  MaskBounds bounds{hull(f.visited, g.visited), f.full};
  bool begin = f.full.lower.kind == KeyEnd::None && g.full.lower.kind == KeyEnd::None;
  bool end = f.full.upper.kind == KeyEnd::None && g.full.upper.kind == KeyEnd::None;
  if (begin || end)
    bounds.full = hull(f.full, g.full);
  else if (isNowhere(f.full))
    bounds.full = g.full;
  return bounds;
}

/// form <= 0
MaskBounds atMostZero(const Affine &form) {
  if (!form.isSimple())
    return unknown;
  if (form.j == 0)
    return form.i != 0 ? unknown : form.c <= 0 ? always : never;
  MaskBounds bounds;
  auto end = [&](KeyEnd::Kind query, int64_t number) { return KeyEnd{form.i == 0 ? KeyEnd::Constant : query, number}; };
  if (form.j > 0) {
    bounds.visited.upper = end(KeyEnd::Last, 1 - form.c);
    bounds.full.upper = end(KeyEnd::First, 1 - form.c);
  } else {
    bounds.visited.lower = end(KeyEnd::First, form.c);
    bounds.full.lower = end(KeyEnd::Last, form.c);
  }
  return bounds;
}

class Analysis {
public:
  explicit Analysis(Block &mask) : i(mask.getArgument(0)), j(mask.getArgument(1)) {}

  MaskBounds bounds(Value condition, bool negated);

private:
  std::optional<Affine> affine(Value number);
  MaskBounds compare(arith::CmpIPredicate predicate, Value left, Value right);
  MaskBounds compareForms(arith::CmpIPredicate predicate, const Affine &left, const Affine &right);

  Value i, j;
};

/// Nothing where the number isn't affine in the sense above.
std::optional<Affine> Analysis::affine(Value number) {
  Affine form;
  APInt constant;
  if (number == i)
    form.i = 1;
  else if (number == j)
    form.j = 1;
  else if (number.getType().isInteger(32) && matchPattern(number, m_ConstantInt(&constant)))
    form.c = constant.getSExtValue();
  else if (Operation *op = number.getDefiningOp(); isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    std::optional<Affine> a = affine(op->getOperand(0)), b = affine(op->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    int64_t sign = isa<arith::AddIOp>(op) ? 1 : -1;
    form = {a->i + sign * b->i, a->j + sign * b->j, a->c + sign * b->c};
  } else
    return std::nullopt;
  if (!form.isSimple() || std::abs(form.c) > limit)
    return std::nullopt;
  return form;
}

MaskBounds Analysis::compareForms(arith::CmpIPredicate predicate, const Affine &left, const Affine &right) {
  Affine d{left.i - right.i, left.j - right.j, left.c - right.c}, e{-d.i, -d.j, -d.c};
  auto less = [](Affine form) {
    ++form.c; // whole numbers: x < 0 is x + 1 <= 0
    return atMostZero(form);
  };
  switch (predicate) {
  case arith::CmpIPredicate::sle:
    return atMostZero(d);
  case arith::CmpIPredicate::slt:
    return less(d);
  case arith::CmpIPredicate::sge:
    return atMostZero(e);
  case arith::CmpIPredicate::sgt:
    return less(e);
  case arith::CmpIPredicate::eq:
    return both(atMostZero(d), atMostZero(e));
  case arith::CmpIPredicate::ne:
    return either(less(d), less(e));
  default:
    return unknown;
  }
}

MaskBounds Analysis::compare(arith::CmpIPredicate predicate, Value left, Value right) {
  auto size = left.getDefiningOp<math::AbsIOp>();
  std::optional<Affine> a = affine(size ? size.getOperand() : left), b = affine(right);
  if (!a || !b)
    return unknown;
  if (!size)
    return compareForms(predicate, *a, *b);
  // |x| <= r is x <= r and -r <= x, |x| > r is x > r or -r > x; |x| doesn't wrap where x is affine.
  using enum arith::CmpIPredicate;
  Affine opposite{-b->i, -b->j, -b->c};
  MaskBounds above = compareForms(predicate, *a, *b);
  if (predicate == sle || predicate == slt)
    return both(above, compareForms(predicate, opposite, *a));
  if (predicate == sge || predicate == sgt)
    return either(above, compareForms(predicate, opposite, *a));
  return unknown;
}

MaskBounds Analysis::bounds(Value condition, bool negated) {
  APInt constant;
  if (matchPattern(condition, m_ConstantInt(&constant)))
    return constant.isZero() == negated ? always : never;
  Operation *op = condition.getDefiningOp();
  if (auto compared = dyn_cast_or_null<arith::CmpIOp>(op)) {
    auto predicate = compared.getPredicate();
    if (!compared.getLhs().getType().isInteger(32))
      return unknown;
    if (negated)
      predicate = arith::invertPredicate(predicate);
    return compare(predicate, compared.getLhs(), compared.getRhs());
  }
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    MaskBounds f = bounds(op->getOperand(0), negated), g = bounds(op->getOperand(1), negated);
    return isa<arith::AndIOp>(op) != negated ? both(f, g) : either(f, g);
  }
  if (auto flip = dyn_cast_or_null<arith::XOrIOp>(op)) {
    if (matchPattern(flip.getRhs(), m_ConstantInt(&constant)))
      return bounds(flip.getLhs(), negated != !constant.isZero());
    return unknown;
  }
  if (auto choice = dyn_cast_or_null<arith::SelectOp>(op)) {
    Value c = choice.getCondition();
    return either(both(bounds(c, false), bounds(choice.getTrueValue(), negated)),
                  both(bounds(c, true), bounds(choice.getFalseValue(), negated)));
  }
  return unknown;
}

} // namespace

MaskBounds findMaskBounds(Block &mask) {
  return Analysis(mask).bounds(mask.getTerminator()->getOperand(0), false);
}

} // namespace attn
