// A mask's expression as alternatives of bounds on sums.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers. 0 <= i, j < 2^30 (rowLimit; the caller checks). Every whole-number operation is followed on sums without
// bounds. Where an operation's result could leave int32, by what is known of its operands, the sum is noted in
// `mustFit`: when the tile is known, its range is computed, and where it leaves int32 the bounds that were drawn from
// it are not used. x - x // c * c is x mod c even where x // c * c wraps, because the difference wraps back.
//
// Comparisons. Both sides fit, so a < b says the same of the numbers: b - a >= 1, in int64. a == b bounds a - b from
// both sides; a != b is a < b or a > b. |x| <= r is x <= r and -x <= r if -x fits; |x| > r is x > r or -x > r.
//
// Cases. select(c, a, b), min, max and |x| are one number where c holds and another where it does not. A comparison of
// such numbers holds where, in one of the cases, guard and comparison hold. The guards cover everything, so that this
// is true of the negated comparison as well.
//
// Negation goes down to the comparisons. `and` multiplies alternatives out: if there would be more than `mostTerms`,
// one side is left out, which makes the condition hold more often.
//
// Bounds on one sum are intersected as they meet in a term; a term with an empty range never holds. Of two
// alternatives, one that says more than the other is dropped; two that differ in one sum whose ranges touch are one.
#include "passes/masks/Conditions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/AttendRegions.h"
#include "passes/masks/Numbers.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;

namespace attn::masks {

constexpr int64_t leastInt = std::numeric_limits<int32_t>::min(), mostInt = std::numeric_limits<int32_t>::max();
constexpr size_t mostTerms = 96, mostCases = 8;

int64_t Affine::least() const {
  int64_t sum = constant;
  for (auto [atom, factor] : terms)
    sum += factor * (factor > 0 ? atom->least : atom->most);
  return sum;
}

int64_t Affine::most() const {
  int64_t sum = constant;
  for (auto [atom, factor] : terms)
    sum += factor * (factor > 0 ? atom->most : atom->least);
  return sum;
}

static Affine scaled(Affine a, int64_t factor) {
  if (factor == 0)
    return {};
  for (auto &term : a.terms)
    term.second *= factor;
  a.constant *= factor;
  return a;
}

/// a + factor * b
static Affine sum(const Affine &a, int64_t factor, const Affine &b) {
  Affine result;
  result.constant = a.constant + factor * b.constant;
  auto left = a.terms.begin(), right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    bool takesRight = left == a.terms.end() || (right != b.terms.end() && right->first->order <= left->first->order);
    bool takesLeft = right == b.terms.end() || (left != a.terms.end() && left->first->order <= right->first->order);
    const Atom *atom = takesLeft ? left->first : right->first;
    int64_t total = (takesLeft ? left++->second : 0) + (takesRight ? factor * right++->second : 0);
    if (total != 0)
      result.terms.emplace_back(atom, total);
  }
  return result;
}

static bool fits(const Affine &a) {
  return leastInt <= a.least() && a.most() <= mostInt;
}

/// Factors and constants beyond this could make the sums of the analysis itself wrap.
static bool isTame(const Affine &a) {
  constexpr int64_t limit = int64_t(1) << 31;
  return a.terms.size() <= 8 && std::abs(a.constant) <= 4 * limit &&
         llvm::all_of(a.terms, [&](auto &term) { return std::abs(term.second) <= (int64_t(1) << 20); });
}

// ------------------------------------------------------------------------------------------------------- conditions

static const Condition always{Term()}, never{};

/// The literal's place in a term that bounds the same sum, if it has no provisos.
static Literal *findSame(Term &term, const Literal &literal) {
  auto same = llvm::find_if(term, [&](const Literal &other) {
    return other.form == literal.form && other.mustFit.empty() && literal.mustFit.empty();
  });
  return same == term.end() ? nullptr : &*same;
}

/// False if the term then never holds.
static bool addLiteral(Term &term, const Literal &literal) {
  Literal *same = findSame(term, literal);
  if (!same) {
    term.push_back(literal);
    return true;
  }
  same->least = std::max(same->least, literal.least);
  same->most = std::min(same->most, literal.most);
  return same->least <= same->most;
}

