// The passes over the attn dialect; the order they run in is in passes/Pipelines.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every pass works on a module, leaves an equal program, and says in remarks what it did and what it had to leave.
#ifndef ATTN_PASSES_PASSES_H
#define ATTN_PASSES_PASSES_H

#include <memory>

namespace mlir {
class Pass;
}

namespace attn {

/// attn-remove-taps: drops every attn.tap.
std::unique_ptr<mlir::Pass> createRemoveTaps();
/// attn-simplify: fewer, larger elementwise operations; no reshape or slice that changes nothing; products with weights
/// are attn.linear.
std::unique_ptr<mlir::Pass> createSimplify();
/// attn-hoist: what is the same in every turn of a loop is computed once, before it.
std::unique_ptr<mlir::Pass> createHoistInvariant();
/// attn-fuse-epilogues: what is done to the result of attn.linear becomes its region. `biases`: only functions of the
/// product and of weights.
std::unique_ptr<mlir::Pass> createFuseEpilogues(bool biases = false);
/// attn-fuse-projections: several attn.linear of one tensor become one.
std::unique_ptr<mlir::Pass> createFuseProjections();

/// attn-raise-softmax: a softmax written as arithmetic becomes attn.softmax.
std::unique_ptr<mlir::Pass> createRaiseSoftmax();

/// attn-recognise-attention: products around a softmax become attn.attend.
std::unique_ptr<mlir::Pass> createRecogniseAttention();

/// attn-raise-normalise: normalisation written as arithmetic becomes attn.normalise.
std::unique_ptr<mlir::Pass> createRaiseNormalise();

/// Makes all of them known to the command line of attn-opt.
void registerPasses();

} // namespace attn
#endif
