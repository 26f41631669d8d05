// Why something that looks like attention isn't, in words for the author of the text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_NEARATTENTION_H
#define ATTN_PASSES_NEARATTENTION_H

#include "passes/Names.h"

namespace attn {

/// What is in the way and, behind a semicolon, the way out; with the other places it speaks of.
struct Reason {
  std::string text;
  llvm::SmallVector<std::pair<mlir::Location, std::string>, 2> notes;
  void note(mlir::Operation *op, const llvm::Twine &words) { notes.push_back({op->getLoc(), words.str()}); }
};

/// "`T`", "`T` and `S`", "`T`, `U` and `S`".
std::string listNames(llvm::ArrayRef<mlir::StringAttr> names);

/// What an operation is to somebody who reads a text: "a maximum along `T`", "a product over `H`".
std::string describe(mlir::Operation *op);

/// The dimensions that both inputs have and the output lacks.
llvm::SmallVector<mlir::StringAttr> findSummed(ContractOp op);

/// Somebody besides `reader` reads `value`. `along`: what the softmax runs along.
enum class Read { weights, scores, products };
Reason explainReaders(mlir::Value value, mlir::Operation *reader, Read what, llvm::StringRef along);

/// Input `weights` of a product is no softmax: why, if it has one in it or is made of exponentials of a product.
std::optional<Reason> explainWeights(ContractOp product, unsigned weights);

/// Between the product of queries and keys and the softmax stands `op`.
Reason explainBetween(mlir::Operation *op);

/// The scores, whose map (if there is one) is `score`, are no function of one product of queries and keys.
Reason explainScores(mlir::Value scores, MapOp score);

} // namespace attn
#endif
