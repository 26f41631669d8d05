// Which dimension of each tile lies on the lanes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that meet element by element (inputs and result of a map, what a loop carries, a product and what it is added
// to) have one answer. A product decides for its own: by rows of `a` (m, lanes = 0) where the second operand is read as
// it lies and only `a` is turned (attention: lanes along the queries), or by columns of `b` (n, lanes = 1) where `b` is
// a packed panel or `a` has few rows (attention of one query: lanes along the keys, then along the value's row). Tiles
// that meet no product have their last dimension on the lanes.
#ifndef ATTN_LOWERING_CPU_LANES_H
#define ATTN_LOWERING_CPU_LANES_H

#include "lowering/tile/TileOps.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace attn::cpu {

class LaneChoice {
public:
  /// `tiles`: products of bfloat16 take 16 rows by 16 lanes at a time, few rows or many.
  LaneChoice(mlir::Operation *function, int64_t lanes, bool tiles);

  /// The dimension of a tile on the lanes: 0 or 1; 0 for a tile of rank 1.
  int lanesOf(mlir::Value tile) const;

private:
  void unite(mlir::Value a, mlir::Value b);
  void uniteLoops(mlir::Operation *op);
  void uniteMap(tile::MapOp map);
  void uniteRound(tile::RoundOp round);
  void decide(tile::DotOp dot, int64_t lanes);
  void decideReads(tile::MapOp map);
  void choose(mlir::Value tile, int dimension);
  std::optional<int> chosen(mlir::Value tile) const;

  bool byTiles;
  llvm::EquivalenceClasses<void *> classes;
  llvm::DenseMap<void *, int> choice; // by leader
};

/// A load whose rows are whole vectors side by side: it can be a product's operand on the lanes as it lies.
bool isPanel(mlir::Value tile, int64_t lanes);

} // namespace attn::cpu
#endif
