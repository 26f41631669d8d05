// The groups of rewrite patterns that make up attn-simplify.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_SIMPLIFY_H
#define ATTN_PASSES_SIMPLIFY_H

namespace mlir {
class RewritePatternSet;
}

namespace attn {

/// Elementwise operations: one reading another becomes one; constants move in; inputs are each there once.
void addMapPatterns(mlir::RewritePatternSet &patterns);
/// Reshapes and slices that change nothing, or undo or repeat each other; consumers read through transpositions.
void addReshapePatterns(mlir::RewritePatternSet &patterns);
/// Products with a weight become attn.linear; regrouped weights become weights declared that way.
void addProductPatterns(mlir::RewritePatternSet &patterns);

/// Regions of attention: scores, masks and scales apart, captured tensors that need not exist.
void addAttendPatterns(mlir::RewritePatternSet &patterns);
/// Comparisons of i, j, h in regions of attention: of whole numbers, as lowering's analysis reads them.
void addPlacePatterns(mlir::RewritePatternSet &patterns);
/// Scalar arithmetic: cheaper operations for dearer ones.
void addScalarPatterns(mlir::RewritePatternSet &patterns);

} // namespace attn
#endif
