// Weight symbols as passes make them: another shape of the same tensor, several tensors as one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_WEIGHTS_H
#define ATTN_PASSES_WEIGHTS_H

#include "dialect/AttnOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// The declaration of `symbol` in the module around `op`.
WeightOp findWeight(mlir::Operation *op, mlir::FlatSymbolRefAttr symbol);

/// The shape of a weight symbol.
llvm::ArrayRef<int64_t> weightShape(WeightOp weight);

/// On a weight whose type has as one what the file has as several neighbouring dimensions: the whole's shape as the
/// file has it.
constexpr llvm::StringLiteral weightFileAttr = "attn.file";

/// The symbol that reads the same tensors of the file as `like` under another type and storage order; an existing one
/// if there is one, else a new one called after `like`.
mlir::FlatSymbolRefAttr getRetypedWeight(WeightOp like, llvm::ArrayRef<int64_t> shape, llvm::StringRef stored,
                                         llvm::ArrayRef<int64_t> rows, bool joins = false);

/// The symbol that holds the tensors of `weights` one after another along dimension 0; `shape` is its type's.
mlir::FlatSymbolRefAttr getJoinedWeight(llvm::ArrayRef<WeightOp> weights, llvm::ArrayRef<int64_t> shape);

/// Erases the weight symbols of `module` that nothing reads.
void eraseUnusedWeights(mlir::ModuleOp module);

} // namespace attn
#endif
