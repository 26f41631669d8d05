// The memory plan: where each tensor of a function lies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_PLANMEMORY_H
#define ATTN_PASSES_PLANMEMORY_H

#include <memory>

namespace mlir {
class Pass;
}

namespace attn {

/// `attn-plan-memory`: every operation with tensor results gets `attn.memory`, one entry a result; functions
/// `attn.arena`.
std::unique_ptr<mlir::Pass> createPlanMemoryPass();

} // namespace attn
#endif
