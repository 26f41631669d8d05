// Where a tensor of the batch lies: the entry function's pointer, element type, layout, and its dimensions' names.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A View is what the entry function knows (one pointer for the whole batch); a Local is the tensor of ONE sequence
// inside a kernel (pointer to its first element, sizes and strides as i64 values). Both carry the names by which the
// operation at hand calls the dimensions. Elements are f32, i32, or i8 for truth values (i1 in the dialect).
#ifndef ATTN_LOWERING_VIEW_H
#define ATTN_LOWERING_VIEW_H

#include "mlir/IR/Value.h"
#include "passes/Layout.h"

namespace attn {

struct View {
  mlir::Value base;   // !llvm.ptr, in the entry function; of a scattered layout: to one pointer a sequence
  mlir::Type element; // f32, i32, i1 (in memory i8)
  Layout layout;
  llvm::SmallVector<llvm::StringRef, 4> names;
  // One place, known at run time, of a dimension that the view has no more: `place` (i64, in the entry) times the
  // stride.
  mlir::Value place = {};
  Monomial placeStride = {};

  size_t rank() const { return layout.dims.size(); }
  /// The place of a dimension, or -1.
  int find(llvm::StringRef name) const;
};

struct Local {
  mlir::Value pointer; // !llvm.ptr
  mlir::Type element;
  llvm::SmallVector<llvm::StringRef, 4> names;
  llvm::SmallVector<mlir::Value, 4> sizes;   // i64
  llvm::SmallVector<mlir::Value, 4> strides; // i64, elements

  size_t rank() const { return names.size(); }
  int find(llvm::StringRef name) const;
};

} // namespace attn
#endif
