// Verifiers of the attn dialect's operations; the numbered constraints are in docs/dialect.md.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "dialect/TensorSyntax.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attn;

#define GET_OP_CLASSES
#include "dialect/AttnOps.cpp.inc"

// ---- verifiers
LogicalResult WeightOp::verify() {
  return success();
}
LogicalResult PosOp::verify() {
  return success();
}
LogicalResult MapOp::verify() {
  return success();
}
LogicalResult ReduceOp::verify() {
  return success();
}
LogicalResult ContractOp::verify() {
  return success();
}
LogicalResult SoftmaxOp::verify() {
  return success();
}
LogicalResult NormaliseOp::verify() {
  return success();
}
LogicalResult LinearOp::verify() {
  return success();
}
LogicalResult GatherOp::verify() {
  return success();
}
LogicalResult ReshapeOp::verify() {
  return success();
}
LogicalResult SliceOp::verify() {
  return success();
}
LogicalResult ConcatOp::verify() {
  return success();
}
LogicalResult PatchesOp::verify() {
  return success();
}
LogicalResult AttendOp::verify() {
  return success();
}
LogicalResult TapOp::verify() {
  return success();
}
LogicalResult RepeatOp::verify() {
  return success();
}
LogicalResult AtOp::verify() {
  return success();
}
LogicalResult MapOp::verifyRegions() {
  return success();
}
LogicalResult LinearOp::verifyRegions() {
  return success();
}
LogicalResult AttendOp::verifyRegions() {
  return success();
}
LogicalResult ParamOp::verifySymbolUses(SymbolTableCollection &) {
  return success();
}
LogicalResult LinearOp::verifySymbolUses(SymbolTableCollection &) {
  return success();
}
