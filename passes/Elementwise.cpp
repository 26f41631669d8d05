// Elementwise regions under construction: tensors come in by name, other regions are inlined.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace attn {

OpBuilder ElementwiseBody::builder() {
  // Not atBlockEnd: that asks the operation around the region for the context, and there is none yet.
  OpBuilder inside(loc.getContext());
  inside.setInsertionPointToEnd(&region.front());
  return inside;
}

Value ElementwiseBody::leading(Type type) {
  ++numLeading;
  return region.front().addArgument(type, loc);
}

Value ElementwiseBody::argument(Value tensor, DimsAttr names) {
  for (auto [i, input] : llvm::enumerate(inputs))
    if (input == tensor && sameNames(dims[i], names))
      return region.front().getArgument(numLeading + i);
  inputs.push_back(tensor);
  dims.push_back(names);
  return region.front().addArgument(tensorType(tensor).getElementType(), loc);
}

Value ElementwiseBody::inlined(Block &block, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  OpBuilder inside = builder();
  for (Operation &op : block.without_terminator())
    inside.clone(op, mapping);
  return mapping.lookupOrDefault(yieldedValue(block));
}

Value ElementwiseBody::computed(MapOp producer, DimsAttr names) {
  Renaming renaming = renamingByPlace(producer.outDims(), names);
  SmallVector<Value> arguments;
  for (auto [i, input] : llvm::enumerate(producer.getInputs()))
    arguments.push_back(argument(input, rename(producer.inDims(i), renaming)));
  return inlined(producer.getBody().front(), arguments);
}

void ElementwiseBody::yield(Value value) {
  OpBuilder inside = builder();
  YieldOp::create(inside, loc, value);
}

MapOp createMap(OpBuilder &builder, Location loc, Type type, DimsAttr dims, ElementwiseBody &body) {
  MLIRContext *context = builder.getContext();
  auto map = MapOp::create(builder, loc, type, body.inputs, body.inputDims(context), makeDimsArray(context, dims));
  map.getBody().takeBody(body.region);
  return map;
}

unsigned countWork(Block &block) {
  return llvm::count_if(block.without_terminator(), [](Operation &op) { return !isa<arith::ConstantOp>(op); });
}

Value yieldedValue(Block &block) {
  auto yield = cast<YieldOp>(block.getTerminator());
  return yield.getValues().size() == 1 ? yield.getValues().front() : Value();
}

std::optional<double> constantValue(Value value) {
  APFloat real(0.0);
  if (matchPattern(value, m_ConstantFloat(&real)))
    return real.convertToDouble();
  APInt whole;
  if (matchPattern(value, m_ConstantInt(&whole)))
    return static_cast<double>(whole.getSExtValue());
  return std::nullopt;
}

} // namespace attn
