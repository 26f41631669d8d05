// Products of bfloat16 pairs by tile registers (AMX): the functions that all kernels of a module share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     llvm.func internal @attn_dot_tiles(each, eachRow, wide, wideK, out, outRow, rows, lanes, inner, add)
//
// What attn_dot_pairs computes (lowering/cpu/DotKernels.h), where the pairs of a row of `each` lie side by side: 16
// rows, 16 lanes and 16 pairs an instruction. So all three are read up to the next multiple of 16, and rows and lanes
// of `out` written as far; pairs beyond `inner` must be 0 in both operands. Up to 32 rows by 32 lanes of sums stay in
// registers.
//
// tdpbf16ps adds 16 pairs among themselves before it adds them to the sum (the even halves, the odd halves, then both),
// so its bits are not those of vdpbf16ps: on a machine with tiles every product of pairs goes through them, also that
// of one query. The guarded form takes one lane at a time and sets to 0 what the lane's zeros must not meet.
#ifndef ATTN_LOWERING_CPU_DOTTILES_H
#define ATTN_LOWERING_CPU_DOTTILES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::LLVM {
class LLVMFuncOp;
}

namespace attn::cpu {

/// Rows, lanes and pairs of a tile register.
constexpr int64_t sideOfTile = 16;

/// The module's function, made if it is not there yet; `guarded`: terms whose `wide` number is 0 count 0 whatever
/// `each` holds.
mlir::LLVM::LLVMFuncOp tileDotFunction(mlir::ModuleOp module, bool guarded);

} // namespace attn::cpu
#endif
