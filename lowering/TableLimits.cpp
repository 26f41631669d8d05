// What the tables of a function say of its caller's numbers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/TableLimits.h"
#include "dialect/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <optional>
#include <utility>

using namespace mlir;

namespace attn {

namespace {

/// Whether a value, and what is computed of it, matters on one side of a select only: what is not chosen is not looked
/// up.
bool isChosen(Value value, int depth = 0) {
  constexpr int deepest = 8;
  return depth < deepest && llvm::all_of(
                                value.getUses(),
                                [&](OpOperand &use) {
                                  Operation *user = use.getOwner();
                                  if (isa<arith::SelectOp>(user))
                                    return use.getOperandNumber() > 0;
                                  if (isa<YieldOp>(user))
                                    return isa<MapOp>(user->getParentOp()) &&
                                           isChosen(user->getParentOp()->getResult(0), depth + 1);
                                  if (auto map = dyn_cast<MapOp>(user))
                                    return isChosen(map.getBody().getArgument(use.getOperandNumber()), depth + 1);
                                  if (isa<ReduceOp, ReshapeOp>(user) || isa<MapOp>(user->getParentOp()))
                                    return isChosen(user->getResult(0), depth + 1);
                                  return false;
                                });
}

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue()) : std::nullopt;
}

void keepLeast(int64_t &kept, int64_t limit) {
  kept = kept == 0 ? limit : std::min(kept, limit);
}

} // namespace

TableLimits::TableLimits(func::FuncOp function) {
  function.walk([&](GatherOp gather) {
    if (isChosen(gather.getOutput()))
      return;
    auto table = cast<RankedTensorType>(gather.getInputs()[0].getType());
    for (auto [d, numbers] : llvm::enumerate(gather.getInputs().drop_front()))
      if (!table.isDynamicDim(d))
        require(numbers, {0, table.getDimSize(d) - 1});
  });
}

/// All of these numbers have to be in the range.
void TableLimits::require(Value numbers, Range range) {
  if (auto argument = dyn_cast<BlockArgument>(numbers)) {
    Operation *owner = argument.getOwner()->getParentOp();
    unsigned index = argument.getArgNumber();
    if (auto scan = dyn_cast<ScanOp>(owner); scan && index < scan.getSources())
      require(scan.getInputs()[index], range);
    else if (isa<func::FuncOp>(owner) && range.least >= 0 && range.most >= 0)
      keepLeast(idLimits[argument], range.most + 1);
  } else if (auto positions = numbers.getDefiningOp<PosOp>()) {
    if (range.least <= 0 && range.most >= 0)
      keepLeast(rowLimits[positions.outDims(0).sequence(0)], range.most + 1);
  } else if (auto map = numbers.getDefiningOp<MapOp>()) {
    Block &body = map.getBody().front();
    requireScalar(body.getTerminator()->getOperand(0), body, range);
  }
}

/// A number computed in the block of a map has to be in the range.
void TableLimits::requireScalar(Value number, Block &map, Range range) {
  if (auto argument = dyn_cast<BlockArgument>(number)) {
    if (argument.getOwner() == &map)
      require(cast<MapOp>(map.getParentOp()).getInputs()[argument.getArgNumber()], range);
    return;
  }
  Operation *op = number.getDefiningOp();
  if (op->getNumOperands() != 2)
    return;
  Value left = op->getOperand(0), right = op->getOperand(1);
  if (isa<arith::AddIOp, arith::MulIOp>(op) && constantOf(left))
    std::swap(left, right);
  std::optional<int64_t> c = constantOf(right);
  if (!c) {
    if (auto whole = constantOf(left); whole && isa<arith::SubIOp>(op))
      requireScalar(right, map, {*whole - range.most, *whole - range.least});
  } else if (isa<arith::AddIOp>(op)) {
    requireScalar(left, map, {range.least - *c, range.most - *c});
  } else if (isa<arith::SubIOp>(op)) {
    requireScalar(left, map, {range.least + *c, range.most + *c});
  } else if (isa<arith::MulIOp>(op) && *c > 0) {
    requireScalar(left, map, {llvm::divideCeilSigned(range.least, *c), llvm::divideFloorSigned(range.most, *c)});
  } else if (isa<arith::FloorDivSIOp>(op) && *c > 0) {
    requireScalar(left, map, {range.least * *c, range.most * *c + *c - 1});
  }
}

} // namespace attn
