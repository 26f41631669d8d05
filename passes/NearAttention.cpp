// Why something that looks like attention isn't.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-recognise-attention knows what it needs; what stands there instead is found here. Two kinds of text are near: a
// product with something that a softmax is part of, and a product with exponentials of another product that never
// became a softmax. A product of anything else says nothing: most are none.
#include "passes/NearAttention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Terms.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace attn {

std::string listNames(ArrayRef<StringAttr> names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i)
    list += (i == 0 ? "`" : i + 1 == names.size() ? " and `" : ", `") + ownName(names[i]).str() + "`";
  return list;
}

SmallVector<StringAttr> findSummed(ContractOp op) {
  SmallVector<StringAttr> result;
  for (StringAttr name : op.inDims(0).getNames())
    if (op.inDims(1).find(ownName(name)) >= 0 && op.outDims().find(ownName(name)) < 0)
      result.push_back(name);
  return result;
}

static SmallVector<StringAttr> findReduced(ReduceOp op) {
  SmallVector<StringAttr> result;
  for (StringAttr name : op.inDims(0).getNames())
    if (op.outDims().find(ownName(name)) < 0)
      result.push_back(name);
  return result;
}

static StringRef describe(Reduction kind) {
  switch (kind) {
  case Reduction::sum:
    return "sum";
  case Reduction::mean:
    return "mean";
  case Reduction::max:
    return "maximum";
  case Reduction::min:
    return "minimum";
  }
  llvm_unreachable("a kind of reduction");
}

std::string describe(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return ("a " + describe(reduce.getKind()) + " along " + listNames(findReduced(reduce))).str();
  if (auto contract = dyn_cast<ContractOp>(op))
    return "a product over " + listNames(findSummed(contract));
  if (auto linear = dyn_cast<LinearOp>(op))
    return "a product with a weight";
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return "a softmax along `" + softmax.getAlong().str() + "`";
  if (isa<NormaliseOp>(op))
    return "a normalisation";
  if (isa<GatherOp>(op))
    return "a look-up";
  if (isa<ConcatOp>(op))
    return "a concatenation";
  if (isa<SliceOp>(op))
    return "a part of a tensor";
  if (isa<ReshapeOp>(op))
    return "a regrouping of dimensions";
  return "an operation";
}

// ------------------------------------------------------------------------------------------------------------ readers

/// Whoever reads `value` besides `reader`.
static Operation *findOtherReader(Value value, Operation *reader) {
  for (Operation *user : value.getUsers())
    if (user != reader)
      return user;
  return reader;
}

/// The reduction that reads what `reader` gives, or is it.
static ReduceOp reductionAt(Operation *reader) {
  auto map = dyn_cast<MapOp>(reader);
  return dyn_cast<ReduceOp>(map && map->hasOneUse() ? *map->user_begin() : reader);
}

Reason explainReaders(Value value, Operation *reader, Read what, StringRef along) {
  static constexpr StringRef names[] = {"the weights", "the scores", "the products of queries and keys"};
  StringRef name = names[static_cast<int>(what)];
  Reason reason;
  Operation *other = findOtherReader(value, reader);
  ReduceOp reduce = what == Read::weights ? ReduceOp() : reductionAt(other);
  if (reduce && reduce.getKind() == Reduction::max)
    reason.text =
        llvm::formatv("{0} are also what {1} is taken of; softmax subtracts the maximum along `{2}`, and no other "
                      "is needed",
                      name, describe(reduce), along);
  else if (reduce)
    reason.text =
        llvm::formatv("{0} are also what {1} is taken of; a score may read its own pair alone", name, describe(reduce));
  else if (what == Read::weights && isa<ContractOp>(other))
    reason.text = "the weights are read by two products; `concat` makes one of their values, and of two products one";
  else if (what == Read::weights)
    reason.text =
        "the weights are read elsewhere too, so all of them must exist; `attend(…, weights: true)` gives them "
        "beside the result";
  else
    reason.text = (name + " are read elsewhere too, so all of them must exist; attention keeps none").str();
  if (auto function = dyn_cast<func::FuncOp>(other->getParentOp()); function && isa<func::ReturnOp>(other))
    reason.note(value.getDefiningOp(), "they are a result of `" + function.getName() + "`");
  else
    reason.note(other, "they are read here");
  return reason;
}

