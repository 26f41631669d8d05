// attn-raise-softmax: a softmax written as arithmetic becomes attn.softmax.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   m = max(x); e = exp(x - m); e / sum(e)               =>   attn.softmax (x)
//   e = exp(x); e / sum(e)                               =>   attn.softmax (x)
//   e = exp(..); contract(e, v) / sum(e)                 =>   contract(attn.softmax (..), v)
//
// The quotient may be part of a larger elementwise region, or a product with the reciprocal. Nobody else may read the
// exponentials. A row whose x are all -inf is 0 by attn.softmax, where the arithmetic gives NaN.
//
// Leaves true: dead maps and reductions, for attn-simplify.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "passes/Names.h"
#include "passes/Passes.h"
#include "passes/Terms.h"

using namespace mlir;

namespace attn {
namespace {

/// What a quotient is made of.
struct Quotient {
  Value result; // the scalar e / sum
  Value above;  // e, a scalar
  Term below;   // the sum
};

/// a / b, or a * (1 / b).
SmallVector<Quotient, 2> findQuotients(Operation &op, MapOp map) {
  auto term = [&](unsigned i) { return Term(op.getOperand(i), map, map.outDims()); };
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
    const Term &below = quotient.below;
    NamedTensor above = Term(quotient.above, map, map.outDims()).tensor();
    if (!above)
      return false;
    for (StringAttr along : map.outDims().getNames())
      if ((sum = matchReduction(below, Reduction::sum, along)) && matchDirect(above))
        return matchExponentials();
    StringAttr along = freshSummed(below);
    return along && (sum = matchReduction(below, Reduction::sum, along)) && matchAfterProduct(above) &&
           matchExponentials();
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
  bool matchDirect(const NamedTensor &above) {
    reader = map;
    return above == sum.input;
  }
  bool matchAfterProduct(const NamedTensor &above);
  bool matchExponentials();
  NamedTensor createSoftmax(OpBuilder &builder);

  MapOp map;
  Quotient quotient;
  ReducedTensor sum;
  Operation *reader = nullptr; // who reads the exponentials besides the sum: `map`, or the product
  unsigned readerAt = 0;       // as which input of the product
  NamedTensor product;         // its result
  MapOp powers;                // what makes the exponentials
  NamedTensor exponent;        // what is behind them, if it is a tensor
  Value exponentScalar;        // else the scalar in `powers`
};

/// contract(e, v) in the place of e.
bool Matcher::matchAfterProduct(const NamedTensor &above) {
  auto contract = above.value.getDefiningOp<ContractOp>();
  if (!contract || !above.value.hasOneUse())
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

/// exp(x - max(x)), or of anything.
bool Matcher::matchExponentials() {
  powers = sum.input.value.getDefiningOp<MapOp>();
  if (!powers ||
      llvm::any_of(sum.input.value.getUsers(), [&](Operation *user) { return user != reader && !isa<ReduceOp>(user); }))
    return false;
  auto power = yieldedValue(powers.getBody().front()).getDefiningOp<math::ExpOp>();
  if (!power)
    return false;
  exponentScalar = power.getOperand();
  Term argument(exponentScalar, powers, sum.input.names);
  Operation *op = argument.op();
  if (op && isa<arith::SubFOp>(op))
    if (ReducedTensor most = matchReduction(argument.operand(1), Reduction::max, sum.along);
        most && argument.operand(0).is(most.input))
      exponent = most.input;
  return true;
}

NamedTensor Matcher::createSoftmax(OpBuilder &builder) {
  MLIRContext *context = map.getContext();
  Location loc = map.getLoc();
  if (!exponent) {
    ElementwiseBody body(loc);
    SmallVector<Value> arguments;
    Renaming renaming = renamingByPlace(powers.outDims(), sum.input.names);
    for (auto [i, input] : llvm::enumerate(powers.getInputs()))
      arguments.push_back(body.argument(input, rename(powers.inDims(i), renaming)));
    IRMapping mapping;
    mapping.map(powers.getBody().getArguments(), arguments);
    OpBuilder inside = body.builder();
    for (Operation &op : powers.getBody().front().without_terminator())
      inside.clone(op, mapping);
    body.yield(mapping.lookup(exponentScalar));
    exponent = {createMap(builder, loc, powers.getType(), sum.input.names, body), sum.input.names};
  }
  Value softmax =
      SoftmaxOp::create(builder, loc, tensorType(exponent.value), builder.getStringAttr(ownName(sum.along)),
                        exponent.value, makeDimsArray(context, exponent.names), makeDimsArray(context, exponent.names));
  return {softmax, exponent.names};
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
