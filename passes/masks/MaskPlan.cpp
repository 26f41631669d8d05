// Plans of masks: from conditions on pairs of rows to expressions over tiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contraction. A term holds for a pair (i, j) if all its literals do. Begin with the ranges of i and j in the tile. A
// literal  least <= sum of factor * atom <= most  together with ranges of all atoms but one bounds that one; a bound on
// an atom bounds what the atom is made of:
//
//     l <= x // c <= u    =>  l c <= x <= u c + c - 1
//     l <= x % c <= u     =>  x is not below the first number from its lower end on whose remainder is in l … u, nor
//                             above the last one up to its upper end
//     l <= t[x] <= u      =>  for a sorted table: below(l) <= x < below(u + 1), where below(n) counts the entries less
//                             than n; x is held at the table's ends, so an end of the table is no bound
//
// Each step keeps every pair of the tile for which the term holds, so a range that becomes empty proves that there is
// none, and the range of j at the end holds every key that a query sees by this term. That is all that soundness needs;
// order and number of the steps are free. A literal whose `mustFit` does not fit gets bounds that say nothing.
//
// Exactness. Write i0 … i1 and j0 … j1 for the ranges of i and j.
//
// (1) Literals on i, j and i - j. After the literals on i and on j their ranges are exact. With l <= i - j <= u, a pair
// exists iff i0 - j1 … i1 - j0 meets l … u, since the difference takes every value between; the keys for which an i
// exists are j0 … j1 cut with i0 - u … i1 - l, which is what is computed.
//
// (2) l <= i // c - j // c <= u. The quotients of a range take every value between their ends, and so does their
// difference: emptiness is exact as in (1), and the keys are those whose quotient lies in i0 // c - u … i1 // c - l.
// With 0 <= i - j as well: `tighten` has cut the difference by what the quotients say, so u >= 0. Let x be the lower
// end of j after the first step, and suppose that x <= j1 and x <= i1, which the steps test. Let d be the largest
// quotient of an i of the tile that is at most x // c + u; the second step of (2) leaves one, and d - x // c >= l. If d
// > x // c, every i of quotient d is above x. If d = x // c, then i1 or the last number of the chunk of x, whichever is
// less, is in the tile, of quotient d, and not below x. d < x // c would mean i1 < x. So x is visible: the term is
// empty only if the steps say so, and x is its first key.
//
// (3) t[i] = t[j] of one sorted table. A tile of rows holds every entry between its first and its last. Where the
// ranges of entries of queries and of keys meet, an end of one lies in the other, so that they have an entry in common;
// the keys are those from the first whose entry is not below the queries' least to the last not above their largest.
// With 0 <= i - j: let x be the first such key from FirstKey on, and x <= i1. If its entry is that of i1, i1 sees it.
// If it is less, all rows of that entry from x on are before i1, and the last of them that is a query sees x: there is
// one, because the entry is not less than that of i0, so that its last row is not before i0.
//
// The first key of a term is the lower end of its range of j when the keys looked at are all from FirstKey on; the next
// key of the mask is the least of its terms'. Tiles are full where no term of the hidden pairs is possible; for these
// masks each of those terms is of kind (1), (2) or (3), alone.
#include "passes/masks/MaskPlan.h"

using namespace mlir;

namespace attn {

using namespace masks;

namespace {

struct Range {
  Number low, high;
};

/// The ranges of i and j for which a term can hold, as far as the steps above find them.
class Contraction {
public:
  Contraction(Numbers &all, Range queries, Range keys, bool everyKey)
      : numbers(all), query(queries), key(keys), wide(everyKey), possible(all.yes()) {}

  void apply(const Term &term);
  Number isPossible();
  Number firstKey() { return key.low; }

private:
  void apply(const Literal &literal);
  void restrict(const Affine &form, Range bounds);
  void restrict(const Atom *atom, Range bounds);
  void restrictTable(const Atom *atom, Range bounds);
  void cut(Range &range, Range bounds);
  Range of(const Affine &form);
  Range of(const Atom *atom);
  Range forward(const Atom *atom);
  Range times(Range range, int64_t factor);
  Number remainder(Number x, int64_t divisor) {
    return numbers.sub(x, numbers.mul(numbers.floorDiv(x, divisor), divisor));
  }

