// Tensors as text: `[[1, 2.5], [inf, nan]]`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_INTERPRET_LITERALS_H
#define ATTN_TOOLS_INTERPRET_LITERALS_H
#include "dialect/interpreter/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace attn::interpreter {

/// Reads nested lists of numbers, `nan` and `inf`. The sizes are those of `type`; a dynamic one is the length of the
/// list.
/// `[]` has no element, whatever the other sizes.
llvm::Expected<Tensor> parseLiteral(llvm::StringRef text, mlir::RankedTensorType type);

/// Nested lists with six digits.
void printLiteral(const Tensor &tensor, llvm::raw_ostream &out);

} // namespace attn::interpreter
#endif
