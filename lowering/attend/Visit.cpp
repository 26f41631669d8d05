// Which keys are visited, and where no mask is needed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/attend/AttendLowering.h"

using namespace mlir;

namespace attn {

/// One end of an interval of keys, for this tile.
Value AttendLowering::endOf(const KeyEnd &end) {
  if (end.kind == KeyEnd::Constant)
    return ir.constant(end.number);
  if (end.parts.empty()) {
    Value query = ir.add(first, past);
    if (end.kind == KeyEnd::Last)
      query = ir.sub(ir.add(query, queries), ir.constant(1));
    return ir.add(query, ir.constant(end.number));
  }
  Value best = endOf(end.parts.front());
  for (const KeyEnd &part : llvm::drop_begin(end.parts))
    best = end.kind == KeyEnd::Min ? ir.min(best, endOf(part)) : ir.max(best, endOf(part));
  return best;
}

AttendLowering::Running AttendLowering::overKeys(Running start, Value from, Value to, bool masked, Value guard) {
  auto body = [&](Value key, ValueRange now) {
    Running next = step({now[0], now[1], now[2]}, key, masked, guard);
    return SmallVector<Value>{next.y, next.m, next.l};
  };
  SmallVector<Value> last = ir.loop(from, to, ir.constant(keysOfTile), {start.y, start.m, start.l}, body);
  return {last[0], last[1], last[2]};
}

/// The keys that the mask may show: up to a multiple of 64 with it, up to another without, and the rest with it. The
/// cuts are at multiples of 64, so that only the last 64 keys of all can be fewer.
AttendLowering::Running AttendLowering::overKeys(Running start, Value guard) {
  Value none = ir.constant(0), tile = ir.constant(keysOfTile);
  if (op.getMask().empty())
    return overKeys(start, none, keys, false, guard);
  bool apart = !few; // one query: not worth code of its own for the keys that it surely sees
  MaskBounds bounds = findMaskBounds(op.getMask().front());
  Value small = ir.less(ir.max(keys, ir.add(ir.add(first, past), queries)), ir.constant(rowsOfMaskBounds));
  auto clamped = [&](Value key) { return ir.max(none, ir.min(key, keys)); };
  auto down = [&](Value key) { return ir.mul(ir.div(clamped(key), tile), tile); };
  auto up = [&](Value key) { return ir.mul(ir.ceilDiv(clamped(key), tile), tile); };
  auto orElse = [&](Value end, Value otherwise) {
    return arith::SelectOp::create(ir, ir.loc, small, end, otherwise).getResult();
  };
  auto has = [](const KeyEnd &end) { return end.kind != KeyEnd::None; };
  Value from = has(bounds.visited.lower) ? orElse(down(endOf(bounds.visited.lower)), none) : none;
  Value to = has(bounds.visited.upper) ? orElse(clamped(endOf(bounds.visited.upper)), keys) : keys;
  if (!apart || bounds.nothingFull())
    return overKeys(start, from, to, true, guard);
  // A tile of keys that ends with the last key may be full without being whole.
  Value fullFrom = from, fullTo = to;
  if (has(bounds.full.lower))
    fullFrom = orElse(ir.max(from, ir.min(up(endOf(bounds.full.lower)), to)), to);
  if (has(bounds.full.upper)) {
    Value end = endOf(bounds.full.upper), all = ir.less(end, keys);
    end = arith::SelectOp::create(ir, ir.loc, all, down(end), to);
    fullTo = orElse(ir.min(end, to), from);
  }
  Running now = start;
  if (!has(bounds.full.lower)) {
    now = overKeys(now, from, fullTo, false, guard);
    return overKeys(now, ir.max(from, fullTo), to, true, guard);
  }
  now = overKeys(now, from, fullFrom, true, guard);
  now = overKeys(now, fullFrom, fullTo, false, guard);
  return overKeys(now, ir.max(fullFrom, fullTo), to, true, guard);
}

} // namespace attn
