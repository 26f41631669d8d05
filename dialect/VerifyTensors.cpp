// Verifiers of the operations on tensors; the numbered constraints are in docs/dialect.md.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "dialect/Verify.h"

using namespace mlir;
using namespace attn;

LogicalResult PosOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)))
    return failure();
  const Shape &out = shapes.outputs[0];
  if (out.rank() != 1 || !out.isDynamic(0) || !out.element().isInteger(32))
    return emitOpError("positions are int32 along one sequence dimension (pos_c1)");
  return success();
}

LogicalResult MapOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)))
    return failure();
  return report(*this, checkMap(shapes.inputs, shapes.outputs[0]));
}

/// The element types of some tensors: what a region on their numbers gets.
static SmallVector<Type> elementTypes(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) { return cast<TensorType>(type).getElementType(); });
}

LogicalResult MapOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), "body", elementTypes(getInputs().getTypes()),
                            cast<TensorType>(getOutput().getType()).getElementType());
}

LogicalResult ReduceOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)) || failed(verifyInputCount(*this, shapes, 1, "reduce_c1")) ||
      failed(verifyFloats(*this, {shapes.inputs[0], shapes.outputs[0]}, "reduce_c3")))
    return failure();
  return report(*this, checkReduce(shapes.inputs[0], shapes.outputs[0]));
}

LogicalResult ContractOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)) || failed(verifyInputCount(*this, shapes, 2, "contract_c1")) ||
      failed(verifyFloats(*this, {shapes.inputs[0], shapes.inputs[1], shapes.outputs[0]}, "contract_c4")))
    return failure();
  return report(*this, checkContract(shapes.inputs[0], shapes.inputs[1], shapes.outputs[0]));
}

LogicalResult SoftmaxOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)) || failed(verifyInputCount(*this, shapes, 1, "softmax_c1")) ||
      failed(verifyFloats(*this, {shapes.inputs[0], shapes.outputs[0]}, "softmax_c4")))
    return failure();
  return report(*this, checkSoftmax(getAlong(), shapes.inputs[0], shapes.outputs[0]));
}

LogicalResult NormaliseOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)))
    return failure();
  if (shapes.inputs.empty())
    return emitOpError("no input (normalise_c1)");
  if (failed(verifyFloats(*this, shapes.inputs, "normalise_c5")) ||
      failed(verifyFloats(*this, shapes.outputs, "normalise_c5")))
    return failure();
  return report(*this, checkNormalise(shapes.inputs, shapes.outputs[0], getKind() == Norm::rms));
}

LogicalResult LinearOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)))
    return failure();
  if (shapes.inputs.empty())
    return emitOpError("no input (linear_c1)");
  if (failed(verifyFloats(*this, shapes.inputs[0], "linear_c6")))
    return failure();
  return report(*this, checkLinear(shapes.inputs, shapes.outputs[0]));
}

LogicalResult LinearOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), "body", elementTypes(getInputs().getTypes()),
                            cast<TensorType>(getOutput().getType()).getElementType());
}

LogicalResult GatherOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)))
    return failure();
  if (shapes.inputs.empty())
    return emitOpError("no table (gather_c1)");
  if (shapes.inputs[0].element() != shapes.outputs[0].element())
    return emitOpError("table and output differ in element type (gather_c4)");
  return report(*this, checkGather(shapes.inputs, shapes.outputs[0]));
}

/// One input of the output's element type.
static LogicalResult verifyMovesOne(Operation *op, const OpShapes &shapes, StringRef constraint) {
  if (failed(verifyInputCount(op, shapes, 1, constraint)))
    return failure();
  if (shapes.inputs[0].element() != shapes.outputs[0].element())
    return op->emitOpError() << "input and output differ in element type (" << constraint << ")";
  return success();
}

LogicalResult ReshapeOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)) || failed(verifyMovesOne(*this, shapes, "reshape_c1")))
    return failure();
  return report(*this, checkReshape(shapes.inputs[0], shapes.outputs[0]));
}

LogicalResult SliceOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes, /*sharedNames=*/false)) || failed(verifyMovesOne(*this, shapes, "slice_c1")))
    return failure();
  return report(*this, checkSlice(getAlong(), static_cast<int64_t>(getOffset()), shapes.inputs[0], shapes.outputs[0]));
}

LogicalResult ConcatOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes, /*sharedNames=*/false)))
    return failure();
  for (const Shape &input : shapes.inputs)
    if (input.element() != shapes.outputs[0].element())
      return emitOpError("inputs and output differ in element type (concat_c6)");
  SmallVector<StringRef> places;
  for (auto place : getPlaces().getAsRange<StringAttr>())
    places.push_back(place.getValue());
  return report(*this, checkConcat(getAlong(), places, shapes.inputs, shapes.outputs[0]));
}

LogicalResult PatchesOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)) || failed(verifyMovesOne(*this, shapes, "patches_c5")))
    return failure();
  return report(*this, checkPatches(static_cast<int64_t>(getStride()), static_cast<int64_t>(getPad()), shapes.inputs[0],
                                    shapes.outputs[0]));
}
