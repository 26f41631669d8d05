// The functions that lay weights out as the matrix product reads them, run once when a model is opened.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A weight tensor<n..xKxf32> with N = product of n becomes panels: [ceil(N / panel)][K][panel], where place (p, k, j)
// is number k of row p * panel + j; rows beyond N are zero. The file has float32, float16 or bfloat16, each part [n..,
// K] or, stored in_out, [K, n..].
#ifndef ATTN_LOWERING_PACKWEIGHT_H
#define ATTN_LOWERING_PACKWEIGHT_H

#include "lowering/Program.h"

namespace attn {

/// How many bytes the packed weight takes.
int64_t packedBytes(WeightOp weight, const Target &target);

/// `void(packed, parts, dtype)`, attn_pack of runtime/abi.h, in the lowered module.
mlir::LLVM::LLVMFuncOp packFunction(Program &program, WeightOp weight);

} // namespace attn
#endif
