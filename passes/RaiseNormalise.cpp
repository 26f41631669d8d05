// attn-raise-normalise: layer and RMS normalisation written as arithmetic become attn.normalise.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   m = mean(x); c = x - m; c * rsqrt(mean(c^2) + eps) * weight + bias   =>   attn.normalise layer eps (x, weight,
//   bias) x * rsqrt(mean(x^2) + eps) * weight                                  =>   attn.normalise rms eps (x, weight)
//
// Also: mean(x^2) - m^2 for the mean of c^2; a product of itself or a power for the square, 1 / sqrt, / sqrt and ^-0.5
// for the root, sums divided by their number for the means, factors in any order, no weight, no bias. The arithmetic
// may be part of a larger elementwise region: only the product is replaced. The mean of squares and its root must be of
// the same tensor along one static dimension, eps a constant. A remark says which of it fails where the rest is there.
//
// Leaves true: dead maps and reductions, for attn-simplify.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "passes/Passes.h"
#include "passes/Terms.h"

using namespace mlir;

namespace attn {
namespace {

/// One factor of a product, or one divisor.
struct Factor {
  Value value;
  bool isDivisor;
};

/// The factors of `value`, through products and quotients that nothing else reads.
void collectFactors(Value value, bool isDivisor, bool isRoot, SmallVectorImpl<Factor> &factors) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::MulFOp, arith::DivFOp>(op) || !(isRoot || value.hasOneUse())) {
    factors.push_back({value, isDivisor});
    return;
  }
  collectFactors(op->getOperand(0), isDivisor, false, factors);
  collectFactors(op->getOperand(1), isDivisor != isa<arith::DivFOp>(op), false, factors);
}

/// x ^ exponent, as a power or spelled out.
bool isPower(const Term &term, double exponent) {
  Operation *op = term.op();
  if (op && isa<math::PowFOp, math::FPowIOp>(op))
    return term.operand(1).constant() == exponent;
  return false;
}

/// The term under a root: rsqrt, 1 / sqrt or ^-0.5 if `inverse`, else sqrt or ^0.5.
std::optional<Term> underRoot(const Term &term, bool inverse) {
  Operation *op = term.op();
  if (!op)
    return std::nullopt;
  if (inverse ? isa<math::RsqrtOp>(op) : isa<math::SqrtOp>(op))
    return term.operand(0);
  if (isPower(term, inverse ? -0.5 : 0.5))
    return term.operand(0);
  if (inverse && isa<arith::DivFOp>(op) && term.operand(0).constant() == 1.0)
    return underRoot(term.operand(1), false);
  return std::nullopt;
}

/// What is normalised: x, and how.
struct Centre {
  NamedTensor x;
  Norm kind = Norm::rms;
};

/// x - mean(x) along `along`.
std::optional<NamedTensor> matchDeviation(const Term &term, StringAttr along) {
  Operation *op = term.op();
  if (!op || !isa<arith::SubFOp>(op))
    return std::nullopt;
  ReducedTensor mean = matchMean(term.operand(1), along);
  if (!mean || !term.operand(0).is(mean.input))
    return std::nullopt;
  return mean.input;
}

/// Whether two terms are the same tensor or the same deviation.
bool isCentre(const Term &term, const Centre &centre, StringAttr along) {
  if (centre.kind == Norm::rms)
    return term.is(centre.x);
  std::optional<NamedTensor> deviation = matchDeviation(term, along);
  return deviation && *deviation == centre.x;
}

/// The centre whose square `term` is.
std::optional<Centre> matchSquare(const Term &term, StringAttr along) {
  Operation *op = term.op();
  if (!op || !(isa<arith::MulFOp>(op) || isPower(term, 2)))
    return std::nullopt;
  Term base = term.operand(0);
  Centre centre;
  if (std::optional<NamedTensor> deviation = matchDeviation(base, along))
    centre = {*deviation, Norm::layer};
  else if (NamedTensor tensor = base.tensor())
    centre = {tensor, Norm::rms};
  else
    return std::nullopt;
  if (isa<arith::MulFOp>(op) && !isCentre(term.operand(1), centre, along))
    return std::nullopt;
  return centre;
}

class Matcher {
public:
  Matcher(MapOp inMap, Value atRoot) : map(inMap), root(atRoot) { collectFactors(root, false, true, factors); }

  /// Finds the centre and the root of the mean of its squares among the factors; else says in `why` what is missing, if
  /// something like a normalisation is there at all.
  bool match() {
    for (auto [i, factor] : llvm::enumerate(factors)) {
      std::optional<Term> mean = underRoot(termOf(factor.value), !factor.isDivisor);
      if (!mean) {
        noteOuterEps(factor);
        continue;
      }
      for (StringAttr name : map.outDims().getNames())
        if (matchWithScale(i, *mean, name))
          return true;
    }
    return false;
  }

