// Rounding to bfloat16 for products: the functions that all kernels of a module share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     llvm.func internal @attn_round…(from, fromRow, to, toRow, rows, lanes)
//     llvm.func internal @attn_pairs…(from, fromRow, to, toRow, rows, lanes)
//
// Row r of `from` is `lanes` numbers at from + r * fromRow: float32, or bfloat16 already (attn_pairs…). What is written
// depends on what multiplies:
//
//   Pairs::None     float32 numbers that are bfloat16 in value, row by row: machines without products of bfloat16
//   Pairs::Along    neighbours of a row side by side: one pair at to + r * toRow + l / 2
//   Pairs::Across   neighbouring rows side by side: row r of pairs holds rows 2r and 2r + 1, one pair a lane
//
// Rows of pairs are written up to a multiple of 16, those beyond the last as 0, where tile registers read them. A pair
// takes the 4 bytes of a float32 number, the even one of the two in the lower half; distances of `to` count
// pairs. Where an odd one is the last, its neighbour is 0. Nothing beyond rows and lanes is read; whole vectors are
// written.
#ifndef ATTN_LOWERING_CPU_ROUND_H
#define ATTN_LOWERING_CPU_ROUND_H

#include "lowering/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::LLVM {
class LLVMFuncOp;
}

namespace attn::cpu {

enum class Pairs { None, Along, Across };

mlir::LLVM::LLVMFuncOp roundFunction(mlir::ModuleOp module, const Target &target, Pairs pairs, bool rounded);

} // namespace attn::cpu
#endif
