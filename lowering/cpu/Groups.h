// Groups of neighbouring maps, reductions and stores that become one loop.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     %y = tile.map (%x) …            for each row, for each vector of it:
//     %m = tile.reduce max %y …   ⇒      read x, compute y, write it out, take the maximum along
//     tile.store %y, %p …
//
// An operation joins the group while it runs over the same elements and needs no reduction's result of the group.
#ifndef ATTN_LOWERING_CPU_GROUPS_H
#define ATTN_LOWERING_CPU_GROUPS_H

#include "lowering/cpu/Places.h"
#include "llvm/ADT/SetVector.h"

namespace attn::cpu {

class Group {
public:
  Group(const LaneChoice &choice) : lanes(choice) {}

  bool empty() const { return members.empty(); }
  bool contains(mlir::Operation *op) const { return members.contains(op); }
  llvm::ArrayRef<mlir::Operation *> operations() const { return members.getArrayRef(); }
  const Space &space() const { return range; }

  /// Whether a map, reduce or store may join.
  bool accepts(mlir::Operation *op) const;
  void add(mlir::Operation *op);
  void clear() { *this = Group(lanes); }

  /// Whether an operation that is none of these needs something that the group computes.
  bool feeds(mlir::Operation *op) const;
  /// Reductions along the lanes; these need the rows outside.
  bool reducesAcross() const { return across; }
  bool reducesDown() const { return down; }

private:
  Space spaceOf(mlir::Operation *op) const;
  bool isAcross(tile::ReduceOp reduce) const;
  bool usesElsewhere(mlir::Operation *op) const;

  const LaneChoice &lanes;
  llvm::SetVector<mlir::Operation *> members;
  Space range;
  bool across = false, down = false;

public:
  Group &operator=(const Group &other) {
    members = other.members;
    range = other.range;
    across = other.across;
    down = other.down;
    return *this;
  }
  Group(const Group &) = default;
};

} // namespace attn::cpu
#endif