  Numbers &numbers;
  Range query, key;
  bool wide; // the keys are all from a first one on
  std::map<const Atom *, Range> found;
  Number possible;
};

Range Contraction::times(Range range, int64_t factor) {
  Number a = numbers.mul(range.low, factor), b = numbers.mul(range.high, factor);
  return factor > 0 ? Range{a, b} : Range{b, a};
}

Range Contraction::of(const Affine &form) {
  Range total{numbers.constant(form.constant), numbers.constant(form.constant)};
  for (auto [atom, factor] : form.terms) {
    Range part = times(of(atom), factor);
    total = {numbers.add(total.low, part.low), numbers.add(total.high, part.high)};
  }
  return total;
}

Range Contraction::of(const Atom *atom) {
  Range range = forward(atom);
  if (auto known = found.find(atom); known != found.end())
    range = {numbers.max(range.low, known->second.low), numbers.min(range.high, known->second.high)};
  return range;
}

/// From what the atom is made of.
Range Contraction::forward(const Atom *atom) {
  switch (atom->kind) {
  case Atom::Query:
    return query;
  case Atom::Key:
    return key;
  case Atom::Head:
    return {numbers.leaf(NumberKind::FirstHead), numbers.leaf(NumberKind::LastHead)};
  case Atom::Scalar:
    return {numbers.scalar(atom->value, false, atom->least, atom->most),
            numbers.scalar(atom->value, true, atom->least, atom->most)};
  case Atom::Div: {
    Range inner = of(atom->of);
    return {numbers.floorDiv(inner.low, atom->number), numbers.floorDiv(inner.high, atom->number)};
  }
  case Atom::Mod: {
    Range inner = of(atom->of);
    Number first = numbers.floorDiv(inner.low, atom->number), last = numbers.floorDiv(inner.high, atom->number);
    Number whole = numbers.lessEqual(last, first); // one block of the divisor
    Number start = numbers.mul(first, atom->number);
    return {numbers.select(whole, numbers.sub(inner.low, start), numbers.constant(0)),
            numbers.select(whole, numbers.sub(inner.high, start), numbers.constant(atom->number - 1))};
  }
  case Atom::Table: {
    Range inner = of(atom->of);
    Number none = numbers.constant(0), last = numbers.sub(numbers.tableLength(atom->number), numbers.constant(1));
    Number from = numbers.max(none, numbers.min(inner.low, last)),
           to = numbers.max(none, numbers.min(inner.high, last));
    if (!wide || !atom->ofKey)
      return {numbers.tableMin(atom->number, from, to), numbers.tableMax(atom->number, from, to)};
    Number sorted = numbers.tableSorted(atom->number);
    return {numbers.select(sorted, numbers.tableAt(atom->number, from), numbers.constant(atom->least)),
            numbers.select(sorted, numbers.tableAt(atom->number, to), numbers.constant(atom->most))};
  }
  }
  llvm_unreachable("every kind is above");
}

void Contraction::cut(Range &range, Range bounds) {
  range = {numbers.max(range.low, bounds.low), numbers.min(range.high, bounds.high)};
}

void Contraction::restrict(const Atom *atom, Range bounds) {
  Number divisor = numbers.constant(atom->number - 1);
  switch (atom->kind) {
  case Atom::Query:
    return cut(query, bounds);
  case Atom::Key:
    return cut(key, bounds);
  case Atom::Head:
  case Atom::Scalar:
    return;
  case Atom::Div: {
    // Beyond the quotients that there are all bounds say the same; held there, products stay small.
    auto held = [&](Number bound) {
      return numbers.max(numbers.constant(atom->least - 1), numbers.min(bound, numbers.constant(atom->most + 1)));
    };
    Number low = numbers.mul(held(bounds.low), atom->number), high = numbers.mul(held(bounds.high), atom->number);
    return restrict(atom->of, {low, numbers.add(high, divisor)});
  }
  case Atom::Mod: {
    Number low = numbers.max(bounds.low, numbers.constant(0)), high = numbers.min(bounds.high, divisor);
    possible = numbers.both(possible, numbers.lessEqual(low, high));
    Range inner = of(atom->of);
    Number first = remainder(inner.low, atom->number), last = remainder(inner.high, atom->number);
    // From the lower end up to `low` of its block if it stands below, of the next block if it stands above `high`.
    Number up =
        numbers.select(numbers.lessEqual(first, high), numbers.max(numbers.sub(low, first), numbers.constant(0)),
                       numbers.add(numbers.sub(low, first), numbers.constant(atom->number)));
    Number down =
        numbers.select(numbers.lessEqual(low, last), numbers.max(numbers.sub(last, high), numbers.constant(0)),
                       numbers.add(numbers.sub(last, high), numbers.constant(atom->number)));
    return restrict(atom->of, {numbers.add(inner.low, up), numbers.sub(inner.high, down)});
  }
  case Atom::Table:
    return atom->ofQuery ? void() : restrictTable(atom, bounds); // once a tile of queries, not once a tile of keys
  }
}

void Contraction::restrictTable(const Atom *atom, Range bounds) {
  Number length = numbers.tableLength(atom->number), one = numbers.constant(1),
         sorted = numbers.tableSorted(atom->number);
  Number from = numbers.tableBelow(atom->number, bounds.low);
  Number end = numbers.tableBelow(atom->number, numbers.add(bounds.high, one));
  Number anyBefore = numbers.lessEqual(from, numbers.constant(0)), anyBehind = numbers.lessEqual(length, end);
  Number nothing = numbers.constant(huge), lowest = numbers.constant(-huge);
  Number low = numbers.select(numbers.both(sorted, numbers.flip(anyBefore)), from, lowest);
  Number high = numbers.select(numbers.both(sorted, numbers.flip(anyBehind)), numbers.sub(end, one), nothing);
  restrict(atom->of, {low, high});
}

/// bounds.low <= form <= bounds.high
void Contraction::restrict(const Affine &form, Range bounds) {
  Range total = of(form);
  possible = numbers.both(
      possible, numbers.both(numbers.lessEqual(total.low, bounds.high), numbers.lessEqual(bounds.low, total.high)));
  for (auto [atom, factor] : form.terms) {
    if (!atom->ofQuery && !atom->ofKey)
      continue;
    Affine others = form;
    llvm::erase_if(others.terms, [&](auto &term) { return term.first == atom; });
    Range rest = of(others);
    Number low = numbers.sub(bounds.low, rest.high), high = numbers.sub(bounds.high, rest.low);
    Range own = factor > 0 ? Range{low, high} : Range{numbers.mul(high, -1), numbers.mul(low, -1)};
    int64_t size = std::abs(factor);
    own = {numbers.ceilDiv(own.low, size), numbers.floorDiv(own.high, size)};
    if (atom->kind != Atom::Query && atom->kind != Atom::Key) {
      auto [known, fresh] = found.try_emplace(atom, own);
      if (!fresh)
        cut(known->second, own);
    }
    restrict(atom, own);
  }
}

void Contraction::apply(const Literal &literal) {
  Range bounds{numbers.constant(literal.least <= -Conditions::none ? -huge : literal.least),
               numbers.constant(literal.most >= Conditions::none ? huge : literal.most)};
  for (const Affine &form : literal.mustFit) {
    Range range = of(form);
    Number fits = numbers.both(numbers.lessEqual(numbers.constant(std::numeric_limits<int32_t>::min()), range.low),
                               numbers.lessEqual(range.high, numbers.constant(std::numeric_limits<int32_t>::max())));
    bounds = {numbers.select(fits, bounds.low, numbers.constant(-huge)),
              numbers.select(fits, bounds.high, numbers.constant(huge))};
  }
  restrict(literal.form, bounds);
}

/// Literals that bound i or j alone come first: they make the box that the others are measured against.
void Contraction::apply(const Term &term) {
  auto isAlone = [](const Literal &literal) {
    return llvm::count_if(literal.form.terms, [](auto &part) { return part.first->ofQuery || part.first->ofKey; }) <= 1;
  };
  for (bool alone : {true, false})
    for (const Literal &literal : term)
      if (isAlone(literal) == alone)
        apply(literal);
}

Number Contraction::isPossible() {
  Number result = possible;
  auto hold = [&](Range range) { result = numbers.both(result, numbers.lessEqual(range.low, range.high)); };
  hold(query);
  hold(key);
  for (auto &[atom, range] : found)
    hold(of(atom));
  return result;
}

/// What l <= i // c - j // c <= u says of i - j: (l - 1) c + 1 <= i - j <= (u + 1) c - 1. Makes an existing bound on i
/// - j tighter; false if the term then never holds.
bool tighten(Term &term) {
  auto isDifference = [](const Literal &literal, bool ofRows) {
    auto &terms = literal.form.terms;
    bool pair = terms.size() == 2 && literal.mustFit.empty() && terms[0].second == 1 && terms[1].second == -1;
    return pair && llvm::all_of(terms, [&](auto &part) {
             Atom::Kind kind = part.first->kind;
             return ofRows ? kind == Atom::Query || kind == Atom::Key : kind == Atom::Div;
           });
  };
  for (Literal &difference : term)
    for (const Literal &quotients : term) {
      if (!isDifference(difference, true) || !isDifference(quotients, false))
        continue;
      const Atom *first = quotients.form.terms[0].first, *second = quotients.form.terms[1].first;
      auto isOf = [](const Atom *quotient, Atom::Kind kind) {
        auto &terms = quotient->of.terms;
        return quotient->of.constant == 0 && terms.size() == 1 && terms[0].second == 1 && terms[0].first->kind == kind;
      };
      Atom::Kind left = difference.form.terms[0].first->kind, right = difference.form.terms[1].first->kind;
      bool same = isOf(first, left) && isOf(second, right), turned = isOf(first, right) && isOf(second, left);
      if (first->number != second->number || (!same && !turned))
        continue;
      int64_t least = same ? quotients.least : -quotients.most, most = same ? quotients.most : -quotients.least;
      if (std::abs(least) < rowLimit)
        difference.least = std::max(difference.least, (least - 1) * first->number + 1);
      if (std::abs(most) < rowLimit)
        difference.most = std::min(difference.most, (most + 1) * first->number - 1);
      if (difference.least > difference.most)
        return false;
    }
  return true;
}

/// Whether a term bounds only i, j, i - j: one round is exact then.
bool isDifference(const Term &term) {
  return llvm::all_of(term, [](const Literal &literal) {
    int64_t i = 0, j = 0;
    for (auto [atom, factor] : literal.form.terms) {
      if (atom->kind == Atom::Query)
        i = factor;
      else if (atom->kind == Atom::Key)
        j = factor;
      else if (atom->ofQuery || atom->ofKey)
        return false;
    }
    return std::abs(i) <= 1 && std::abs(j) <= 1 && i * j <= 0;
  });
}

/// x of a remainder of  i + x  in the term, and the divisor; 0 if there is none.
std::pair<int64_t, int64_t> findGrid(const Term &term) {
  for (const Literal &literal : term)
    for (auto [atom, factor] : literal.form.terms) {
      const Affine &of = atom->of;
      bool isQuery = of.terms.size() == 1 && of.terms[0].first->kind == Atom::Query && of.terms[0].second == 1;
      if (atom->kind == Atom::Mod && isQuery)
        return {of.constant, atom->number};
    }
  return {0, 0};
}

/// How finely a plan tells cases apart. A mask of many alternatives gets a coarser plan: code must stay small.
struct Detail {
  size_t terms;  // of a condition
  int rounds;    // of steps
  bool cutsGrid; // tiles of queries, where a grid's row ends
};
constexpr Detail details[] = {{96, 2, true}, {96, 1, true}, {24, 1, false}, {8, 1, false}, {1, 1, false}};
constexpr size_t mostNumbers = 1600;

class Planner {
public:
  Planner(Numbers &all, const Detail &wanted) : numbers(all), detail(wanted) {}

