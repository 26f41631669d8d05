// The functions that lay weights out as the matrix product reads them, run once when a model is opened.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A weight tensor<n..xKxf32> with N = product of n becomes panels: [ceil(N / panel)][K][panel], where place (p, k, j)
// is number k of row p * panel + j; rows beyond N are zero. The file has float32, float16 or bfloat16, each part [n..,
// K] or, stored in_out, [K, n..].
//
// With --precision=bf16 the numbers are rounded. Where the machine multiplies pairs of bfloat16, a panel is [ceil(K /
// 2)][panel] pairs of 4 bytes, numbers 2k and 2k + 1 of a row, the even one in the lower half; for tile registers its
// rows of pairs are a multiple of 16. What is missing is zero. Elsewhere they are float32 numbers as above.
#ifndef ATTN_LOWERING_PACKWEIGHT_H
#define ATTN_LOWERING_PACKWEIGHT_H

#include "lowering/Program.h"

namespace attn {

/// How many bytes the packed weight takes.
int64_t packedBytes(WeightOp weight, const Program &program);

/// How many rows of 4-byte numbers or pairs a panel of rows of that width has.
int64_t packedRows(int64_t width, const Program &program);

/// `void(packed, parts, dtype)`, attn_pack of runtime/abi.h, in the lowered module.
mlir::LLVM::LLVMFuncOp packFunction(Program &program, WeightOp weight);

} // namespace attn
#endif
