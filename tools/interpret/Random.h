// Seeded random weights and inputs of any function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers are float32 values, so that the interpreter and compiled code start from the same ones. Every tensor is
// drawn from its own generator, seeded by its name, turn and sequence: leaving one out changes no other.
#ifndef ATTN_TOOLS_INTERPRET_RANDOM_H
#define ATTN_TOOLS_INTERPRET_RANDOM_H
#include "dialect/interpreter/Interpreter.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringRef.h"

namespace attn::interpreter {

/// Normal numbers for f32, 0 .. limit-1 for i32, 0 or 1 for i1.
Tensor drawTensor(llvm::StringRef name, uint64_t seed, llvm::ArrayRef<int64_t> sizes, mlir::Type element,
                  int64_t limit);

/// The numbers of one part of a weight, row-major in the order of its type (not of the file). They follow from the
/// part's name and turn alone, so that passes may join or rename weights.
Tensor drawPart(WeightOp op, size_t part, llvm::ArrayRef<int64_t> turns, uint64_t seed);
WeightProvider drawWeights(uint64_t seed);

} // namespace attn::interpreter
#endif
