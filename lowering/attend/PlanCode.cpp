// Expressions of a mask's plan as code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/attend/PlanCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace attn {

using masks::Number;
using masks::NumberKind;

static bool isTruth(Number number) {
  using enum NumberKind;
  return number->kind == LessEqual || number->kind == And || number->kind == Or || number->kind == TableSorted;
}

void PlanCode::prepare(Number number) {
  llvm::DenseSet<Number> seen;
  std::function<void(Number)> visit = [&](Number part) {
    if (!part || !seen.insert(part).second)
      return;
    if (!part->ofKeys)
      emit(part, prepared);
    else
      llvm::for_each(part->args, visit);
  };
  visit(number);
}

PlanCode::Known PlanCode::forKeys(Number number, Value firstKey, Value lastKey) {
  Known known = prepared;
  llvm::DenseSet<Number> seen;
  std::function<void(Number)> bind = [&](Number part) {
    if (!part || !part->ofKeys || !seen.insert(part).second)
      return;
    if (part->kind == NumberKind::FirstKey)
      known[part] = firstKey;
    else if (part->kind == NumberKind::LastKey)
      known[part] = lastKey;
    else
      llvm::for_each(part->args, bind);
  };
  bind(number);
  return known;
}

Value PlanCode::emit(Number number, Value firstKey, Value lastKey) {
  Known known = forKeys(number, firstKey, lastKey);
  return emit(number, known);
}

Value PlanCode::emitTruth(Number number, Value firstKey, Value lastKey) {
  Known known = forKeys(number, firstKey, lastKey);
  return truth(number, known);
}

Value PlanCode::emit(Number number, Known &known) {
  if (Value value = known.lookup(number))
    return value;
  Value value = compute(number, known);
  return known[number] = value;
}

/// i1, also of the constants 0 and 1.
Value PlanCode::truth(Number number, Known &known) {
  if (number->kind == NumberKind::Constant)
    return arith::ConstantOp::create(ir, ir.loc, ir.getBoolAttr(number->id != 0));
  return emit(number, known);
}

Value PlanCode::floorDiv(Number number, Known &known) {
  Value x = emit(number->args[0], known);
  int64_t divisor = number->args[1]->id;
  if (llvm::isPowerOf2_64(uint64_t(divisor)))
    return arith::ShRSIOp::create(ir, ir.loc, x, ir.constant(llvm::Log2_64(uint64_t(divisor))));
  Value quotient = arith::DivSIOp::create(ir, ir.loc, x, ir.constant(divisor));
  if (number->args[0]->least >= 0)
    return quotient;
  Value above = ir.less(x, ir.mul(quotient, ir.constant(divisor)));
  return ir.sub(quotient, arith::ExtUIOp::create(ir, ir.loc, ir.i64(), above));
}