bool implies(const Term &strong, const Term &weak) {
  return llvm::all_of(weak, [&](const Literal &wanted) {
    return llvm::any_of(strong, [&](const Literal &given) {
      return given.form == wanted.form && given.mustFit == wanted.mustFit && wanted.least <= given.least &&
             given.most <= wanted.most;
    });
  });
}

/// Makes `a` the two terms together, if one term can say that.
static bool join(Term &a, const Term &b) {
  if (implies(b, a))
    return true;
  if (implies(a, b)) {
    a = b;
    return true;
  }
  if (a.size() != b.size())
    return false;
  Literal *differs = nullptr;
  const Literal *other = nullptr;
  for (Literal &one : a) {
    auto same = llvm::find_if(b, [&](const Literal &x) { return x.form == one.form && x.mustFit == one.mustFit; });
    if (same == b.end())
      return false;
    if (same->least == one.least && same->most == one.most)
      continue;
    if (differs)
      return false;
    differs = &one, other = &*same;
  }
  if (!differs || std::max(differs->least, other->least) > std::min(differs->most, other->most) + 1)
    return false;
  differs->least = std::min(differs->least, other->least);
  differs->most = std::max(differs->most, other->most);
  return true;
}

Condition Conditions::either(Condition a, const Condition &b) {
  for (const Term &term : b) {
    Term next = term;
    for (bool joined = true; joined;) {
      joined = false;
      for (size_t i = 0; i < a.size() && !joined; ++i) {
        Term old = a[i];
        if (!join(old, next))
          continue;
        next = old;
        a.erase(a.begin() + ptrdiff_t(i));
        joined = true;
      }
    }
    a.push_back(next);
  }
  return a;
}

Condition Conditions::both(const Condition &a, const Condition &b) {
  if (a.size() * b.size() > mostTerms) {
    if (!toldOfSize)
      undecided.push_back({mask.getTerminator(), "too many alternatives when multiplied out"});
    toldOfSize = true;
    return a.size() <= b.size() ? a : b;
  }
  Condition result;
  for (const Term &left : a)
    for (const Term &right : b) {
      Term term = left;
      if (llvm::all_of(right, [&](const Literal &literal) { return addLiteral(term, literal); }))
        result = either(std::move(result), {term});
    }
  return result;
}

Condition Conditions::unknown(Operation *op, const Twine &why) {
  if (llvm::none_of(undecided, [&](const Undecided &other) { return other.op == op; }))
    undecided.push_back({op, why.str()});
  return always;
}

/// form + below <= 0
Condition Conditions::atMostZero(Affine form, int64_t below, ArrayRef<Affine> mustFit) {
  Literal literal{form, -none, -below - form.constant, SmallVector<Affine, 1>(mustFit)};
  literal.form.constant = 0;
  int64_t divisor = 0;
  for (auto &term : literal.form.terms)
    divisor = std::gcd(divisor, std::abs(term.second));
  if (divisor > 1) {
    for (auto &term : literal.form.terms)
      term.second /= divisor;
    literal.most = llvm::divideFloorSigned(literal.most, divisor);
  }
  if (mustFit.empty() && literal.form.most() <= literal.most)
    return always;
  if (mustFit.empty() && literal.form.least() > literal.most)
    return never;
  if (!literal.form.terms.empty() && literal.form.terms.front().second < 0) {
    literal.form = scaled(literal.form, -1);
    literal.least = -literal.most;
    literal.most = none;
  }
  return {Term{literal}};
}

