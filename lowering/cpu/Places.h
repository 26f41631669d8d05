// Where tiles lie: in memory of the caller's, in scratch of the kernel, or nowhere (one number).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_CPU_PLACES_H
#define ATTN_LOWERING_CPU_PLACES_H

#include "lowering/cpu/Lanes.h"
#include "lowering/cpu/Vectors.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace attn::cpu {

/// Element (i, j) is pointer[i * strides[0] + j * strides[1]], or `splat` everywhere.
struct Place {
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value, 2> strides; // i64
  mlir::Type element;
  mlir::Value splat;
  bool scratch = false; // ours: whole vectors along the lanes may be touched, and it may be overwritten

  bool operator==(const Place &other) const { return pointer == other.pointer && splat == other.splat; }
};

/// A range of the elements of a tile: what one group of operations computes.
struct Space {
  llvm::SmallVector<int64_t, 2> shape;
  llvm::SmallVector<mlir::OpFoldResult, 2> valid;
  int lanes = 0; // the dimension on the lanes

  int rows() const { return 1 - lanes; } // the other dimension, if there are two
  bool operator==(const Space &other) const;
};

/// Where in a space a vector lies.
struct Spot {
  mlir::Value row;    // i64; null in spaces of one dimension
  mlir::Value column; // i64, the first lane's
  mlir::Value mask;   // lanes inside the space; null: all of them
};

/// Rows that push each other out of the first cache are copied side by side before a product goes over them again and
/// again.
bool collides(Ir &ir, const Place &place);

class Scratch {
public:
  /// `rows`: the other dimension is padded to a multiple of it.
  Scratch(mlir::FunctionOpInterface function, int64_t lanes, int64_t rows)
      : owner(function), width(lanes), height(rows) {}

  /// Memory for a tile; its lanes are padded to whole vectors. Allocated once, when the kernel begins.
  Place allocate(tile::TileType type, int lanes);
  int64_t bytes() const { return total; }

private:
  mlir::FunctionOpInterface owner;
  int64_t width, height;
  int64_t total = 0;
};

/// One vector (or, where it is the same on all lanes, one scalar) of a tile. `along` is the dimension of the space
/// along which a tile of rank 1 lies, -1 for a tile of the space's shape.
mlir::Value readPlace(Vectors &vectors, const Place &place, const Space &space, const Spot &spot, int64_t along);
void writePlace(Vectors &vectors, mlir::Value value, const Place &place, const Space &space, const Spot &spot);

} // namespace attn::cpu
#endif
