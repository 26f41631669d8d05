// What can be asked of an exported function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_EXPORTS_H
#define ATTN_DIALECT_EXPORTS_H
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

/// The sequence dimensions along which a function's `once` operations keep rows, in order of first appearance.
llvm::SmallVector<llvm::StringRef> keptSequences(mlir::func::FuncOp function);

} // namespace attn
#endif