  void replace();
  StringRef why;

private:
  Term termOf(Value value) const {
    MapOp own = map;
    return {value, own, own.outDims()};
  }

  bool matchWithScale(unsigned scale, Term mean, StringAttr name);
  void noteOuterEps(const Factor &factor);
  Value columnFactor(unsigned &which);

  MapOp map;
  Value root;
  SmallVector<Factor> factors;
  Centre centre;
  StringAttr along;
  double eps = 0;
  unsigned centreAt = 0, scaleAt = 0;
};

/// Splits `mean + eps`.
static std::optional<double> splitEps(Term &mean) {
  Operation *op = mean.op();
  if (!op || !isa<arith::AddFOp>(op))
    return 0.0;
  for (unsigned i : {0u, 1u})
    if (std::optional<double> eps = mean.operand(i).constant()) {
      mean = mean.operand(1 - i);
      return eps;
    }
  return std::nullopt;
}

/// mean(x^2) - mean(x)^2, which is the mean of (x - mean(x))^2.
static std::optional<Centre> matchVariance(const Term &difference, StringAttr name);

/// The centre whose mean of squares along `name` is `mean`.
static std::optional<Centre> matchMeanOfSquares(const Term &mean, StringAttr name) {
  if (Operation *op = mean.op(); isa_and_present<arith::SubFOp>(op))
    return matchVariance(mean, name);
  ReducedTensor reduced = matchMean(mean, name);
  auto square = reduced ? reduced.input.value.getDefiningOp<MapOp>() : MapOp();
  if (!square || ShapedType::isDynamic(reduced.size))
    return std::nullopt;
  return matchSquare(Term::result(square, reduced.input.names), name);
}

static std::optional<Centre> matchVariance(const Term &difference, StringAttr name) {
  std::optional<Centre> squares = matchMeanOfSquares(difference.operand(0), name);
  Term square = difference.operand(1);
  Operation *op = square.op();
  if (!squares || squares->kind != Norm::rms || !op || !(isa<arith::MulFOp>(op) || isPower(square, 2)))
    return std::nullopt;
  auto isMean = [&](const Term &term) {
    ReducedTensor mean = matchMean(term, name);
    return mean && mean.input == squares->x;
  };
  if (!isMean(square.operand(0)) || (isa<arith::MulFOp>(op) && !isMean(square.operand(1))))
    return std::nullopt;
  return Centre{squares->x, Norm::layer};
}

bool Matcher::matchWithScale(unsigned scale, Term mean, StringAttr name) {
  std::optional<double> added = splitEps(mean);
  std::optional<Centre> found = matchMeanOfSquares(mean, name);
  if (!found) {
    if (matchReduction(mean, Reduction::sum, name))
      why = "a sum stands where the mean of squares should";
    else if (!added && mean.op() &&
             (matchMeanOfSquares(mean.operand(0), name) || matchMeanOfSquares(mean.operand(1), name)))
      why = "what is added under the root is no constant";
    return false;
  }
  if (found->x.names.find(name.getValue().split(':').first) < 0)
    return false;
  for (auto [i, factor] : llvm::enumerate(factors))
    if (i != scale && !factor.isDivisor && isCentre(termOf(factor.value), *found, name)) {
      centre = *found, along = name, eps = *added, centreAt = i, scaleAt = scale;
      return true;
    }
  why = "what is scaled isn't what the mean of squares is taken of";
  return false;
}

void Matcher::noteOuterEps(const Factor &factor) {
  Term term = termOf(factor.value);
  Operation *op = term.op();
  if (!factor.isDivisor || !op || !isa<arith::AddFOp>(op))
    return;
  for (unsigned i : {0u, 1u})
    if (std::optional<Term> mean = underRoot(term.operand(i), false))
      for (StringAttr name : map.outDims().getNames())
        if (matchMeanOfSquares(*mean, name))
          why = "eps is added outside the root";
}

/// The next factor that is a tensor along the normalised dimension alone; moves `which` behind it.
Value Matcher::columnFactor(unsigned &which) {
  for (; which < factors.size(); ++which) {
    NamedTensor tensor = termOf(factors[which].value).tensor();
    bool isCentreOrScale = which == centreAt || which == scaleAt;
    if (!isCentreOrScale && !factors[which].isDivisor && tensor && tensor.names.size() == 1 &&
        tensor.names.dim(0) == along.getValue().split(':').first)
      return tensor.value;
  }
  return {};
}

