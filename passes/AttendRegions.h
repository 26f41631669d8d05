// The regions of attn.attend as passes handle them: their arguments, and captured tensors that come and go.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_ATTENDREGIONS_H
#define ATTN_PASSES_ATTENDREGIONS_H

#include "passes/Names.h"

namespace attn {

/// The score's arguments before its captures.
enum ScoreArgument : unsigned { scoreS, scoreI, scoreJ, scoreH, scoreQ, scoreK };

/// How many arguments of `region` stand before those for the captures.
unsigned countOwnArguments(AttendOp attend, mlir::Region &region);

/// The region of `attend` that `op` stands in, perhaps inside folds.
mlir::Region *regionAround(AttendOp attend, mlir::Operation *op);

/// The captured tensor that `argument` of one of `attend`'s regions is, as a number among the captures.
std::optional<unsigned> captureNumber(AttendOp attend, mlir::Value argument);

/// What the dimensions of captured tensor `capture` are called.
DimsAttr captureNames(AttendOp attend, unsigned capture);

/// The argument of `region` for `tensor`, which becomes a capture if it isn't one under these names.
mlir::Value getCapture(AttendOp attend, mlir::Region &region, mlir::Value tensor, DimsAttr names);

/// Makes captured tensor `capture` one that is no longer there. Its arguments must be unused.
void eraseCapture(AttendOp attend, unsigned capture);

/// Whether rows along `sequence` are numbered on from call to call: whether the function around caches it. Then `i` of
/// queries along it begins at `past`, but a tensor along it holds the rows of this call alone.
bool goesOn(mlir::Operation *op, llvm::StringRef sequence);

/// Whether `value`, in a region, is the number of rows that the session holds, read from a capture.
bool isPast(AttendOp attend, mlir::Value value);

/// The mask's block; if there is none, one that has its arguments and no operation.
mlir::Block &getMaskBlock(AttendOp attend);

} // namespace attn
#endif
