// The regions of attn.attend as passes handle them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/AttendRegions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace attn {

unsigned countOwnArguments(AttendOp attend, Region &region) {
  if (&region == &attend.getScore())
    return 6;
  return &region == &attend.getMask() ? 3 : 1;
}

Region *regionAround(AttendOp attend, Operation *op) {
  Region *region = op->getParentRegion();
  while (region && region->getParentOp() != attend)
    region = region->getParentRegion();
  return region;
}

std::optional<unsigned> captureNumber(AttendOp attend, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != attend)
    return std::nullopt;
  unsigned own = countOwnArguments(attend, *argument.getOwner()->getParent());
  return argument.getArgNumber() < own ? std::nullopt : std::optional(argument.getArgNumber() - own);
}

DimsAttr captureNames(AttendOp attend, unsigned capture) {
  return attend.inDims(3 + capture);
}

static void setInputs(AttendOp attend, ArrayRef<Value> inputs, ArrayRef<Attribute> dims) {
  attend.getInputsMutable().assign(inputs);
  attend.setInDimsAttr(ArrayAttr::get(attend.getContext(), dims));
}

Value getCapture(AttendOp attend, Region &region, Value tensor, DimsAttr names) {
  unsigned own = countOwnArguments(attend, region);
  for (auto [i, capture] : llvm::enumerate(attend.captures()))
    if (capture == tensor && sameNames(captureNames(attend, i), names))
      return region.getArgument(own + i);
  SmallVector<Value> inputs(attend.getInputs());
  SmallVector<Attribute> dims(attend.getInDims().begin(), attend.getInDims().end());
  inputs.push_back(tensor);
  dims.push_back(names);
  setInputs(attend, inputs, dims);
  for (Region *each : {&attend.getScore(), &attend.getMask(), &attend.getSink()})
    if (!each->empty())
      each->addArgument(tensor.getType(), attend.getLoc());
  return region.getArguments().back();
}

void eraseCapture(AttendOp attend, unsigned capture) {
  for (Region *region : {&attend.getScore(), &attend.getMask(), &attend.getSink()})
    if (!region->empty())
      region->eraseArgument(countOwnArguments(attend, *region) + capture);
  SmallVector<Value> inputs(attend.getInputs());
  SmallVector<Attribute> dims(attend.getInDims().begin(), attend.getInDims().end());
  inputs.erase(inputs.begin() + 3 + capture);
  dims.erase(dims.begin() + 3 + capture);
  setInputs(attend, inputs, dims);
}

bool goesOn(Operation *op, StringRef sequence) {
  auto function = op->getParentOfType<func::FuncOp>();
  auto cached = function ? function->getAttrOfType<StringAttr>("attn.cached") : StringAttr();
  return cached && cached.getValue() == sequence;
}

bool isPast(AttendOp attend, Value value) {
  auto at = value.getDefiningOp<AtOp>();
  std::optional<unsigned> capture = at ? captureNumber(attend, at.getTensor()) : std::nullopt;
  auto session = capture ? attend.captures()[*capture].getDefiningOp<SessionOp>() : SessionOp();
  return session && session.getNumber() == SessionNumber::past;
}

Block &getMaskBlock(AttendOp attend) {
  Region &mask = attend.getMask();
  if (!mask.empty())
    return mask.front();
  Block &block = mask.emplaceBlock();
  Type i32 = IntegerType::get(attend.getContext(), 32);
  for (unsigned i = 0; i < 3; ++i)
    block.addArgument(i32, attend.getLoc());
  for (Value capture : attend.captures())
    block.addArgument(capture.getType(), attend.getLoc());
  return block;
}

} // namespace attn
