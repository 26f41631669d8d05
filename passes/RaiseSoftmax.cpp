// attn-raise-softmax: a softmax written as arithmetic becomes attn.softmax.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   e / sum(e), where e = exp(x) or exp(x - max(x))       =>   attn.softmax (x)
//   exp(x - log(sum(exp(x))))                             =>   attn.softmax (x)
//   contract(e, v) / sum(e)                               =>   contract(attn.softmax (x), v)
//
// The quotient may be part of a larger elementwise region, or a product with the reciprocal; e may be written once or
// twice. Nobody else may read the exponentials.
//
// Exponents are compared and cleaned as sums (Summand): a softmax does not change when all numbers of a row grow by the
// same, so what is taken from every number of a row goes, where it is a maximum, the logarithm of a sum of
// exponentials, or a constant: those are finite for every row that has a finite number. Anything else that is constant
// along a row stays, because -inf added to a whole row hides it. A row whose x are all -inf is 0 by attn.softmax, where
// the arithmetic gives NaN.
//
// Leaves true: dead maps and reductions, for attn-simplify.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "passes/Names.h"
#include "passes/Passes.h"
#include "passes/Terms.h"
#include <cmath>

using namespace mlir;

namespace attn {
namespace {

// ---------------------------------------------------------------------------------------------------------- exponents

/// factor * factors.. * atom. The factors are the same all along a row.
struct Summand {
  double factor = 1;
  SmallVector<Term, 2> factors;
  Term atom;
};

bool operator==(const Summand &a, const Summand &b) {
  return a.factor == b.factor && a.atom.equals(b.atom) &&
         llvm::equal(a.factors, b.factors, [](const Term &x, const Term &y) { return x.equals(y); });
}

/// The logarithm of a sum of exponentials along `along`.
ReducedTensor matchLogOfSum(const Term &term, StringAttr along) {
  Operation *op = term.op();
  ReducedTensor sum =
      isa_and_present<math::LogOp>(op) ? matchReduction(term.operand(0), Reduction::sum, along) : ReducedTensor();
  auto powers = sum ? sum.input.value.getDefiningOp<MapOp>() : MapOp();
  bool isPower = powers && yieldedValue(powers.getBody().front()).getDefiningOp<math::ExpOp>();
  return isPower ? sum : ReducedTensor();
}

/// Whether the softmax along `along` is the same without this summand.
bool shiftsRows(const Term &term, StringAttr along) {
  if (std::optional<double> constant = term.constant())
    return std::isfinite(*constant);
  if (term.variesAlong(ownName(along)))
    return false;
  NamedTensor leaf = term.leaf();
  auto reduce = leaf ? leaf.value.getDefiningOp<ReduceOp>() : ReduceOp();
  return (reduce && reduce.getKind() == Reduction::max) || matchLogOfSum(term, along);
}

/// The finite constant that operand `i` multiplies the other by, if it is one.
std::optional<double> factorAt(const Term &term, unsigned i) {
  bool divides = isa<arith::DivFOp>(term.op());
  std::optional<double> factor = term.operand(i).constant();
  if (!factor || !std::isfinite(*factor) || *factor == 0 || (divides && i == 0))
    return std::nullopt;
  return divides ? 1 / *factor : *factor;
}

/// Adds `scale * term` to `sum`, multiplied out where that brings to light what shifts a whole row.
bool splitSum(Summand scale, const Term &term, StringAttr along, SmallVectorImpl<Summand> &sum) {
  size_t before = sum.size();
  bool found = false;
  auto go = [&](unsigned i, double factor) {
    Summand scaled = scale;
    scaled.factor *= factor;
    found |= splitSum(scaled, term.operand(i), along, sum);
  };
  Operation *op = term.op();
  if (isa_and_present<arith::AddFOp, arith::SubFOp>(op)) {
    go(0, 1);
    go(1, isa<arith::SubFOp>(op) ? -1 : 1);
  } else if (isa_and_present<arith::NegFOp>(op)) {
    go(0, -1);
  } else if (isa_and_present<arith::MulFOp, arith::DivFOp>(op)) {
    for (unsigned i : {1u, 0u}) {
      if (std::optional<double> factor = factorAt(term, i)) {
        go(1 - i, *factor);
        break;
      }
      if (isa<arith::DivFOp>(op) || term.operand(i).variesAlong(ownName(along)))
        continue;
      scale.factors.push_back(term.operand(i));
      go(1 - i, 1);
      scale.factors.pop_back();
      break;
    }
  }
  if (found)
    return true;
  sum.truncate(before); // as it is written
  scale.atom = term;
  sum.push_back(scale);
  return shiftsRows(term, along);
}

SmallVector<Summand> splitExponent(const Term &exponent, StringAttr along) {
  SmallVector<Summand> sum;
  splitSum({1, {}, exponent}, exponent, along, sum);
  return sum;
}

// ----------------------------------------------------------------------------------------------------------- matching

/// A scalar that may be a softmax's number.
struct Quotient {
  Value result;
  Value above; // e, a scalar; none for exp(x - log(sum))
  Term below;  // the sum, or the exponent x - log(sum)
};

/// a / b, a * (1 / b), exp(a).
SmallVector<Quotient, 2> findQuotients(Operation &op, MapOp map) {
  auto term = [&](unsigned i) { return Term(op.getOperand(i), map, map.outDims()); };
  if (isa<math::ExpOp>(op))
    return {{op.getResult(0), Value(), term(0)}};
  if (isa<arith::DivFOp>(op))
    return {{op.getResult(0), op.getOperand(0), term(1)}};
  SmallVector<Quotient, 2> found;
  if (isa<arith::MulFOp>(op))
    for (unsigned i : {0u, 1u})
      if (Operation *inverse = term(i).op();
          isa_and_present<arith::DivFOp>(inverse) && term(i).operand(0).constant() == 1.0)
        found.push_back({op.getResult(0), op.getOperand(1 - i), term(i).operand(1)});
  return found;
}

class Matcher {
public:
  Matcher(MapOp inMap, Quotient of) : map(inMap), quotient(of) {}

