// The interpreter's values: tensors of one sequence, in double, and the one loop that walks several of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of every element type are held as doubles: float32 because the interpreter is the judge and should be more
// exact than what it judges, int32 and booleans because a double holds them exactly.
#ifndef ATTN_DIALECT_INTERPRETER_TENSOR_H
#define ATTN_DIALECT_INTERPRETER_TENSOR_H
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace attn {
class DimsAttr;

namespace interpreter {

using Sizes = llvm::SmallVector<int64_t, 6>;

/// The product of all sizes.
int64_t countElements(llvm::ArrayRef<int64_t> sizes);

/// Row-major numbers.
struct Tensor {
  Sizes sizes;
  std::vector<double> numbers;

  Tensor() = default;
  explicit Tensor(llvm::ArrayRef<int64_t> sizes, double number = 0);
};

/// How far apart neighbours along each dimension lie in row-major order.
Sizes computeStrides(llvm::ArrayRef<int64_t> sizes);

/// The strides of `tensor`, whose dimensions are called `dims`, along dimensions called `along`; 0 where it lacks one.
Sizes alignStrides(const Tensor &tensor, DimsAttr dims, DimsAttr along);

/// Walks all places of a box of `sizes` row by row. `strides` has one entry a followed tensor: how far it moves with
/// each dimension of the box; `body` gets the offset of each. A box without dimensions has one place.
void walk(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<Sizes> strides,
          llvm::function_ref<void(llvm::ArrayRef<int64_t> offsets)> body);

} // namespace interpreter
} // namespace attn
#endif
