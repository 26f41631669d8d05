// The memory of a compiled module's weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_AGREE_WEIGHTS_H
#define ATTN_TOOLS_AGREE_WEIGHTS_H
#include "tools/agree/CompiledModule.h"

namespace attn::agree {

/// The memory of weights in the order of the program's slots.
std::vector<Bytes> packWeights(mlir::ModuleOp planned, const CompiledModule &compiled, uint64_t seed);

/// Whether every generated pack function makes of a file in float16 and in bfloat16 what it makes of the same numbers
/// in float32, and writes where it may.
bool packsEveryType(mlir::ModuleOp planned, const CompiledModule &compiled, uint64_t seed);

} // namespace attn::agree
#endif