  Number seen(const Condition &condition, Range keys, bool wide, Number *next);

private:
  SmallVector<Range, 3> pieces(const Term &term);
  Numbers &numbers;
  const Detail &detail;
};

/// The tile's queries, cut where a grid's row ends, so that the remainders of each piece are an interval.
SmallVector<Range, 3> Planner::pieces(const Term &term) {
  Range all{numbers.leaf(NumberKind::FirstQuery), numbers.leaf(NumberKind::LastQuery)};
  auto [shift, divisor] = findGrid(term);
  if (divisor == 0 || !detail.cutsGrid)
    return {all};
  auto start = [&](Number query, int64_t rows) {
    Number row = numbers.floorDiv(numbers.add(query, numbers.constant(shift)), divisor);
    return numbers.sub(numbers.mul(numbers.add(row, numbers.constant(rows)), divisor), numbers.constant(shift));
  };
  Number second = start(all.low, 1), last = start(all.high, 0), one = numbers.constant(1);
  return {{all.low, numbers.min(all.high, numbers.sub(second, one))},
          {second, numbers.sub(last, one)},
          {numbers.max(all.low, last), all.high}};
}

/// Whether the condition can hold for a query of the tile and one of the keys; `next` is the first such key.
Number Planner::seen(const Condition &condition, Range keys, bool wide, Number *next) {
  Number any = numbers.no(), none = numbers.add(numbers.leaf(NumberKind::FinalKey), numbers.constant(1));
  if (next)
    *next = numbers.constant(rowLimit);
  for (Term term : condition) {
    if (!tighten(term))
      continue;
    for (Range queries : pieces(term)) {
      Contraction contraction(numbers, queries, keys, wide);
      for (int rounds = isDifference(term) ? 1 : detail.rounds; rounds > 0; --rounds)
        contraction.apply(term);
      Number possible = contraction.isPossible();
      any = numbers.either(any, possible);
      if (next)
        *next = numbers.min(*next, numbers.select(possible, contraction.firstKey(), none));
    }
  }
  return any;
}

/// The condition with fewer terms, which holds more often: they keep what they say of i, j and i - j alone; where that
/// is still too much, nothing.
Condition coarser(Condition condition, size_t terms) {
  if (condition.size() <= terms)
    return condition;
  Condition result;
  for (Term &term : condition) {
    llvm::erase_if(term, [](const Literal &literal) { return !isDifference({literal}); });
    if (llvm::none_of(result, [&](const Term &other) { return implies(term, other); }))
      result.push_back(term);
  }
  return result.size() <= terms ? result : Condition{Term()};
}

} // namespace

MaskPlan::MaskPlan(AttendOp op) {
  Conditions conditions(op);
  undecided = conditions.undecided;
  for (const Detail &detail : details) {
    numbers = std::make_shared<Numbers>();
    Planner planner(*numbers, detail);
    Condition visible = coarser(conditions.visible, detail.terms), hidden = coarser(conditions.hidden, detail.terms);
    Number firstKey = numbers->leaf(NumberKind::FirstKey), lastKey = numbers->leaf(NumberKind::LastKey);
    planner.seen(visible, {firstKey, numbers->leaf(NumberKind::FinalKey)}, true, &next);
    bool exact = llvm::all_of(visible, isDifference);
    seen = exact ? numbers->yes() : planner.seen(visible, {firstKey, lastKey}, false, nullptr);
    full = numbers->flip(planner.seen(hidden, {firstKey, lastKey}, false, nullptr));
    size_t count = 0;
    forEach([&](Number) { ++count; });
    if (count > mostNumbers)
      continue;
    if (std::max(conditions.visible.size(), conditions.hidden.size()) > detail.terms)
      undecided.push_back({op.getMask().front().getTerminator(), "too many alternatives for code that stays small"});
    return;
  }
  llvm_unreachable("one alternative is few enough");
}

void MaskPlan::forEach(llvm::function_ref<void(Number)> each) const {
  llvm::DenseSet<Number> done;
  std::function<void(Number)> visit = [&](Number number) {
    if (!number || !done.insert(number).second)
      return;
    each(number);
    llvm::for_each(number->args, visit);
  };
  for (Number number : {next, seen, full})
    visit(number);
}

int64_t MaskPlan::nextKey(const Tile &tile, const Data &data) const {
  return Evaluation(tile, data)(next);
}

TileClass MaskPlan::classify(const Tile &tile, const Data &data) const {
  Evaluation evaluate(tile, data);
  if (evaluate(full))
    return TileClass::Full;
  return evaluate(seen) ? TileClass::Partial : TileClass::Empty;
}

} // namespace attn
