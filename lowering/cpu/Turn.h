// Turning a matrix over: the function that all kernels of a module share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     llvm.func internal @attn_turn(from, fromLane, to, toRow, rows, lanes, ahead, aheadRow, aheadLines)
//
// to[r * toRow + l] = from[l * fromLane + r] for r < rows, l < lanes, of float32. Blocks of vectors are loaded as they
// lie, turned in registers by exchanging ever larger parts of pairs of them, and stored: sixteen numbers at a time
// where a gather takes one. Nothing beyond rows and lanes is read or written. Meanwhile aheadLines cache lines of each
// of as many rows as there are lanes are asked for, from `ahead` on.
#ifndef ATTN_LOWERING_CPU_TURN_H
#define ATTN_LOWERING_CPU_TURN_H

#include "lowering/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::LLVM {
class LLVMFuncOp;
}

namespace attn::cpu {

mlir::LLVM::LLVMFuncOp turnFunction(mlir::ModuleOp module, const Target &target);

} // namespace attn::cpu
#endif
