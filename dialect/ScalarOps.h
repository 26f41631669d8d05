// The closed list of scalar operations that may stand in the regions of the attn dialect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass may count on the list being all there is; whoever lowers a region must cover it. docs/dialect.md prints it.
#ifndef ATTN_DIALECT_SCALAROPS_H
#define ATTN_DIALECT_SCALAROPS_H
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class Operation;
class Type;
} // namespace mlir

namespace attn {

/// The full names of all of them, `arith.addf` …, without `attn.at`, `attn.fold`, `attn.yield`.
llvm::ArrayRef<llvm::StringLiteral> scalarOperations();
bool isScalarOperation(mlir::Operation *op);
/// f32, i32 or i1.
bool isScalarType(mlir::Type type);

} // namespace attn
#endif
