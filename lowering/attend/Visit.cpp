// Which keys are visited, and where no mask is needed: the mask's plan as loops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     key = next(0)
//     while key is one of the sequence's:
//       tile of keys around it: full?  a step without mask;  seen?  a step with it
//       key = next(behind the tile)
//
// Tiles begin at multiples of their size, so that only the last one can be shorter. Either step is a loop of one turn
// or none, because loops can carry tiles.
#include "lowering/attend/AttendLowering.h"

using namespace mlir;

namespace attn {

AttendLowering::Running AttendLowering::overKeys(Running start, Value from, Value to, bool masked, Value guard) {
  auto body = [&](Value key, ValueRange now) {
    Running next = step({now[0], now[1], now[2]}, key, masked, guard);
    return SmallVector<Value>{next.y, next.m, next.l};
  };
  SmallVector<Value> last = ir.loop(from, to, ir.constant(keysOfTile), {start.y, start.m, start.l}, body);
  return {last[0], last[1], last[2]};
}

/// int64[n] of the entry: whether a table of each sequence never descends, looked up by a kernel of its own.
static Value lookForOrder(Emitter &emitter, AttendOp op, int64_t table) {
  Value flags = emitter.perSequence();
  Kernel look(emitter, "sorted");
  Value sequence;
  if (emitter.output(op, 0).layout.uniform)
    look.tasks(emitter.entry.constant(1));
  else
    sequence = look.sequence().sequence;
  Local row = look.local(emitter.input(op, size_t(table) + 3), sequence);
  Ir &in = look.ir;
  auto entry = [&](Value place) { return in.load(row.element, row.pointer, in.mul(place, row.strides[0])); };
  Value one = in.constant(1), yes = arith::ConstantOp::create(in, in.loc, in.getBoolAttr(true));
  Value sorted = in.loop(one, row.sizes[0], one, yes, [&](Value place, ValueRange so) {
    Value ascends =
        arith::CmpIOp::create(in, in.loc, arith::CmpIPredicate::sle, entry(in.sub(place, one)), entry(place));
    return SmallVector<Value>{arith::AndIOp::create(in, in.loc, so[0], ascends)};
  })[0];
  Value own = sequence ? sequence : in.constant(0);
  in.store(arith::ExtUIOp::create(in, in.loc, in.i64(), sorted), look.get(flags), own);
  look.launch();
  return flags;
}

std::optional<KeyPlan> planKeys(Emitter &emitter, AttendOp op) {
  if (op.getMask().empty())
    return std::nullopt;
  KeyPlan plan{MaskPlan(op), llvm::DenseMap<int64_t, Value>()};
  plan.mask.forEach([&](masks::Number number) {
    if (number->kind == masks::NumberKind::TableSorted && !plan.sorted.contains(number->id))
      plan.sorted[number->id] = lookForOrder(emitter, op, number->id);
  });
  return plan;
}

PlanCode AttendLowering::planCode() {
  Value query = ir.add(first, past), lastHead = head;
  if (few && shared.dimension >= 0)
    lastHead = ir.add(head, ir.constant((shared.size - 1) * shared.step));
  PlanCode::Leaves leaves{
      query, ir.sub(ir.add(query, queries), ir.constant(1)), ir.sub(keys, ir.constant(1)), head, lastHead, {}, {}, {}};
  leaves.scalar = [this](Value value) -> Value {
    Value number = scalars.lookupOrNull(value);
    if (!number) {
      const Local &tensor = captured[cast<BlockArgument>(value).getArgNumber() - 3];
      number = ir.load(tensor.element, tensor.pointer);
    }
    return arith::ExtSIOp::create(ir, ir.loc, ir.i64(), number);
  };
  leaves.table = [this](int64_t table) -> const Local & { return captured[table]; };
  leaves.sorted = [this](int64_t table) { return sortedTables.lookup(table); };
  return PlanCode(ir, leaves);
}

AttendLowering::Running AttendLowering::overKeys(Running start, Value guard) {
  Value none = ir.constant(0), tile = ir.constant(keysOfTile);
  if (!plan)
    return overKeys(start, none, keys, false, guard);
  const MaskPlan &mask = plan->mask;
  PlanCode code = planCode();
  for (masks::Number number : {mask.next, mask.seen, mask.full})
    code.prepare(number);
  // The plan promises nothing where sums of rows could leave int32.
  Value small = ir.less(ir.max(keys, ir.add(ir.add(first, past), queries)), ir.constant(masks::rowLimit));
  auto choose = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(ir, ir.loc, condition, a, b);
  };
  auto next = [&](Value from) { return choose(small, code.emit(mask.next, from, from), from); };
  auto isConstant = [](masks::Number number, int64_t value) {
    return number->kind == masks::NumberKind::Constant && number->id == value;
  };
  SmallVector<Value> carried{next(none), start.y, start.m, start.l};
  SmallVector<Type> types = llvm::to_vector(ValueRange(carried).getTypes());
  auto goesOn = [&](OpBuilder &builder, Location loc, ValueRange now) {
    Ir inside(loc, builder);
    scf::ConditionOp::create(inside, loc, inside.less(now[0], keys), now);
  };
  auto turn = [&](OpBuilder &builder, Location loc, ValueRange now) {
    OpBuilder::InsertionGuard inside(ir);
    ir.restoreInsertionPoint(builder.saveInsertionPoint());
    Value key = ir.mul(ir.div(now[0], tile), tile), end = ir.add(key, tile);
    Value lastKey = ir.min(ir.sub(end, ir.constant(1)), ir.sub(keys, ir.constant(1)));
    Running running{now[1], now[2], now[3]};
    Value masked = end;
    if (!isConstant(mask.seen, 1))
      masked = choose(small, choose(code.emitTruth(mask.seen, key, lastKey), end, key), end);
    if (!isConstant(mask.full, 0)) {
      Value isFull = arith::AndIOp::create(ir, ir.loc, small, code.emitTruth(mask.full, key, lastKey));
      running = overKeys(running, key, choose(isFull, end, key), false, guard);
      masked = choose(isFull, key, masked);
    }
    running = overKeys(running, key, masked, true, guard);
    scf::YieldOp::create(ir, loc, ValueRange{next(end), running.y, running.m, running.l});
  };
  auto loop = scf::WhileOp::create(ir, ir.loc, types, carried, goesOn, turn);
  return {loop.getResult(1), loop.getResult(2), loop.getResult(3)};
}

} // namespace attn
