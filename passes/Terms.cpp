// Terms: scalar expressions followed through elementwise operations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Terms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>

using namespace mlir;

namespace attn {

NamedTensor Term::tensor() const {
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (!argument || argument.getOwner() != &map->getRegion(0).front())
    return {};
  unsigned i = argument.getArgNumber();
  MapOp own = map;
  return {own.getInputs()[i], rename(own.inDims(i), renamingByPlace(own.outDims(), names))};
}

Term Term::followed() const {
  NamedTensor behind = tensor();
  if (!behind)
    return *this;
  auto producer = behind.value.getDefiningOp<MapOp>();
  return producer ? result(producer, behind.names).followed() : *this;
}

Term Term::operand(unsigned i) const {
  Term end = followed();
  return {end.scalar.getDefiningOp()->getOperand(i), end.map, end.names};
}

bool Term::is(const NamedTensor &wanted) const {
  NamedTensor behind = tensor();
  if (!behind || behind == wanted)
    return static_cast<bool>(behind);
  auto producer = behind.value.getDefiningOp<MapOp>();
  return producer && result(producer, behind.names).is(wanted);
}

/// How many operations are looked at before an answer is given up: expressions are short, but what they share is walked
/// along every way that leads to it.
constexpr unsigned patience = 2000;

static bool equal(const Term &a, const Term &b, unsigned &steps) {
  Operation *op = a.op(), *other = b.op();
  if (!op || !other)
    return !op && !other && a.leaf() && a.leaf() == b.leaf();
  if (++steps > patience || op->getName() != other->getName() || op->getAttrs() != other->getAttrs() ||
      op->getNumOperands() != other->getNumOperands() || op->getNumRegions())
    return false;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (!equal(a.operand(i), b.operand(i), steps))
      return false;
  return true;
}

bool Term::equals(const Term &other) const {
  unsigned steps = 0;
  return equal(*this, other, steps);
}

static bool varies(const Term &term, StringRef dim, unsigned &steps) {
  Operation *op = term.op();
  if (!op)
    return term.leaf() && term.leaf().names.find(dim) >= 0;
  if (++steps > patience)
    return true;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (varies(term.operand(i), dim, steps))
      return true;
  return false;
}

bool Term::variesAlong(StringRef dim) const {
  unsigned steps = 0;
  return varies(*this, dim, steps);
}

Value Term::copyTo(ElementwiseBody &body) const {
  if (NamedTensor behind = tensor())
    return body.argument(behind.value, behind.names);
  Operation *op = scalar.getDefiningOp();
  if (!op || op->getBlock() != &map->getRegion(0).front())
    return scalar; // a turn's number, from outside
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      mapping.map(operand, Term(operand, map, names).copyTo(body));
  return body.builder().clone(*op, mapping)->getResult(cast<OpResult>(scalar).getResultNumber());
}

ReducedTensor matchReduction(const Term &term, Reduction kind, StringAttr along) {
  NamedTensor leaf = term.leaf();
  auto reduce = leaf ? leaf.value.getDefiningOp<ReduceOp>() : ReduceOp();
  if (!reduce || reduce.getKind() != kind || reduce.inDims(0).size() != reduce.outDims().size() + 1)
    return {};
  if (leaf.names.find(along.getValue().split(':').first) >= 0)
    return {}; // the name is another dimension's
  Renaming renaming = renamingByPlace(reduce.outDims(), leaf.names);
  DimsAttr in = reduce.inDims(0);
  ReducedTensor reduced;
  for (size_t i = 0; i < in.size(); ++i)
    if (reduce.outDims().find(in.dim(i)) < 0) {
      renaming[in.dim(i)] = along;
      reduced.size = tensorType(reduce.getInputs().front()).getDimSize(i);
    }
  reduced.input = {reduce.getInputs().front(), rename(in, renaming)};
  reduced.along = along;
  return reduced;
}

ReducedTensor matchMean(const Term &term, StringAttr along) {
  if (ReducedTensor mean = matchReduction(term, Reduction::mean, along))
    return mean;
  Operation *op = term.op();
  if (!op || !isa<arith::MulFOp, arith::DivFOp>(op))
    return {};
  for (unsigned i : {0u, 1u}) {
    ReducedTensor sum = matchReduction(term.operand(i), Reduction::sum, along);
    std::optional<double> factor = term.operand(1 - i).constant();
    if (!sum || !factor || (isa<arith::DivFOp>(op) && i == 1))
      continue;
    double terms = isa<arith::DivFOp>(op) ? *factor : 1 / *factor;
    if (std::fabs(terms - static_cast<double>(sum.size)) < 1e-6 * terms)
      return sum;
  }
  return {};
}

} // namespace attn