  bool match() {
    for (StringAttr along : map.outDims().getNames()) {
      if (!quotient.above && matchLogarithm(along))
        return true;
      if (quotient.above && matchSum(quotient.below, along) && matchDirect())
        return true;
    }
    StringAttr along = quotient.above ? freshSummed(quotient.below) : StringAttr();
    return along && matchSum(quotient.below, along) && matchAfterProduct();
  }

  void replace();

private:
  /// A name for the dimension that `below` sums over, if it is a sum, that the quotient doesn't have.
  StringAttr freshSummed(const Term &below) {
    NamedTensor leaf = below.leaf();
    auto reduce = leaf ? leaf.value.getDefiningOp<ReduceOp>() : ReduceOp();
    for (size_t i = 0; reduce && i < reduce.inDims(0).size(); ++i)
      if (reduce.outDims().find(reduce.inDims(0).dim(i)) < 0)
        return freshLike(reduce, i);
    return {};
  }
  StringAttr freshLike(ReduceOp reduce, size_t i) {
    DimsAttr dims = reduce.inDims(0);
    StringAttr fresh = freshName(map.getContext(), dims.dim(i), map.outDims());
    bool isSequence = tensorType(reduce.getInputs().front()).isDynamicDim(i);
    if (!isSequence || fresh.getValue() == dims.sequence(i))
      return fresh;
    return StringAttr::get(map.getContext(), fresh.getValue() + ":" + dims.sequence(i));
  }
  bool matchSum(const Term &below, StringAttr along) {
    sum = matchReduction(below, Reduction::sum, along);
    return sum && matchExponentials();
  }
  bool matchExponentials();
  bool matchDirect();
  bool matchAfterProduct();
  bool matchLogarithm(StringAttr along);
  bool isReadBy(Operation *only) const;
  NamedTensor createSoftmax(OpBuilder &builder);

  MapOp map;
  Quotient quotient;
  ReducedTensor sum;
  Operation *reader = nullptr;   // who reads the exponentials besides the sum: `map`, or the product
  unsigned readerAt = 0;         // as which input of the product
  NamedTensor product;           // its result
  SmallVector<Summand> exponent; // of what is summed
};

/// The sum is one of exponentials.
bool Matcher::matchExponentials() {
  auto powers = sum.input.value.getDefiningOp<MapOp>();
  if (!powers)
    return false;
  Term power = Term::result(powers, sum.input.names);
  if (!isa_and_present<math::ExpOp>(power.op()))
    return false;
  exponent = splitExponent(power.operand(0), sum.along);
  return llvm::any_of(exponent, [&](const Summand &summand) { return !shiftsRows(summand.atom, sum.along); });
}

/// Nobody else reads the exponentials but sums.
bool Matcher::isReadBy(Operation *only) const {
  return llvm::all_of(sum.input.value.getUsers(), [&](Operation *user) { return user == only || isa<ReduceOp>(user); });
}

/// e / sum(e)
bool Matcher::matchDirect() {
  reader = map;
  Term above(quotient.above, map, map.outDims());
  return isReadBy(map) && above.equals(Term::result(sum.input.value.getDefiningOp<MapOp>(), sum.input.names));
}

/// exp(x - log(sum(exp(x))))
bool Matcher::matchLogarithm(StringAttr along) {
  reader = map;
  SmallVector<Summand> whole = splitExponent(quotient.below, along);
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i].factor != -1 || !whole[i].factors.empty() || !(sum = matchLogOfSum(whole[i].atom, along)))
      continue;
    SmallVector<Summand> rest(whole);
    rest.erase(rest.begin() + i);
    if (matchExponentials() && isReadBy(map) &&
        std::is_permutation(rest.begin(), rest.end(), exponent.begin(), exponent.end()))
      return true;
  }
  return false;
}

