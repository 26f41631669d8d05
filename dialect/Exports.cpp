// What can be asked of an exported function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Exports.h"
#include "dialect/AttnOps.h"

using namespace mlir;

namespace attn {

SmallVector<StringRef> keptSequences(func::FuncOp function) {
  SmallVector<StringRef> sequences;
  function.walk([&](OnceOp op) {
    if (!llvm::is_contained(sequences, op.inDims(0).sequence(0)))
      sequences.push_back(op.inDims(0).sequence(0));
  });
  return sequences;
}

} // namespace attn
