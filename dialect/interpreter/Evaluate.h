// What each tensor operation computes, one function an operation: tensors of one sequence in, tensors out.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions trust the verifiers. `sizes` are those of the (first) result, sequence lengths filled in. `outside`
// gives scalars that a region takes from around it.
#ifndef ATTN_DIALECT_INTERPRETER_EVALUATE_H
#define ATTN_DIALECT_INTERPRETER_EVALUATE_H
#include "dialect/AttnOps.h"
#include "dialect/interpreter/Tensor.h"

namespace attn::interpreter {

using Inputs = llvm::ArrayRef<const Tensor *>;
using Outside = llvm::function_ref<double(mlir::Value)>;

/// What reductions make of one number more, NaN always of NaN; and of no number at all.
double combine(Reduction kind, double sum, double number);
double combineNothing(Reduction kind);

/// `first`, first + 1, …
Tensor evaluatePos(const Sizes &sizes, int64_t first);
Tensor evaluateMap(MapOp op, Inputs inputs, const Sizes &sizes, Outside outside);
Tensor evaluateReduce(ReduceOp op, Inputs inputs, const Sizes &sizes);
Tensor evaluateContract(ContractOp op, Inputs inputs, const Sizes &sizes);
Tensor evaluateSoftmax(SoftmaxOp op, Inputs inputs, const Sizes &sizes);
Tensor evaluateNormalise(NormaliseOp op, Inputs inputs, const Sizes &sizes);
Tensor evaluateLinear(LinearOp op, const Tensor &weight, Inputs inputs, const Sizes &sizes, Outside outside);

Tensor evaluateGather(GatherOp op, Inputs inputs, const Sizes &sizes);
Tensor evaluateReshape(ReshapeOp op, Inputs inputs, const Sizes &sizes);
Tensor evaluateSlice(SliceOp op, Inputs inputs, const Sizes &sizes);
Tensor evaluateConcat(ConcatOp op, Inputs inputs, const Sizes &sizes);
Tensor evaluatePatches(PatchesOp op, Inputs inputs, const Sizes &sizes);

/// y, then the weights and the log-sum-exp where the operation asks for them. `first` is the number of the first query.
std::vector<Tensor> evaluateAttend(AttendOp op, Inputs inputs, int64_t first, Outside outside);

} // namespace attn::interpreter
#endif