/// contract(e, v) in the place of e.
bool Matcher::matchAfterProduct() {
  NamedTensor above = Term(quotient.above, map, map.outDims()).tensor();
  auto contract = above ? above.value.getDefiningOp<ContractOp>() : ContractOp();
  if (!contract || !above.value.hasOneUse() || !isReadBy(contract))
    return false;
  for (unsigned i = 0; i < 2; ++i) {
    if (contract.getInputs()[i] != sum.input.value)
      continue;
    Renaming renaming = renamingByPlace(contract.outDims(), above.names);
    int place = sum.input.names.find(ownName(sum.along));
    if (contract.outDims().find(contract.inDims(i).dim(place)) >= 0)
      continue;
    renaming[contract.inDims(i).dim(place)] = sum.along;
    if (!sameNames(rename(contract.inDims(i), renaming), sum.input.names))
      continue;
    reader = contract, readerAt = i, product = above;
    return true;
  }
  return false;
}

// ---------------------------------------------------------------------------------------------------------- rewriting

/// A summand as a scalar; its sign is given back.
Value createSummand(const Summand &summand, ElementwiseBody &body, Location loc, bool &isNegative) {
  OpBuilder inside = body.builder();
  Value value = summand.atom.copyTo(body);
  for (const Term &factor : summand.factors) {
    Value other = factor.copyTo(body);
    inside = body.builder();
    value = arith::MulFOp::create(inside, loc, value, other);
  }
  isNegative = summand.factor < 0;
  if (std::fabs(summand.factor) == 1)
    return value;
  inside = body.builder();
  Value number =
      arith::ConstantOp::create(inside, loc, inside.getF32FloatAttr(static_cast<float>(std::fabs(summand.factor))));
  return arith::MulFOp::create(inside, loc, value, number);
}

/// The softmax of the exponent, without what shifts whole rows.
NamedTensor Matcher::createSoftmax(OpBuilder &builder) {
  MLIRContext *context = map.getContext();
  Location loc = map.getLoc();
  ElementwiseBody body(loc);
  Value total;
  for (const Summand &summand : exponent) {
    if (shiftsRows(summand.atom, sum.along))
      continue;
    bool isNegative = false;
    Value value = createSummand(summand, body, loc, isNegative);
    OpBuilder inside = body.builder();
    if (!total)
      total = isNegative ? arith::NegFOp::create(inside, loc, value).getResult() : value;
    else
      total = isNegative ? arith::SubFOp::create(inside, loc, total, value).getResult()
                         : arith::AddFOp::create(inside, loc, total, value).getResult();
  }
  body.yield(total);
  Value numbers = createMap(builder, loc, sum.input.value.getType(), sum.input.names, body);
  Value softmax =
      SoftmaxOp::create(builder, loc, tensorType(numbers), builder.getStringAttr(ownName(sum.along)), numbers,
                        makeDimsArray(context, sum.input.names), makeDimsArray(context, sum.input.names));
  return {softmax, sum.input.names};
}

void Matcher::replace() {
  MLIRContext *context = map.getContext();
  OpBuilder builder(reader);
  NamedTensor normal = createSoftmax(builder);
  if (auto contract = dyn_cast<ContractOp>(reader)) {
    SmallVector<Value> inputs(contract.getInputs());
    SmallVector<Attribute> dims(contract.getInDims().begin(), contract.getInDims().end());
    inputs[readerAt] = normal.value;
    // What the softmax calls its dimensions and what the product calls them: by the exponentials, whose order it may
    // not have.
    Renaming renaming = renamingByPlace(sum.input.names, contract.inDims(readerAt));
    dims[readerAt] = rename(normal.names, renaming);
    Value weighted = ContractOp::create(builder, contract.getLoc(), contract.getType(), inputs,
                                        builder.getArrayAttr(dims), contract.getOutDims());
    normal = {weighted, product.names};
  }
  Value scalar = map.getBody().addArgument(builder.getF32Type(), map.getLoc());
  quotient.result.replaceAllUsesWith(scalar);
  map.getInputsMutable().append(normal.value);
  SmallVector<Attribute> inDims(map.getInDims().begin(), map.getInDims().end());
  inDims.push_back(normal.names);
  map.setInDimsAttr(ArrayAttr::get(context, inDims));
  // What made the quotient is dead now, and must not be found again.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(map.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  map.emitRemark("recognised softmax along `") << ownName(sum.along) << "`";
}

/// Raises the first softmax in `map`.
bool raiseIn(MapOp map) {
  for (Operation &op : map.getBody().front())
    for (const Quotient &quotient : findQuotients(op, map)) {
      Matcher matcher(map, quotient);
      if (matcher.match())
        return matcher.replace(), true;
    }
  return false;
}

struct RaiseSoftmax : PassWrapper<RaiseSoftmax, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RaiseSoftmax)
  StringRef getArgument() const final { return "attn-raise-softmax"; }
  StringRef getDescription() const final { return "a softmax written as arithmetic becomes attn.softmax"; }
  void runOnOperation() final {
    SmallVector<MapOp> maps;
    getOperation().walk([&](MapOp map) { maps.push_back(map); });
    for (MapOp map : maps)
      while (raiseIn(map))
        ;
  }
};

} // namespace

std::unique_ptr<Pass> createRaiseSoftmax() {
  return std::make_unique<RaiseSoftmax>();
}

} // namespace attn