Condition Conditions::compare(arith::CmpIPredicate predicate, const Case &left, const Case &right) {
  SmallVector<Affine, 1> mustFit = left.mustFit;
  for (const Affine &one : right.mustFit)
    if (!llvm::is_contained(mustFit, one))
      mustFit.push_back(one);
  Affine d = sum(left.value, -1, right.value), e = scaled(d, -1);
  Condition holds;
  switch (predicate) {
  case arith::CmpIPredicate::sle:
    holds = atMostZero(d, 0, mustFit);
    break;
  case arith::CmpIPredicate::slt:
    holds = atMostZero(d, 1, mustFit);
    break;
  case arith::CmpIPredicate::sge:
    holds = atMostZero(e, 0, mustFit);
    break;
  case arith::CmpIPredicate::sgt:
    holds = atMostZero(e, 1, mustFit);
    break;
  case arith::CmpIPredicate::eq:
    holds = both(atMostZero(d, 0, mustFit), atMostZero(e, 0, mustFit));
    break;
  case arith::CmpIPredicate::ne:
    holds = either(atMostZero(d, 1, mustFit), atMostZero(e, 1, mustFit));
    break;
  default:
    llvm_unreachable("the caller sorts these out");
  }
  return both(both(left.guard, right.guard), holds);
}

Condition Conditions::compare(arith::CmpIPredicate predicate, Value left, Value right, Operation *op) {
  using enum arith::CmpIPredicate;
  if (!left.getType().isInteger(32) || llvm::is_contained({ult, ule, ugt, uge}, predicate))
    return unknown(op, "a comparison of another kind of number");
  if (right.getDefiningOp<math::AbsIOp>() && !left.getDefiningOp<math::AbsIOp>()) {
    std::swap(left, right);
    predicate = predicate == sle   ? sge
                : predicate == slt ? sgt
                : predicate == sge ? sle
                : predicate == sgt ? slt
                                   : predicate;
  }
  auto size = left.getDefiningOp<math::AbsIOp>();
  bool within = predicate == sle || predicate == slt, beyond = predicate == sge || predicate == sgt;
  bool apart = size && (within || beyond);
  std::optional<Cases> a = cases(apart ? size.getOperand() : left), b = cases(right);
  if (!a || !b)
    return unknown(op, std::exchange(reason, {}));
  Condition result;
  for (const Case &one : *a)
    for (const Case &other : *b) {
      if (!apart) {
        result = either(std::move(result), compare(predicate, one, other));
        continue;
      }
      Case opposite = one;
      opposite.value = scaled(one.value, -1);
      if (!fits(opposite.value))
        opposite.mustFit.push_back(opposite.value);
      Condition plus = compare(predicate, one, other), minus = compare(predicate, opposite, other);
      result = either(std::move(result), within ? both(plus, minus) : either(plus, minus));
    }
  return result;
}

Condition Conditions::condition(Value truth, bool negated) {
  APInt constant;
  if (matchPattern(truth, m_ConstantInt(&constant)))
    return constant.isZero() == negated ? always : never;
  Operation *op = truth.getDefiningOp();
  if (auto compared = dyn_cast_or_null<arith::CmpIOp>(op)) {
    auto predicate = compared.getPredicate();
    if (negated)
      predicate = arith::invertPredicate(predicate);
    return compare(predicate, compared.getLhs(), compared.getRhs(), op);
  }
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    Condition a = condition(op->getOperand(0), negated), b = condition(op->getOperand(1), negated);
    return isa<arith::AndIOp>(op) != negated ? both(a, b) : either(a, b);
  }
  auto choose = [&](Value c, auto first, auto second) {
    return either(both(condition(c, false), first()), both(condition(c, true), second()));
  };
  if (auto differs = dyn_cast_or_null<arith::XOrIOp>(op)) {
    Value a = differs.getLhs(), b = differs.getRhs();
    return choose(b, [&] { return condition(a, !negated); }, [&] { return condition(a, negated); });
  }
  if (auto choice = dyn_cast_or_null<arith::SelectOp>(op))
    return choose(
        choice.getCondition(), [&] { return condition(choice.getTrueValue(), negated); },
        [&] { return condition(choice.getFalseValue(), negated); });
  return unknown(op ? op : mask.getTerminator(),
                 isa_and_nonnull<arith::CmpFOp>(op) ? "a comparison of real numbers" : "a truth value from elsewhere");
}

// ---------------------------------------------------------------------------------------------------------- numbers

const Atom *Conditions::atom(Atom wanted) {
  for (const Atom &other : atoms)
    if (other.kind == wanted.kind && other.number == wanted.number && other.of == wanted.of &&
        other.value == wanted.value)
      return &other;
  wanted.ofQuery = wanted.kind == Atom::Query;
  wanted.ofKey = wanted.kind == Atom::Key;
  for (auto &term : wanted.of.terms) {
    wanted.ofQuery |= term.first->ofQuery;
    wanted.ofKey |= term.first->ofKey;
  }
  wanted.order = unsigned(atoms.size());
  atoms.push_back(wanted);
  return &atoms.back();
}

