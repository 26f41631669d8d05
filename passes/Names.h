// Dimension names as passes handle them: renaming by place, comparing, finding a free one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within one operation a dimension is known by its own name (`S` of `S:T`); a consumer may call a dimension otherwise
// than the producer did. To move something from one operation into another, its names are rewritten by place: the
// dimensions of the tensor that connects both are the dictionary.
#ifndef ATTN_PASSES_NAMES_H
#define ATTN_PASSES_NAMES_H

#include "dialect/AttnOps.h"
#include "llvm/ADT/StringMap.h"

namespace attn {

/// `S` of `S:T` and of `S`.
inline llvm::StringRef ownName(mlir::StringAttr name) {
  return name.getValue().split(':').first;
}

/// From a dimension's own name to what it is called elsewhere (`S:T` where it is a sequence).
using Renaming = llvm::StringMap<mlir::StringAttr>;

/// Says how `from` is called by someone who names the same tensor `to`.
Renaming renamingByPlace(DimsAttr from, DimsAttr to);

/// The names of `dims`, each under its new name if it has one.
DimsAttr rename(DimsAttr dims, const Renaming &renaming);

/// The same dimensions in the same order.
bool sameNames(DimsAttr a, DimsAttr b);

/// The same dimensions in any order.
bool sameSet(DimsAttr a, DimsAttr b);

/// `wish`, or `wish1`, `wish2`, ... : a name that none of `taken` has.
mlir::StringAttr freshName(mlir::MLIRContext *context, llvm::StringRef wish, llvm::ArrayRef<DimsAttr> taken);

/// Dimension names from a list of entries, and a list of them as an attribute.
DimsAttr makeDims(mlir::MLIRContext *context, llvm::ArrayRef<mlir::StringAttr> names);
mlir::ArrayAttr makeDimsArray(mlir::MLIRContext *context, llvm::ArrayRef<DimsAttr> dims);

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// `value` (whose dimensions are called `from`) with its dimensions in the order `to`, a mere permutation; `value`
/// itself if that is the order it has.
mlir::Value permuteTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, DimsAttr from, DimsAttr to);

/// `value` regrouped: a reshape from the dimensions `from` to `to` of the given sizes.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, DimsAttr from, DimsAttr to,
                      llvm::ArrayRef<int64_t> sizes);

} // namespace attn
#endif
