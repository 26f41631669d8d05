// The register-blocked product that all kernels of a module share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     llvm.func internal @attn_dot(each, eachRow, eachK, wide, wideK, out, outRow, rows, lanes, inner, add,
//                               ahead, aheadRow, aheadLines)
//
// out[r * outRow + l] = (add ? out[…] : 0) + sum over k < inner of each[r * eachRow + k * eachK] * wide[k * wideK + l].
// `each` is read number by number, each spread over a vector; `wide` and `out` are read and written in whole vectors,
// also beyond `lanes`. A block of panelRows x panelVectors sums stays in registers while k runs; fewer rows and vectors
// have blocks of their own, so no row of work is wasted. Every sum is one chain in ascending k: its bits do not depend
// on the block it lies in. With `pairs` each number of an operand is a pair of bfloat16 numbers, whose two products are
// added by the machine's instruction for it (lowering/cpu/Round.h). Meanwhile aheadLines cache lines of each row from
// `ahead` on are asked for. One function for all shapes keeps compile time down; its calls cost a few dozen cycles.
#ifndef ATTN_LOWERING_CPU_DOTKERNELS_H
#define ATTN_LOWERING_CPU_DOTKERNELS_H

#include "lowering/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::LLVM {
class LLVMFuncOp;
}

namespace attn::cpu {

/// Which terms of a guarded product count 0 whatever the other factor holds.
enum class Guard {
  None,
  Wide, // those whose `wide` number is 0 (of a pair: each for its own)
  Each, // those whose `each` number is 0
};

/// The module's product function, made if it is not there yet. Guarded ones are plain and slow: they run where a result
/// was not finite. The one for few rows asks for memory ahead as it goes along k.
mlir::LLVM::LLVMFuncOp dotFunction(mlir::ModuleOp module, const Target &target, Guard guard, bool pairs = false,
                                   bool few = false);

} // namespace attn::cpu
#endif
