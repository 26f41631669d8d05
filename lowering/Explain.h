// What became of each export, in words.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_EXPLAIN_H
#define ATTN_LOWERING_EXPLAIN_H

#include "lowering/Lower.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace attn {

/// One line an operation of the plan that computes or moves something, and the memory of a call. `--explain` prints it.
/// Attentions are followed by what their kernels do on each occasion that says all their lengths.
std::string explainPlan(mlir::ModuleOp planned, const Target &target, const LowerOptions &options,
                        llvm::ArrayRef<AttendTiling> attends, llvm::ArrayRef<Occasion> occasions);

} // namespace attn
#endif
