// How the packed tensor of a batch lies in memory, said without a pointer: where each sequence begins, strides, views.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A batch packs the row-major tensors of its sequences end to end. The tensor [T, S:T, H] of sequence s begins at
// element H * table[s], where table counts units: for the sequence dimensions {T, T} the units of a sequence are T * T.
// Tables are int64[n + 1]; that of one dimension is the caller's offsets, that of none numbers the sequences (0, 1, 2,
// …). Values that no sequence influences (weights and what is made of them alone) are uniform: one copy for the whole
// batch. Rows that sessions keep are scattered: every session's lie at a pointer of their own. Reshapes and slices that
// only rename, regroup or cut dimensions make another layout of the same memory.
#ifndef ATTN_PASSES_LAYOUT_H
#define ATTN_PASSES_LAYOUT_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace attn {
class ReshapeOp;
class SliceOp;

/// A number times lengths of the current sequence: `384 * T`. The names are sorted and live as long as the context.
struct Monomial {
  int64_t factor = 0;
  llvm::SmallVector<llvm::StringRef, 2> lengths = {};

  bool isStatic() const { return lengths.empty(); }
  bool operator==(const Monomial &other) const = default;
};
Monomial operator*(const Monomial &a, const Monomial &b);

/// One dimension: how many places, and how many elements from one to the next.
struct Extent {
  Monomial size;
  Monomial stride;
};

struct Layout {
  bool uniform = false;
  /// Each sequence begins at a pointer of its own; `units` and `perUnit` say nothing.
  bool scattered = false;
  /// The sequence dimensions whose product counts the units of a sequence, sorted; empty: one unit a sequence.
  llvm::SmallVector<llvm::StringRef, 2> units;
  /// Elements a unit: sequence s begins at element perUnit * table(units)[s].
  int64_t perUnit = 0;
  /// Where the view begins inside the sequence, in elements; a sum.
  llvm::SmallVector<Monomial, 0> offset;
  llvm::SmallVector<Extent, 0> dims;

  /// If dimension 0 is the only sequence dimension and each of its rows is one unit, the rows of the whole batch lie at
  /// one distance: row r of the batch begins at element r * perUnit.
  bool isRows() const;
  /// Row-major without gaps, nothing cut off: the memory is the tensor.
  bool isPacked() const;
};

/// The layout of a fresh tensor of that type.
Layout packedLayout(mlir::RankedTensorType type, DimsAttr dims, bool uniform);
/// The layout of rows that sessions keep.
Layout scatteredLayout(mlir::RankedTensorType type, DimsAttr dims);
/// The same memory seen through the reshape or slice, if it can be.
std::optional<Layout> reshapedLayout(const Layout &input, ReshapeOp op);
std::optional<Layout> slicedLayout(const Layout &input, SliceOp op);

} // namespace attn
#endif
