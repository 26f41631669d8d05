// Verifiers of attend and of what stands in its regions; the numbered constraints are in docs/dialect.md.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "dialect/Verify.h"

using namespace mlir;
using namespace attn;

/// Whether the score is, or is made from, the product of the rows.
static bool usesDot(AttendOp op) {
  Region &score = op.getScore();
  return score.empty() || score.front().empty() || score.front().getNumArguments() == 0 ||
         !score.front().getArgument(0).use_empty();
}

LogicalResult AttendOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)))
    return failure();
  if (Problem problem = checkAttend(shapes.inputs, shapes.outputs, usesDot(*this), getWeights(), getLse()))
    return emitOpError(*problem);
  if (failed(verifyFloats(*this, ArrayRef(shapes.inputs).take_front(3), "attend_c10")) ||
      failed(verifyFloats(*this, shapes.outputs, "attend_c10")))
    return failure();
  bool sums = getWeigh() == Weigh::softmax || getWeigh() == Weigh::softmax1;
  if (!sums && (getLse() || !getSink().empty()))
    return emitOpError("a sink and a log-sum-exp belong to softmax and softmax1 (attend_c11)");
  return success();
}

/// What regions see of a row of q or k.
static Type rowType(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return RankedTensorType::get({type.getShape().back()}, type.getElementType());
}

LogicalResult AttendOp::verifyRegions() {
  Builder builder(getContext());
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  auto verify = [&](Region &region, StringRef called, SmallVector<Type> arguments, Type result) {
    if (region.empty())
      return success();
    llvm::append_range(arguments, captures().getTypes());
    return verifyScalarRegion(*this, region, called, arguments, result);
  };
  if (failed(verify(getScore(), "score", {f32, i32, i32, i32, rowType(query()), rowType(key())}, f32)) ||
      failed(verify(getMask(), "mask", {i32, i32, i32}, builder.getI1Type())) ||
      failed(verify(getSink(), "sink", {i32}, f32)))
    return failure();
  return success();
}

LogicalResult AtOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getTensor().getType());
  if (!type || static_cast<size_t>(type.getRank()) != getIndices().size())
    return emitOpError() << getIndices().size() << " indices for " << getTensor().getType() << " (at_c1)";
  if (type.getElementType() != getResult().getType())
    return emitOpError() << "the result is not one " << type.getElementType() << " (at_c2)";
  return success();
}

LogicalResult FoldOp::verify() {
  if (static_cast<int64_t>(getCount()) < 0)
    return emitOpError() << "counts to " << static_cast<int64_t>(getCount()) << " (fold_c1)";
  if (getKind() == Reduction::mean)
    return emitOpError() << "a mean is a sum divided by its count (fold_c2)";
  return success();
}

LogicalResult FoldOp::verifyRegions() {
  Builder builder(getContext());
  return verifyScalarRegion(*this, getBody(), "body", builder.getI32Type(), builder.getF32Type());
}
