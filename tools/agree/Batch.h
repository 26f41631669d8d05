// A ragged batch of one function's inputs, and one call of compiled code with it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_AGREE_BATCH_H
#define ATTN_TOOLS_AGREE_BATCH_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/agree/CompiledModule.h"
#include <map>

namespace attn::agree {

using interpreter::Sizes;
using interpreter::Tensor;

/// One sequence: the lengths of its dimensions and one tensor a parameter.
struct Sequence {
  std::map<std::string, int64_t> lengths;
  std::vector<Tensor> inputs;
};

/// Seeded inputs for one sequence. What an argument's `test.fill` may ask for instead of normal numbers:
///   ramp A      A times the row's number                 same A     A everywhere
///   poison N    random, but NaN and infinities in rows N and later
///   edges 0     zeros, infinities, NaN and other numbers at which functions bend
///   below N     int32 in 0 .. N-1 (without it 0 .. 7)
mlir::FailureOr<Sequence> drawSequence(mlir::func::FuncOp function, const std::map<std::string, int64_t> &lengths,
                                       unsigned number, uint64_t seed);

/// The memory of weights in the order of the program's slots.
std::vector<Bytes> packWeights(mlir::ModuleOp planned, const CompiledModule &compiled, uint64_t seed);

/// Whether every generated pack function makes of a file in float16 and in bfloat16 what it makes of the same numbers
/// in float32, and writes where it may.
bool packsEveryType(mlir::ModuleOp planned, const CompiledModule &compiled, uint64_t seed);

/// What one call gives: for each result the packed numbers of all sequences.
struct CallResult {
  std::vector<Bytes> outputs;
  std::string complaint; // what it did that it must not do; "" if nothing
};

/// Calls function `index` of the program with these sequences. Scratch memory and outputs are filled with NaN before
/// and fenced on both sides.
CallResult callCompiled(const CompiledModule &compiled, size_t index, mlir::func::FuncOp function,
                        llvm::ArrayRef<const Sequence *> sequences, const std::vector<Bytes> &weights, Threads threads);

/// The sizes of a parameter's or result's tensor in one sequence.
Sizes sizesIn(const Sequence &sequence, mlir::Type type, DimsAttr dims);

} // namespace attn::agree
#endif