Value PlanCode::compute(Number number, Known &known) {
  auto arg = [&](int n) { return emit(number->args[n], known); };
  auto choose = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(ir, ir.loc, condition, a, b);
  };
  switch (number->kind) {
  case NumberKind::Constant:
    return ir.constant(number->id);
  case NumberKind::FirstQuery:
    return leaves.firstQuery;
  case NumberKind::LastQuery:
    return leaves.lastQuery;
  case NumberKind::FirstKey:
  case NumberKind::LastKey:
    llvm_unreachable("bound by emit");
  case NumberKind::FinalKey:
    return leaves.finalKey;
  case NumberKind::FirstHead:
    return leaves.firstHead;
  case NumberKind::LastHead:
    return leaves.lastHead;
  case NumberKind::Scalar:
    return leaves.scalar(number->value);
  case NumberKind::Add:
    return ir.add(arg(0), arg(1));
  case NumberKind::Sub:
    return ir.sub(arg(0), arg(1));
  case NumberKind::Mul:
    return ir.mul(arg(0), arg(1));
  case NumberKind::FloorDiv:
    return floorDiv(number, known);
  case NumberKind::Min:
    return ir.min(arg(0), arg(1));
  case NumberKind::Max:
    return ir.max(arg(0), arg(1));
  case NumberKind::Select:
    return choose(truth(number->args[0], known), arg(1), arg(2));
  case NumberKind::LessEqual: {
    if (!isTruth(number->args[0]))
      return arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::sle, arg(0), arg(1));
    Value yes = arith::ConstantOp::create(ir, ir.loc, ir.getBoolAttr(true)); // a truth value that is 0
    return arith::XOrIOp::create(ir, ir.loc, arg(0), yes);
  }
  case NumberKind::And:
    return arith::AndIOp::create(ir, ir.loc, truth(number->args[0], known), truth(number->args[1], known));
  case NumberKind::Or:
    return arith::OrIOp::create(ir, ir.loc, truth(number->args[0], known), truth(number->args[1], known));
  case NumberKind::TableLength:
    return leaves.table(number->id).sizes[0];
  case NumberKind::TableSorted:
    return leaves.sorted(number->id);
  case NumberKind::TableAt:
    return entry(number->id, arg(0));
  case NumberKind::TableMin:
  case NumberKind::TableMax:
    if (number->args[0] == number->args[1])
      return entry(number->id, arg(0));
    return extreme(number, arg(0), arg(1));
  case NumberKind::TableBelow:
    return below(number->id, arg(0));
  }
  llvm_unreachable("every kind is above");
}

Value PlanCode::entry(int64_t table, Value place) {
  const Local &tensor = leaves.table(table);
  Value number = ir.load(tensor.element, tensor.pointer, ir.mul(place, tensor.strides[0]));
  return arith::ExtSIOp::create(ir, ir.loc, ir.i64(), number);
}

/// The smallest or largest entry of places from … to: of a table known to be in order an end, else by looking at all.
Value PlanCode::extreme(Number number, Value from, Value to) {
  bool least = number->kind == NumberKind::TableMin;
  auto look = [&] {
    return ir.loop(ir.add(from, ir.constant(1)), ir.add(to, ir.constant(1)), ir.constant(1), entry(number->id, from),
                   [&](Value place, ValueRange best) {
                     Value next = entry(number->id, place);
                     return SmallVector<Value>{least ? ir.min(best[0], next) : ir.max(best[0], next)};
                   })[0];
  };
  Value sorted = leaves.sorted(number->id);
  if (!sorted)
    return look();
  auto choose = scf::IfOp::create(ir, ir.loc, TypeRange{ir.i64()}, sorted, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(ir);
  ir.setInsertionPointToEnd(choose.thenBlock());
  scf::YieldOp::create(ir, ir.loc, entry(number->id, least ? from : to));
  ir.setInsertionPointToEnd(choose.elseBlock());
  scf::YieldOp::create(ir, ir.loc, look());
  return choose.getResult(0);
}

/// How many entries of a sorted table are less than `number`, by halving.
Value PlanCode::below(int64_t table, Value number) {
  Value length = leaves.table(table).sizes[0], zero = ir.constant(0), one = ir.constant(1);
  SmallVector<Type> types{ir.i64(), ir.i64()};
  SmallVector<Location> places(2, ir.loc);
  auto halve = scf::WhileOp::create(
      ir, ir.loc, types, ValueRange{zero, length},
      [&](OpBuilder &builder, Location loc, ValueRange now) {
        Ir inside(loc, builder);
        scf::ConditionOp::create(inside, loc, inside.less(now[0], now[1]), now);
      },
      [&](OpBuilder &builder, Location loc, ValueRange now) {
        OpBuilder::InsertionGuard guard(ir);
        ir.restoreInsertionPoint(builder.saveInsertionPoint());
        Value middle = ir.div(ir.add(now[0], now[1]), ir.constant(2));
        Value less = ir.less(entry(table, middle), number);
        Value low = arith::SelectOp::create(ir, ir.loc, less, ir.add(middle, one), now[0]);
        Value high = arith::SelectOp::create(ir, ir.loc, less, now[1], middle);
        scf::YieldOp::create(ir, loc, ValueRange{low, high});
      });
  return halve.getResult(0);
}

} // namespace attn