// -------------------------------------------------------------------------------------------------------- expressions

/// Calls `look` for every operation and every tensor of an expression until it says true; each at most `steps` times.
static bool visit(const Term &term, llvm::function_ref<bool(const Term &)> look, unsigned &steps) {
  if (steps == 0 || look(term))
    return steps != 0;
  --steps;
  Operation *op = term.op();
  for (unsigned i = 0; op && i < op->getNumOperands(); ++i)
    if (visit(term.operand(i), look, steps))
      return true;
  return false;
}

static std::optional<Term> find(const Term &term, llvm::function_ref<bool(const Term &)> look) {
  std::optional<Term> found;
  unsigned steps = 1000;
  visit(
      term,
      [&](const Term &each) {
        if (look(each))
          found = each;
        return found.has_value();
      },
      steps);
  return found;
}

/// The operation behind a term's tensor, if it comes from one.
static Operation *leafOp(const Term &term) {
  NamedTensor leaf = term.op() ? NamedTensor() : term.leaf();
  return leaf ? leaf.value.getDefiningOp() : nullptr;
}

/// An exponential of a product of two tensors.
static bool isPowerOfProduct(const Term &term) {
  return isa_and_present<math::ExpOp>(term.op()) &&
         find(term.operand(0), [](const Term &each) { return isa_and_present<ContractOp>(leafOp(each)); });
}

/// What divides in `term`: b of a / b and of a * (1 / b).
static std::optional<Term> findDivisor(const Term &term) {
  std::optional<Term> division = find(term, [](const Term &each) {
    return isa_and_present<arith::DivFOp>(each.op()) && !each.operand(1).constant() &&
           !isPowerOfProduct(each.operand(1));
  });
  return division ? std::optional<Term>(division->operand(1)) : std::nullopt;
}

// -------------------------------------------------------------------------------------------- arithmetic, no softmax

static Reason explainDivisor(const Term &divisor, StringRef along) {
  Reason reason;
  NamedTensor leaf = divisor.op() ? NamedTensor() : divisor.leaf();
  auto reduce = leaf ? leaf.value.getDefiningOp<ReduceOp>() : ReduceOp();
  if (!reduce) {
    std::optional<Term> sum = find(divisor, [](const Term &each) { return isa_and_present<ReduceOp>(leafOp(each)); });
    bool addsOne = sum && isa<arith::AddFOp>(divisor.op()) &&
                   (divisor.operand(0).constant() == 1.0 || divisor.operand(1).constant() == 1.0);
    reason.text = llvm::formatv("the exponentials are divided by {0} their sum along `{1}`; {2}",
                                sum ? "something made of" : "something else than", along,
                                addsOne ? "`attend(…, weigh: softmax1)` adds one to it"
                                        : "`attend(…, sink(h): e)` adds exp(e) to it, and nothing else belongs there");
    return reason;
  }
  SmallVector<StringAttr> reduced = findReduced(reduce);
  for (auto inner = reduce.getInputs().front().getDefiningOp<ReduceOp>(); inner && inner.getKind() == reduce.getKind();
       inner = inner.getInputs().front().getDefiningOp<ReduceOp>())
    llvm::append_range(reduced, findReduced(inner));
  if (reduce.getKind() != Reduction::sum)
    reason.text =
        llvm::formatv("the exponentials are divided by {0}, not by their sum along `{1}`", describe(reduce), along);
  else if (reduced.size() > 1)
    reason.text = llvm::formatv("the exponentials are divided by their sum over {0} together; only the sum along `{1}` "
                                "makes weights of them",
                                listNames(reduced), along);
  else
    reason.text = "the sum that divides is not that of the exponentials above it; both must be of the same scores";
  reason.note(reduce, "this is " + describe(reduce));
  return reason;
}

