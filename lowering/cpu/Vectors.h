// Words for the IR of one hardware vector: load, store, gather, masks, lane numbers, reductions across lanes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mask of null means every lane. Lanes that a mask excludes are neither read nor written; a load gives 0 there.
// Truth values are bytes in memory and i1 lanes in vectors.
#ifndef ATTN_LOWERING_CPU_VECTORS_H
#define ATTN_LOWERING_CPU_VECTORS_H

#include "lowering/Ir.h"
#include "lowering/tile/TileOps.h"

namespace attn::cpu {

class Vectors {
public:
  Vectors(Ir &builder, int64_t count) : ir(builder), lanes(count) {}

  Ir &ir;
  const int64_t lanes;

  mlir::VectorType type(mlir::Type element) const;
  /// The value on every lane; vectors stay what they are.
  mlir::Value widen(mlir::Value value);
  /// 0, 1, 2, … of i32 or i64.
  mlir::Value numbers(mlir::Type element);
  /// The lanes below `count` (i64).
  mlir::Value below(mlir::Value count);

  mlir::Value load(mlir::Type element, mlir::Value pointer, mlir::Value mask = {});
  void store(mlir::Value vector, mlir::Value pointer, mlir::Value mask = {});
  /// Lane l is pointer[l * stride].
  mlir::Value loadStrided(mlir::Type element, mlir::Value pointer, mlir::Value stride, mlir::Value mask = {});
  void storeStrided(mlir::Value vector, mlir::Value pointer, mlir::Value stride, mlir::Value mask = {});
  /// Lane l is pointer[index of lane l].
  mlir::Value gather(mlir::Type element, mlir::Value pointer, mlir::Value indices, mlir::Value mask = {});

  /// Combines two values, scalars or vectors alike.
  mlir::Value combine(tile::Reduction kind, mlir::Value total, mlir::Value next);
  /// What `combine` leaves alone.
  mlir::Value neutral(tile::Reduction kind, mlir::Type element);
  /// One scalar from all lanes, in the same order always.
  mlir::Value across(tile::Reduction kind, mlir::Value vector);

private:
  mlir::Value pointers(mlir::Type element, mlir::Value pointer, mlir::Value indices);
  mlir::Value everyLane();
};

} // namespace attn::cpu
#endif
