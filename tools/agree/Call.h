// One call of compiled code with a ragged batch, each sequence in its session.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_AGREE_CALL_H
#define ATTN_TOOLS_AGREE_CALL_H
#include "tools/agree/Batch.h"
#include "tools/agree/CompiledModule.h"

namespace attn::agree {

/// What a session holds between calls: the rows of each state slot of the module, no byte more.
struct SessionMemory {
  int64_t past = 0, capacity = 0;
  std::vector<Bytes> slots;

  bool operator==(const SessionMemory &) const = default;
};

struct CallResult {
  std::vector<std::vector<Bytes>> outputs; // of each sequence: one a result
  std::string complaint;                   // what the call did that it must not do; "" if nothing
};

/// Calls function `index` of the program with these sequences. Scratch memory, outputs and the rooms for rows behind
/// those that sessions hold are filled with NaN before, and all are fenced on both sides. The sessions go on.
CallResult callCompiled(const CompiledModule &compiled, size_t index, mlir::func::FuncOp function,
                        llvm::ArrayRef<const Sequence *> sequences, llvm::ArrayRef<SessionMemory *> sessions,
                        const std::vector<Bytes> &weights, Threads threads);

} // namespace attn::agree
#endif
