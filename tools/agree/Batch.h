// A ragged batch of one function's inputs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_AGREE_BATCH_H
#define ATTN_TOOLS_AGREE_BATCH_H
#include "dialect/AttnDialect.h"
#include "dialect/interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

namespace attn::agree {

using interpreter::Sizes;
using interpreter::Tensor;

/// One sequence, or its share of one call: the lengths of its dimensions and one tensor a parameter.
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

/// The sizes of a parameter's or result's tensor in one sequence.
Sizes sizesIn(const Sequence &sequence, mlir::Type type, DimsAttr dims);

} // namespace attn::agree
#endif
