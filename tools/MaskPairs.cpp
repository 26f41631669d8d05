// MaskPairs.cpp: the mask of an attention for one pair of a query and a key, as far as it can be known when compiling.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that only a run has make what they go into unknown, but where it follows all the same: `false and u` is
// false, and an entry of a table equals itself.
#include "tools/MaskPairs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace attn {

MaskPairs::MaskPairs(AttendOp attend, const Occasion &occasion) : op(attend), data(attend, occasion) {
  Block &mask = op.getMask().front();
  for (unsigned i = 0; i < 3; ++i)
    arguments[i] = slotOf(mask.getArgument(i));
  for (Operation &each : mask.without_terminator()) {
    Step step{&each, interpreter::findFunction(&each), {}, slotOf(each.getResult(0))};
    for (Value operand : each.getOperands())
      step.operands.push_back(slotOf(operand));
    steps.push_back(std::move(step));
  }
  result = slotOf(mask.getTerminator()->getOperand(0));
}

/// What comes from outside the mask is unknown, unless a step sets it.
unsigned MaskPairs::slotOf(Value value) {
  auto [place, fresh] = places.try_emplace(value, slots.size());
  if (fresh) {
    std::optional<int64_t> known = data.scalar(value);
    slots.push_back({double(known.value_or(0)), known.has_value(), 0});
  }
  return place->second;
}

Visibility MaskPairs::at(int64_t query, int64_t key, int64_t head) {
  int64_t given[] = {query, key, head};
  for (unsigned i = 0; i < 3; ++i)
    slots[arguments[i]] = {double(given[i])};
  for (const Step &step : steps)
    slots[step.result] = compute(step);
  const Number &visible = slots[result];
  return !visible.known ? Visibility::Unknown : visible.value != 0 ? Visibility::Visible : Visibility::Hidden;
}

MaskPairs::Number MaskPairs::compute(const Step &step) {
  if (isa<AtOp>(step.op))
    return look(step);
  if (!step.function) // a sum over rows
    return {0, false};
  double values[3] = {};
  for (auto [i, operand] : llvm::enumerate(step.operands)) {
    if (!slots[operand].known)
      return unknown(step);
    values[i] = slots[operand].value;
  }
  return {step.function(values)};
}

MaskPairs::Number MaskPairs::look(const Step &step) {
  auto at = cast<AtOp>(step.op);
  std::optional<unsigned> capture = captureNumber(op, at.getTensor());
  if (at.getIndices().empty()) {
    std::optional<int64_t> known = data.scalar(at.getTensor());
    return {double(known.value_or(0)), known.has_value(), 0};
  }
  const std::vector<int32_t> *table = capture && at.getIndices().size() == 1 ? data.table(*capture) : nullptr;
  const Number &index = slots[step.operands[1]];
  if (!table || table->empty() || !index.known)
    return {0, false,
            index.known && at.getIndices().size() == 1 ? (int64_t(*capture + 1) << 40) + int64_t(index.value) : 0};
  return {double((*table)[size_t(std::clamp(int64_t(index.value), int64_t(0), int64_t(table->size()) - 1))])};
}

MaskPairs::Number MaskPairs::unknown(const Step &step) {
  auto operand = [&](unsigned i) -> const Number & { return slots[step.operands[i]]; };
  auto either = [&](double value) { // whether one of two operands is known to be it
    return (operand(0).known && operand(0).value == value) || (operand(1).known && operand(1).value == value);
  };
  if (isa<arith::AndIOp>(step.op) && either(0))
    return {0};
  if (isa<arith::OrIOp>(step.op) && step.op->getResult(0).getType().isInteger(1) && either(1))
    return {1};
  if (isa<arith::SelectOp>(step.op) && operand(0).known)
    return operand(0).value != 0 ? operand(1) : operand(2);
  bool same = step.operands.size() == 2 && operand(0).origin != 0 && operand(0).origin == operand(1).origin;
  if (auto compare = dyn_cast<arith::CmpIOp>(step.op); compare && same)
    return {step.function(std::array{0.0, 0.0}.data())};
  return {0, false};
}

} // namespace attn
