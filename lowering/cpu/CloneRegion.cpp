// Cloning a region of scalar operations onto the lanes of a vector.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/CloneRegion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace attn::cpu {

static bool onLanes(Value value) {
  return isa<VectorType>(value.getType());
}

static Value clonePeek(Vectors &vectors, tile::PeekOp peek, IRMapping &mapping) {
  Ir &ir = vectors.ir;
  Value base = mapping.lookupOrDefault(peek.getBase()), index = mapping.lookupOrDefault(peek.getIndex());
  Type element = peek.getType();
  if (onLanes(index))
    return vectors.gather(element, base, index);
  if (!index.getType().isInteger(64))
    index = arith::ExtSIOp::create(ir, ir.loc, ir.i64(), index);
  return ir.load(element, base, index);
}

/// A loop whose bounds are the same on every lane and for all spots; what it carries goes on lanes.
static void cloneLoop(Vectors &vectors, scf::ForOp loop, MutableArrayRef<IRMapping> spots, ReadElement readElement) {
  Ir &ir = vectors.ir;
  SmallVector<Value> carried;
  for (IRMapping &mapping : spots)
    for (Value init : loop.getInitArgs())
      carried.push_back(vectors.widen(mapping.lookupOrDefault(init)));
  auto clone = scf::ForOp::create(ir, ir.loc, spots[0].lookupOrDefault(loop.getLowerBound()),
                                  spots[0].lookupOrDefault(loop.getUpperBound()),
                                  spots[0].lookupOrDefault(loop.getStep()), carried);
  size_t each = loop.getInitArgs().size();
  for (auto [n, mapping] : llvm::enumerate(spots)) {
    mapping.map(loop.getInductionVar(), clone.getInductionVar());
    for (size_t i = 0; i < each; ++i)
      mapping.map(loop.getRegionIterArg(unsigned(i)), clone.getRegionIterArg(unsigned(n * each + i)));
  }
  OpBuilder::InsertionGuard guard(ir);
  if (carried.empty())
    ir.setInsertionPoint(clone.getBody()->getTerminator());
  else
    ir.setInsertionPointToEnd(clone.getBody());
  cloneOntoLanes(vectors, *loop.getBody(), spots, readElement);
  if (!carried.empty()) {
    SmallVector<Value> next;
    for (IRMapping &mapping : spots)
      for (Value value : loop.getBody()->getTerminator()->getOperands())
        next.push_back(vectors.widen(mapping.lookupOrDefault(value)));
    scf::YieldOp::create(ir, ir.loc, next);
  }
  for (auto [n, mapping] : llvm::enumerate(spots))
    for (size_t i = 0; i < each; ++i)
      mapping.map(loop.getResult(unsigned(i)), clone.getResult(unsigned(n * each + i)));
}

static void cloneOne(Vectors &vectors, Operation &op, IRMapping &mapping) {
  bool vector = llvm::any_of(op.getOperands(), [&](Value value) { return onLanes(mapping.lookupOrDefault(value)); });
  if (!vector) {
    vectors.ir.clone(op, mapping);
    return;
  }
  IRMapping widened;
  for (Value value : op.getOperands())
    widened.map(value, vectors.widen(mapping.lookupOrDefault(value)));
  Operation *clone = vectors.ir.clone(op, widened);
  for (auto [before, after] : llvm::zip(op.getResults(), clone->getResults())) {
    after.setType(vectors.type(before.getType()));
    mapping.map(before, after);
  }
}

void cloneOntoLanes(Vectors &vectors, Block &block, MutableArrayRef<IRMapping> spots, ReadElement readElement) {
  for (Operation &op : block.without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      cloneLoop(vectors, loop, spots, readElement);
      continue;
    }
    for (auto [spot, mapping] : llvm::enumerate(spots)) {
      if (auto at = dyn_cast<tile::AtOp>(op)) {
        SmallVector<Value> indices;
        for (Value index : at.getIndices())
          indices.push_back(mapping.lookupOrDefault(index));
        mapping.map(at.getResult(), readElement(at, indices, spot));
      } else if (auto peek = dyn_cast<tile::PeekOp>(op)) {
        mapping.map(peek.getResult(), clonePeek(vectors, peek, mapping));
      } else {
        cloneOne(vectors, op, mapping);
      }
    }
  }
}

} // namespace attn::cpu