/// The exponentials are read by more than the quotient, the product and the sum.
static std::optional<Reason> explainPowers(Value powers, ContractOp product, Operation *quotient) {
  for (Operation *user : powers.getUsers())
    if (user != product && user != quotient && !isa<ReduceOp>(user)) {
      Reason reason;
      reason.text = "the exponentials are read elsewhere too, so all of them must exist; attention keeps none";
      bool isResult = isa<func::ReturnOp>(user);
      reason.note(isResult ? powers.getDefiningOp() : user, isResult ? "they are a result" : "they are read here");
      return reason;
    }
  return std::nullopt;
}

/// What divides a product's result, perhaps turned around.
static std::optional<Term> findDivisorBehind(Value result) {
  for (Operation *user : result.getUsers()) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      if (std::optional<Term> divisor = findDivisorBehind(reshape.getOutput()))
        return divisor;
    if (auto map = dyn_cast<MapOp>(user))
      if (std::optional<Term> divisor = findDivisor(Term::result(map, map.outDims())))
        return divisor;
  }
  return std::nullopt;
}

static std::optional<Reason> explainArithmetic(const Term &weights, ContractOp product, Value input, StringRef along) {
  if (!find(weights, isPowerOfProduct))
    return std::nullopt;
  std::optional<Term> divisor = findDivisor(weights);
  if (!divisor)
    divisor = findDivisorBehind(product.getOutput());
  auto sum = divisor ? dyn_cast_or_null<ReduceOp>(leafOp(*divisor)) : ReduceOp();
  if (sum && sum.getInputs().front().getDefiningOp<MapOp>())
    if (std::optional<Reason> reason = explainPowers(sum.getInputs().front(), product, input.getDefiningOp()))
      return reason;
  if (divisor)
    return explainDivisor(*divisor, along);
  Reason reason;
  reason.text =
      llvm::formatv("nothing divides the exponentials by their sum along `{0}`; `softmax(…, along: {0})` is both",
                    along)
          .str();
  return reason;
}

// ---------------------------------------------------------------------------------------------------- behind a softmax

/// What a map does to the softmax's numbers.
static Reason explainChange(const Term &weights, MapOp map, StringRef along) {
  Reason reason;
  auto isSoftmax = [](const Term &term) { return isa_and_present<SoftmaxOp>(leafOp(term)); };
  Operation *op = weights.op();
  std::optional<Term> factor;
  for (unsigned i : {0u, 1u})
    if (isa_and_present<arith::MulFOp>(op) && isSoftmax(weights.operand(i)) && !isSoftmax(weights.operand(1 - i)))
      factor = weights.operand(1 - i);
  if (isa_and_present<arith::DivFOp>(op) && isSoftmax(weights.operand(0)))
    factor = weights.operand(1);
  bool ofQueries = factor && !factor->variesAlong(along), ofKeys = false;
  if (factor && !ofQueries) {
    ofKeys = true;
    for (StringAttr name : map.outDims().getNames())
      ofKeys &= ownName(name) == along || !factor->variesAlong(ownName(name));
  }
  if (isa_and_present<arith::SelectOp>(op))
    reason.text = "what is hidden after the softmax has had its share of the weight; hide it before, "
                  "`softmax(select(visible, s, -inf))`";
  else if (ofQueries)
    reason.text =
        llvm::formatv("the weights are scaled after the softmax; what does not differ along `{0}` scales the result",
                      along)
            .str();
  else if (ofKeys)
    reason.text =
        llvm::formatv("the weights are scaled after the softmax; what differs along `{0}` alone scales the values",
                      along)
            .str();
  else if (factor)
    reason.text = "the weights are multiplied pair by pair after the softmax; a mask stands before it, "
                  "`softmax(select(visible, s, -inf))`, and training's dropout has no place here";
  else
    reason.text = "the weights are changed after the softmax; what belongs to a score stands before it";
  reason.note(map, "this changes them");
  return reason;
}

