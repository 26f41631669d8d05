// Scalar regions as lists of steps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/interpreter/Scalars.h"
#include "dialect/AttnOps.h"
#include "dialect/interpreter/Evaluate.h"

using namespace mlir;

namespace attn::interpreter {

Rows::Rows(const Tensor &tensor)
    : numbers(tensor.numbers.data()), sizes(tensor.sizes), strides(computeStrides(tensor.sizes)) {}

ScalarProgram::ScalarProgram(Block &block, llvm::function_ref<double(Value)> fromOutside) : outside(fromOutside) {
  for (Value argument : block.getArguments()) {
    arguments.push_back(slotOf(argument));
    used.push_back(!argument.use_empty());
  }
  read(block, steps);
  yielded = knownSlotOf(block.getTerminator()->getOperand(0));
}

unsigned ScalarProgram::slotOf(Value value) {
  auto [place, isNew] = numbering.try_emplace(value, slots.size());
  if (isNew) {
    slots.push_back(0);
    tensors.emplace_back();
  }
  return place->second;
}

void ScalarProgram::read(Block &block, Steps &into) {
  for (Operation &op : block.without_terminator()) {
    if (isa<AtOp>(op))
      readAt(&op, into);
    else if (isa<FoldOp>(op))
      readFold(&op, into);
    else
      readFunction(&op, into);
  }
}

/// Slots of operands; one that comes from outside gets its number now.
static SmallVector<unsigned> slotsOf(ValueRange values, llvm::function_ref<unsigned(Value)> slotOf) {
  return llvm::map_to_vector(values, [&](Value value) { return slotOf(value); });
}

void ScalarProgram::readFunction(Operation *op, Steps &into) {
  Function function = findFunction(op);
  assert(function && "the verifier lets nothing else pass");
  auto operands = slotsOf(op->getOperands(), [&](Value value) { return knownSlotOf(value); });
  unsigned result = slotOf(op->getResult(0));
  if (operands.empty()) { // a constant
    slots[result] = function(nullptr);
    return;
  }
  into.push_back([this, function, operands, result] {
    double values[3];
    for (size_t i = 0; i < operands.size(); ++i)
      values[i] = slots[operands[i]];
    slots[result] = function(values);
  });
}

void ScalarProgram::readAt(Operation *op, Steps &into) {
  auto at = cast<AtOp>(op);
  auto indices = slotsOf(at.getIndices(), [&](Value value) { return knownSlotOf(value); });
  unsigned tensor = slotOf(at.getTensor()), result = slotOf(at.getResult());
  into.push_back([this, indices, tensor, result] {
    const Rows &rows = tensors[tensor];
    int64_t offset = 0;
    bool empty = false;
    for (size_t i = 0; i < indices.size(); ++i) {
      int64_t last = rows.sizes[i] - 1;
      empty |= last < 0;
      offset +=
          std::clamp<int64_t>(static_cast<int64_t>(slots[indices[i]]), 0, std::max<int64_t>(last, 0)) * rows.strides[i];
    }
    slots[result] = empty ? 0 : rows.numbers[offset];
  });
}

void ScalarProgram::readFold(Operation *op, Steps &into) {
  auto fold = cast<FoldOp>(op);
  Block &block = fold.getBody().front();
  unsigned place = slotOf(block.getArgument(0)), result = slotOf(fold.getResult());
  Steps body;
  read(block, body);
  unsigned term = knownSlotOf(block.getTerminator()->getOperand(0));
  int64_t count = fold.getCount();
  into.push_back([this, body = std::move(body), place, result, term, count, kind = fold.getKind()] {
    double sum = combineNothing(kind);
    for (int64_t i = 0; i < count; ++i) {
      slots[place] = static_cast<double>(i);
      for (const auto &step : body)
        step();
      sum = combine(kind, sum, slots[term]);
    }
    slots[result] = sum;
  });
}

unsigned ScalarProgram::knownSlotOf(Value value) {
  bool isNew = !numbering.contains(value);
  unsigned slot = slotOf(value);
  if (isNew)
    slots[slot] = outside(value);
  return slot;
}

double ScalarProgram::run() {
  for (const auto &step : steps)
    step();
  return slots[yielded];
}

} // namespace attn::interpreter
