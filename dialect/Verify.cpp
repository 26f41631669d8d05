// What the verifiers of the attn dialect share: names and sizes of all tensors of an operation, scalar regions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Verify.h"
#include "dialect/AttnOps.h"
#include "dialect/ScalarOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace attn {

LogicalResult report(Operation *op, const Problem &problem) {
  return problem ? op->emitOpError(*problem) : success();
}

// ---- tensors

DimsAttr producedDims(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned i = argument.getArgNumber();
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast_or_null<func::FuncOp>(parent))
      return function.getArgAttrOfType<DimsAttr>(i, "attn.dims");
    if (auto scan = dyn_cast_or_null<ScanOp>(parent)) {
      auto dims = i < scan.getInDims().size() ? dyn_cast<DimsAttr>(scan.getInDims()[i]) : DimsAttr();
      if (dims && i < scan.getSources() && dims.size())
        return DimsAttr::get(dims.getContext(), dims.getNames().drop_front());
      return dims;
    }
    auto repeat = dyn_cast_or_null<RepeatOp>(parent);
    if (!repeat || i == 0 || i > repeat.getInDims().size())
      return {};
    return dyn_cast<DimsAttr>(repeat.getInDims()[i - 1]);
  }
  auto names = value.getDefiningOp()->getAttrOfType<ArrayAttr>("out_dims");
  unsigned i = cast<OpResult>(value).getResultNumber();
  return names && i < names.size() ? dyn_cast<DimsAttr>(names[i]) : DimsAttr();
}

bool sameSequences(RankedTensorType type, DimsAttr a, DimsAttr b) {
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i) && a.sequence(i) != b.sequence(i))
      return false;
  return true;
}

/// tensor_c6 of one operand.
static LogicalResult verifyProducer(Operation *op, Value operand, const Shape &shape) {
  DimsAttr produced = producedDims(operand);
  if (!produced || produced.size() != shape.rank() || sameSequences(shape.type, produced, shape.dims))
    return success();
  auto error = op->emitOpError() << "a tensor is " << describe(shape) << " here but was made as "
                                 << describe({shape.type, produced}) << " (tensor_c6)";
  error.attachNote(operand.getLoc()) << "made here";
  return error;
}

/// Pairs tensors with their names.
static LogicalResult collectShapes(Operation *op, ValueRange values, StringRef list, SmallVectorImpl<Shape> &shapes) {
  SmallVector<Value> tensors =
      llvm::filter_to_vector(values, [](Value value) { return isa<TensorType>(value.getType()); });
  auto names = op->getAttrOfType<ArrayAttr>(list);
  if (!names || names.size() != tensors.size())
    return op->emitOpError() << "`" << list << "` names " << (names ? names.size() : 0) << " tensors of "
                             << tensors.size() << " (tensor_c1)";
  for (auto [tensor, dims] : llvm::zip(tensors, names)) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type)
      return op->emitOpError("a tensor has no rank (tensor_c1)");
    shapes.push_back({type, cast<DimsAttr>(dims)});
    if (failed(report(op, checkNames(shapes.back()))))
      return failure();
  }
  return success();
}

LogicalResult verifyTensors(Operation *op, OpShapes &shapes, bool sharedNames) {
  if (op->hasAttr("in_dims") || op->getNumOperands())
    if (failed(collectShapes(op, op->getOperands(), "in_dims", shapes.inputs)))
      return failure();
  if (op->getNumResults())
    if (failed(collectShapes(op, op->getResults(), "out_dims", shapes.outputs)))
      return failure();
  if (sharedNames) {
    SmallVector<Shape> all = llvm::to_vector(shapes.inputs);
    llvm::append_range(all, shapes.outputs);
    if (failed(report(op, checkSizes(all))))
      return failure();
  }
  size_t next = 0;
  for (Value operand : op->getOperands())
    if (isa<TensorType>(operand.getType()) && failed(verifyProducer(op, operand, shapes.inputs[next++])))
      return failure();
  return success();
}

LogicalResult verifyFloats(Operation *op, ArrayRef<Shape> shapes, StringRef constraint) {
  for (const Shape &shape : shapes)
    if (!shape.element().isF32())
      return op->emitOpError() << "a tensor of " << shape.element() << " where f32 belongs (" << constraint << ")";
  return success();
}

LogicalResult verifyInputCount(Operation *op, const OpShapes &shapes, size_t count, StringRef constraint) {
  if (shapes.inputs.size() != count)
    return op->emitOpError() << shapes.inputs.size() << " inputs where " << count << " belong (" << constraint << ")";
  return success();
}

// ---- regions

/// region_c2: only known scalar operations; look-ups and folds in attend alone.
static LogicalResult verifyAllowed(Operation *op, bool inAttend) {
  if (isa<YieldOp>(op) || isScalarOperation(op))
    return success();
  if (isa<AtOp, FoldOp>(op))
    return inAttend ? success() : op->emitOpError("stands in regions of `attn.attend` only (region_c3)");
  return op->emitOpError("is not one of the scalar operations of regions (region_c2)");
}

/// region_c4: from outside come scalars only; tensors are captured as arguments. (A fold's body is inside of attend's.)
static LogicalResult verifyOutside(Operation *op, Region &region) {
  if (isa<FoldOp>(region.getParentOp()))
    return success();
  for (Value operand : op->getOperands())
    if (!region.isAncestor(operand.getParentRegion()) && !isScalarType(operand.getType()))
      return op->emitOpError("takes a tensor from outside of the region (region_c4)");
  return success();
}

static LogicalResult verifyYield(Operation *op, Block &block, StringRef called, Type result) {
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getNumOperands() != 1 || yield.getOperand(0).getType() != result)
    return op->emitOpError() << "the " << called << " region does not yield one " << result << " (region_c5)";
  return success();
}

LogicalResult verifyScalarRegion(Operation *op, Region &region, StringRef called, TypeRange arguments, Type result) {
  if (!region.hasOneBlock() || region.front().getArgumentTypes() != arguments) {
    auto error = op->emitOpError() << "the " << called << " region's arguments are not those of the operation "
                                   << "(region_c1)";
    error.attachNote() << "expected (" << arguments << ")";
    return error;
  }
  bool inAttend = isa<AttendOp>(op) || op->getParentOfType<AttendOp>();
  WalkResult walked = region.walk([&](Operation *inner) {
    return failed(verifyAllowed(inner, inAttend)) || failed(verifyOutside(inner, region)) ? WalkResult::interrupt()
                                                                                          : WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  return verifyYield(op, region.front(), called, result);
}

} // namespace attn