/// The softmax that an operation which is not elementwise works on, if its dimension `along` is still there.
static Operation *softmaxBehind(Operation *op) {
  for (Value operand : op->getOperands())
    for (Operation *behind = operand.getDefiningOp(); behind; behind = behind->getOperand(0).getDefiningOp()) {
      if (isa<SoftmaxOp>(behind))
        return behind;
      if (!isa<ReshapeOp, MapOp>(behind) || behind->getNumOperands() == 0)
        break;
    }
  return nullptr;
}

std::optional<Reason> explainWeights(ContractOp product, unsigned number) {
  Value input = product.getInputs()[number];
  SmallVector<StringAttr> over = findSummed(product);
  StringRef along = over.empty() ? StringRef() : ownName(over.front());
  if (auto map = input.getDefiningOp<MapOp>()) {
    Term weights = Term::result(map, product.inDims(number));
    if (find(weights, [](const Term &each) { return isa_and_present<SoftmaxOp>(leafOp(each)); }))
      return explainChange(weights, map, along);
    return explainArithmetic(weights, product, input, along);
  }
  Operation *op = input.getDefiningOp();
  while (op && isa<ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  if (!op || !isa<ContractOp, LinearOp, ConcatOp, SliceOp, GatherOp, ReduceOp>(op))
    return std::nullopt;
  auto softmax = dyn_cast_or_null<SoftmaxOp>(softmaxBehind(op));
  if (!softmax)
    return std::nullopt;
  // A product that sums over what the softmax runs along is a whole attention, and its result nobody's weights.
  if (auto contract = dyn_cast<ContractOp>(op); contract && llvm::any_of(findSummed(contract), [&](StringAttr name) {
                                                  return ownName(name) == softmax.getAlong();
                                                }))
    return std::nullopt;
  if (auto reduce = dyn_cast<ReduceOp>(op);
      reduce && llvm::any_of(findReduced(reduce), [&](StringAttr name) { return ownName(name) == softmax.getAlong(); }))
    return std::nullopt;
  Reason reason;
  reason.text = "between the softmax and the product with the values stands " + describe(op) + "; nothing may";
  reason.note(op, "it stands here");
  return reason;
}

// ------------------------------------------------------------------------------------------------------------- scores

Reason explainBetween(Operation *op) {
  Reason reason;
  reason.text = "between the product of queries and keys and the softmax stands " + describe(op) +
                "; only what is done to each score by itself may";
  reason.note(op, "it stands here");
  return reason;
}

Reason explainScores(Value scores, MapOp score) {
  Reason reason;
  SmallVector<Operation *> products;
  Operation *between = score ? nullptr : scores.getDefiningOp();
  if (score)
    for (Value input : score.getInputs()) {
      if (input.getDefiningOp<ContractOp>())
        products.push_back(input.getDefiningOp());
      else if (input.getDefiningOp() && tensorType(input).getRank() == tensorType(scores).getRank())
        between = input.getDefiningOp();
    }
  if (products.size() > 1) {
    reason.text = "the scores are made of several products; where they are added, one product of the joined rows, "
                  "`concat(q1, q2) @ concat(k1, k2)`, is the same";
    for (Operation *product : products)
      reason.note(product, "this is one of them");
  } else if (between && isa<SoftmaxOp>(between)) {
    reason.text = "the scores are a softmax themselves";
    reason.note(between, "it stands here");
  } else if (between) {
    return explainBetween(between);
  } else {
    reason.text = "the scores are not made of a product of queries and keys";
  }
  return reason;
}

} // namespace attn
