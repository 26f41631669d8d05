// Groups of neighbouring maps, reductions and stores that become one loop.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/Groups.h"

using namespace mlir;

namespace attn::cpu {

Space Group::spaceOf(Operation *op) const {
  auto make = [&](Value tile, SmallVector<OpFoldResult> valid) {
    auto shape = cast<tile::TileType>(tile.getType()).getShape();
    return Space{SmallVector<int64_t, 2>(shape), SmallVector<OpFoldResult, 2>(valid.begin(), valid.end()),
                 lanes.lanesOf(tile)};
  };
  if (auto map = dyn_cast<tile::MapOp>(op))
    return make(map.getResult(), map.mixedValid());
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return make(reduce.getInput(), reduce.mixedValid());
  auto store = cast<tile::StoreOp>(op);
  return make(store.getValue(), store.mixedValid());
}

bool Group::isAcross(tile::ReduceOp reduce) const {
  auto type = reduce.getInput().getType();
  return type.getRank() == 1 || static_cast<int>(reduce.getAlong()) == lanes.lanesOf(reduce.getInput());
}

/// Whether `op` reads a result of the group otherwise than element by element.
bool Group::usesElsewhere(Operation *op) const {
  auto made = [&](Value value) { return value.getDefiningOp() && members.contains(value.getDefiningOp()); };
  auto reduced = [&](Value value) { return made(value) && isa<tile::ReduceOp>(value.getDefiningOp()); };
  if (llvm::any_of(op->getOperands(), reduced))
    return true;
  WalkResult walk = op->walk([&](Operation *inner) {
    if (inner == op)
      return WalkResult::advance();
    return llvm::any_of(inner->getOperands(), made) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

bool Group::accepts(Operation *op) const {
  if (members.empty())
    return true;
  if (!(spaceOf(op) == range) || usesElsewhere(op))
    return false;
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  return !reduce || !(isAcross(reduce) ? down : across);
}

void Group::add(Operation *op) {
  range = spaceOf(op);
  members.insert(op);
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    (isAcross(reduce) ? across : down) = true;
}

bool Group::feeds(Operation *op) const {
  WalkResult walk = op->walk([&](Operation *inner) {
    bool uses = llvm::any_of(inner->getOperands(), [&](Value value) {
      return value.getDefiningOp() && members.contains(value.getDefiningOp());
    });
    return uses ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

} // namespace attn::cpu