/// Whether `root` is added to a tensor along the normalised dimension alone: the sum, and that tensor.
static std::pair<Value, Value> findBias(Value root, MapOp map, StringAttr along) {
  if (!root.hasOneUse())
    return {};
  Operation *user = *root.user_begin();
  if (!isa<arith::AddFOp>(user))
    return {};
  NamedTensor other = Term(user->getOperand(user->getOperand(0) == root ? 1 : 0), map, map.outDims()).tensor();
  if (!other || other.names.size() != 1 || other.names.dim(0) != along.getValue().split(':').first)
    return {};
  return {user->getResult(0), other.value};
}

void Matcher::replace() {
  MLIRContext *context = map.getContext();
  OpBuilder builder(map);
  Location loc = map.getLoc();
  StringRef name = along.getValue().split(':').first;

  // x with the normalised dimension last.
  SmallVector<StringAttr> order;
  for (size_t i = 0; i < centre.x.names.size(); ++i)
    if (centre.x.names.dim(i) != name)
      order.push_back(centre.x.names.getNames()[i]);
  order.push_back(along);
  DimsAttr names = makeDims(context, order), column = makeDims(context, along);
  SmallVector<Value> inputs = {permuteTo(builder, loc, centre.x.value, centre.x.names, names)};
  SmallVector<DimsAttr> dims = {names};
  unsigned weightAt = 0;
  if (Value weight = columnFactor(weightAt)) {
    inputs.push_back(weight);
    dims.push_back(column);
  }
  SmallVector<Factor> rest;
  for (auto [i, factor] : llvm::enumerate(factors))
    if (i != centreAt && i != scaleAt && (i != weightAt || inputs.size() == 1))
      rest.push_back(factor);
  Value replaced = root;
  if (inputs.size() == 2 && rest.empty())
    if (auto [sum, bias] = findBias(root, map, along); bias) {
      replaced = sum;
      inputs.push_back(bias);
      dims.push_back(column);
    }
  Value normal = NormaliseOp::create(builder, loc, inputs.front().getType(), centre.kind, APFloat(eps), inputs,
                                     makeDimsArray(context, dims), makeDimsArray(context, names));

  // The map reads the normalised tensor; what is left of the product follows.
  Value value = map.getBody().addArgument(builder.getF32Type(), loc);
  builder.setInsertionPointAfterValue(root);
  for (const Factor &factor : rest)
    value = factor.isDivisor ? Value(arith::DivFOp::create(builder, loc, value, factor.value))
                             : Value(arith::MulFOp::create(builder, loc, value, factor.value));
  replaced.replaceAllUsesWith(value);
  map.getInputsMutable().append(normal);
  SmallVector<Attribute> inDims(map.getInDims().begin(), map.getInDims().end());
  inDims.push_back(names);
  map.setInDimsAttr(builder.getArrayAttr(inDims));
  // What made the product is dead now, and must not be found again.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(map.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  map.emitRemark("recognised ") << (centre.kind == Norm::layer ? "layer" : "RMS") << " normalisation along `" << name
                                << "`";
}

/// A product that isn't a factor of another.
bool isWholeProduct(Operation *op) {
  if (!isa<arith::MulFOp, arith::DivFOp>(op))
    return false;
  return !op->hasOneUse() || !isa<arith::MulFOp, arith::DivFOp>(*op->user_begin());
}

/// Raises the first normalisation in `map`, or explains what looks like one and isn't.
bool raiseIn(MapOp map, bool explain) {
  for (Operation &op : map.getBody().front()) {
    if (!isWholeProduct(&op))
      continue;
    Matcher matcher(map, op.getResult(0));
    if (matcher.match())
      return matcher.replace(), true;
    if (explain && !matcher.why.empty())
      map.emitRemark("no normalisation: ") << matcher.why;
  }
  return false;
}

struct RaiseNormalise : PassWrapper<RaiseNormalise, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RaiseNormalise)
  StringRef getArgument() const final { return "attn-raise-normalise"; }
  StringRef getDescription() const final { return "normalisation written as arithmetic becomes attn.normalise"; }
  void runOnOperation() final {
    SmallVector<MapOp> maps;
    getOperation().walk([&](MapOp map) { maps.push_back(map); });
    for (MapOp map : maps) {
      while (raiseIn(map, /*explain=*/false))
        ;
      raiseIn(map, /*explain=*/true);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createRaiseNormalise() {
  return std::make_unique<RaiseNormalise>();
}

} // namespace attn