Affine Conditions::single(const Atom *one) {
  if (one->least == one->most)
    return {{}, one->least};
  return {{{one, 1}}, 0};
}

Conditions::Cases Conditions::withFit(Affine value, ArrayRef<Affine> mustFit) {
  Case one{always, value, SmallVector<Affine, 1>(mustFit)};
  if (!fits(value) && !llvm::is_contained(one.mustFit, value))
    one.mustFit.push_back(value);
  return {one};
}

/// i, j, h, constants, and numbers of the program around.
std::optional<Affine> Conditions::leaf(Value number) {
  APInt constant;
  if (matchPattern(number, m_ConstantInt(&constant)))
    return Affine{{}, constant.getSExtValue()};
  auto argument = dyn_cast<BlockArgument>(number);
  if (argument && argument.getOwner() == &mask) {
    constexpr Atom::Kind kinds[] = {Atom::Query, Atom::Key, Atom::Head};
    Atom::Kind kind = kinds[argument.getArgNumber()];
    int64_t heads = 1;
    for (int64_t size : cast<RankedTensorType>(attend.query().getType()).getShape().drop_front().drop_back())
      heads *= size;
    return single(atom({kind, 0, {}, {}, 0, kind == Atom::Head ? heads - 1 : rowLimit - 1}));
  }
  if (!attend.getMask().isAncestor(number.getParentRegion()))
    return single(atom({Atom::Scalar, 0, {}, number, leastInt, mostInt}));
  auto at = number.getDefiningOp<AtOp>();
  if (at && at.getIndices().empty()) {
    bool past = isPast(attend, number);
    return single(atom({Atom::Scalar, 0, {}, at.getTensor(), past ? 0 : leastInt, past ? rowLimit - 1 : mostInt}));
  }
  return std::nullopt;
}

/// A number of a captured row of whole numbers.
std::optional<Conditions::Cases> Conditions::table(AtOp at) {
  std::optional<unsigned> capture = captureNumber(attend, at.getTensor());
  if (!capture)
    return std::nullopt;
  if (at.getIndices().size() != 1) {
    reason = "a table of several dimensions";
    return std::nullopt;
  }
  std::optional<Cases> index = cases(at.getIndices().front());
  if (!index || index->size() != 1)
    return std::nullopt;
  Case result = index->front();
  result.value = single(atom({Atom::Table, *capture, result.value, {}, leastInt, mostInt}));
  return Cases{result};
}

/// `a` where `first` holds, `b` where `second` does.
std::optional<Conditions::Cases> Conditions::choose(Condition first, Condition second, Value a, Value b) {
  Cases result;
  for (auto [guard, value] : {std::pair(first, a), std::pair(second, b)}) {
    std::optional<Cases> each = cases(value);
    if (!each)
      return std::nullopt;
    for (Case &one : *each) {
      one.guard = both(one.guard, guard);
      if (!one.guard.empty())
        result.push_back(one);
    }
  }
  if (result.size() > mostCases)
    return std::nullopt;
  return result;
}

/// x of `x - x // c * c`, and c.
static std::optional<std::pair<Value, int64_t>> matchRemainder(Operation *op) {
  APInt divisor;
  if (auto remainder = dyn_cast<arith::RemSIOp>(op);
      remainder && matchPattern(remainder.getRhs(), m_ConstantInt(&divisor)))
    return std::pair(remainder.getLhs(), divisor.getSExtValue());
  auto minus = dyn_cast<arith::SubIOp>(op);
  auto product = minus ? minus.getRhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  auto quotient = product ? product.getLhs().getDefiningOp<arith::FloorDivSIOp>() : arith::FloorDivSIOp();
  if (!quotient || quotient.getLhs() != minus.getLhs() || quotient.getRhs() != product.getRhs() ||
      !matchPattern(product.getRhs(), m_ConstantInt(&divisor)))
    return std::nullopt;
  return std::pair(minus.getLhs(), divisor.getSExtValue());
}

std::optional<Conditions::Cases> Conditions::caseOf(Operation *op) {
  using enum arith::CmpIPredicate;
  if (auto at = dyn_cast<AtOp>(op))
    return table(at);
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return choose(condition(choice.getCondition(), false), condition(choice.getCondition(), true),
                  choice.getTrueValue(), choice.getFalseValue());
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
    Value a = op->getOperand(0), b = op->getOperand(1);
    bool least = isa<arith::MinSIOp>(op);
    return choose(compare(least ? sle : sge, a, b, op), compare(least ? sgt : slt, a, b, op), a, b);
  }
  std::optional<std::pair<Value, int64_t>> remainder = matchRemainder(op);
  bool isSize = isa<math::AbsIOp>(op), divides = isa<arith::FloorDivSIOp, arith::DivSIOp>(op);
  if (!remainder && !isSize && !divides && !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<Cases> a = cases(remainder ? remainder->first : op->getOperand(0)), b = Cases{{always, {}}};
  if (!remainder && !isSize)
    b = cases(op->getOperand(1));
  if (!a || !b || a->size() * b->size() > mostCases)
    return std::nullopt;
  Cases result;
  for (const Case &left : *a)
    for (const Case &right : *b) {
      Condition guard = both(left.guard, right.guard);
      SmallVector<Affine, 1> mustFit = left.mustFit;
      llvm::append_range(mustFit, right.mustFit);
      auto add = [&](Affine value, const Condition &where) {
        for (Case &one : withFit(value, mustFit)) {
          one.guard = both(guard, where);
          if (!one.guard.empty())
            result.push_back(one);
        }
      };
      const Affine &x = left.value, &y = right.value;
      if (isSize) {
        add(x, compare(sge, left, {always, {}}));
        add(scaled(x, -1), compare(slt, left, {always, {}}));
      } else if (remainder || divides) {
        int64_t divisor = remainder ? remainder->second : y.constant;
        bool known = remainder || y.terms.empty();
        bool towardsZero = isa<arith::RemSIOp, arith::DivSIOp>(op);
        if (!known || divisor <= 0 || (towardsZero && x.least() < 0))
          return std::nullopt;
        Atom wanted{remainder ? Atom::Mod : Atom::Div, divisor, x, {}};
        wanted.least = remainder ? 0 : llvm::divideFloorSigned(std::max(leastInt, x.least()), divisor);
        wanted.most = remainder ? divisor - 1 : llvm::divideFloorSigned(std::min(mostInt, x.most()), divisor);
        if (wanted.least > wanted.most)
          return std::nullopt;
        add(x.terms.empty() && !remainder ? Affine{{}, llvm::divideFloorSigned(x.constant, divisor)}
                                          : single(atom(wanted)),
            always);
      } else if (isa<arith::MulIOp>(op)) {
        if (!x.terms.empty() && !y.terms.empty())
          return std::nullopt;
        add(x.terms.empty() ? scaled(y, x.constant) : scaled(x, y.constant), always);
      } else {
        add(sum(x, isa<arith::AddIOp>(op) ? 1 : -1, y), always);
      }
      if (result.size() > mostCases || !llvm::all_of(result, [](const Case &one) { return isTame(one.value); }))
        return std::nullopt;
    }
  return result;
}

/// Nothing where the number can't be followed; that is noted.
std::optional<Conditions::Cases> Conditions::cases(Value number) {
  if (number.getType().isInteger(32))
    if (std::optional<Affine> one = leaf(number))
      return withFit(*one, {});
  Operation *op = number.getDefiningOp();
  std::optional<Cases> result;
  if (op && number.getType().isInteger(32))
    result = caseOf(op);
  if (!result && reason.empty())
    reason = "a number that is no sum, quotient or remainder of i, j, h and entries of tables";
  return result;
}

Conditions::Conditions(AttendOp op) : attend(op), mask(op.getMask().front()) {
  Value truth = mask.getTerminator()->getOperand(0);
  visible = condition(truth, false);
  hidden = condition(truth, true);
}

} // namespace attn::masks
