// One tile of keys: scores, weights, sums; and the beginning and the end of the loop over them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Nest.h"
#include "lowering/attend/AttendLowering.h"

using namespace mlir;

namespace attn {

static Value toI32(Ir &ir, Value wide) {
  return arith::TruncIOp::create(ir, ir.loc, ir.i32(), wide);
}
static Value addI32(Ir &ir, Value a, Value b) {
  return arith::AddIOp::create(ir, ir.loc, a, b);
}

/// A tile as products over its dimension `along` take it: with --precision=bf16 they round it first.
Value AttendLowering::forProduct(Value tile, int64_t along, ArrayRef<OpFoldResult> valid) {
  return rounds() ? tile::RoundOp::create(ir, ir.loc, tile, along, valid).getResult() : tile;
}

/// The queries as the dot wants them, turned once for all key tiles; the scale goes in where nothing else needs it.
Value AttendLowering::packQueries() {
  OpFoldResult m = folded(count), d = ir.getI64IntegerAttr(width);
  Value from = ir.address(qAt.pointer, ir.f32(), ir.mul(first, qAt.strides[0]));
  queryTile = tile::LoadOp::create(ir, ir.loc, type({rows, width}), from,
                                   {folded(rowStride(qAt)), folded(qAt.strides.back())}, {m, d});
  double scale = op.getScale().convertToDouble();
  auto scaled = [&](Scalars &in, ValueRange, ValueRange e) { return in.mul(e[0], in.number(scale)); };
  return forProduct(mapTile(ir, type({rows, width}), queryTile, {}, {m, d}, scaled), 1, {m, d});
}

/// The number of a row's head.
Value AttendLowering::headOf(Scalars &in, Value headNumber, Value row) {
  if (!few || shared.dimension < 0)
    return headNumber;
  Value step = in.ir.constant32(int32_t(shared.step));
  return addI32(in.ir, headNumber, arith::MulIOp::create(in.ir, in.ir.loc, row, step));
}

AttendLowering::Running AttendLowering::begin() {
  auto fill = [&](ArrayRef<int64_t> shape, double number) -> Value {
    return tile::FillOp::create(ir, ir.loc, type(shape), ir.number(number));
  };
  Running start{fill({rows, valueWidth}, 0), fill({rows}, noMaximum), fill({rows}, 0)};
  bool sink = !op.getSink().empty();
  if (!usesMaximum() || (!sink && op.getWeigh() != Weigh::softmax1))
    return start;
  // The sink is a key that came before.
  bool one = op.getWeigh() == Weigh::softmax1; // a key of logit 0
  Value headNumber = toI32(ir, head);
  auto before = [&](bool wantsSum) {
    return mapTile(ir, type({rows}), {}, {}, {folded(count)}, [&](Scalars &in, ValueRange at, ValueRange) {
      Value zero = in.number(0), logit = in.number(-infinity), sum = zero;
      if (sink)
        logit = inside(op.getSink(), in, {headOf(in, headNumber, at[0])}, {}, {});
      Value top = in.max(in.above(logit), one ? zero : in.number(noMaximum));
      if (!wantsSum)
        return top;
      if (sink)
        sum = in.weight(logit, top);
      if (one)
        sum = in.add(sum, in.weight(zero, top));
      return sum;
    });
  };
  start.m = before(false);
  start.l = before(true);
  return start;
}

/// The tile of scores from key number `key` on, -inf where hidden. Not `masked`: the mask hides nothing there.
Value AttendLowering::scores(Value key, OpFoldResult n, bool masked) {
  masked &= !op.getMask().empty();
  OpFoldResult m = folded(count), d = ir.getI64IntegerAttr(width);
  Value from = ir.address(kAt.pointer, kAt.element, ir.mul(key, kAt.strides[0]));
  keyTile = tile::LoadOp::create(ir, ir.loc, type({keysOfTile, keyWidth()}, kAt.element), from,
                                 {folded(kAt.strides[0]), folded(kAt.strides.back())},
                                 {n, OpFoldResult(ir.getI64IntegerAttr(keyWidth()))}, ir.sub(keys, key));
  SmallVector<Value> given;
  if (usesDot())
    given.push_back(tile::DotOp::create(ir, ir.loc, tile::Form::nk, packedQueries, forProduct(keyTile, 1, {n, d}),
                                        Value(), Value(), {m, n, d}, few));
  if (!masked && op.getScore().empty())
    return given[0];
  Value firstQuery = toI32(ir, ir.add(first, past)), firstKey = toI32(ir, key), headNumber = toI32(ir, head);
  return mapTile(ir, type({rows, keysOfTile}), given, {}, {m, n}, [&](Scalars &in, ValueRange at, ValueRange e) {
    Value i = few ? firstQuery : addI32(in.ir, firstQuery, at[0]), j = addI32(in.ir, firstKey, at[1]);
    Value h = headOf(in, headNumber, at[0]);
    Value s = e.empty() ? in.number(0) : e[0];
    if (!op.getScore().empty()) {
      s = inside(op.getScore(), in, {s, i, j, h, Value(), Value()}, at[0], at[1]);
      if (usesMaximum())
        s = in.choose(in.equals(s, in.number(-infinity)), s, in.atLeast(in.number(lowestScore), s));
    }
    if (!masked)
      return s;
    Value visible = inside(op.getMask(), in, {i, j, h}, {}, {});
    return in.choose(visible, s, in.number(-infinity));
  });
}

/// Scores to weights (not yet divided by their sum).
Value AttendLowering::weigh(Value score, Value m, OpFoldResult n) {
  auto tileType = type({rows, keysOfTile});
  SmallVector<OpFoldResult> valid{folded(count), n};
  if (usesMaximum())
    return mapTile(ir, tileType, {score, m}, {-1, 0}, valid,
                   [&](Scalars &in, ValueRange, ValueRange e) { return in.weight(e[0], e[1], rounds()); });
  return mapTile(ir, tileType, score, {}, valid, [&](Scalars &in, ValueRange, ValueRange e) -> Value {
    Value hidden = in.equals(e[0], in.number(-infinity));
    Value t = in.choose(hidden, in.number(0), e[0]), p = t;
    if (op.getWeigh() == Weigh::sigmoid) {
      Value power = math::ExpOp::create(in.ir, in.ir.loc, in.sub(in.number(0), t));
      p = in.div(in.number(1), in.add(in.number(1), power));
    }
    return in.choose(hidden, in.number(0), p);
  });
}

/// The scores of a split attention from key number `key` on, in the arena.
Value AttendLowering::scoresBetween(Value key) {
  return ir.address(between, ir.f32(), key);
}

AttendLowering::Running AttendLowering::step(Running before, Value key, bool masked, Value guard) {
  Value left = ir.min(ir.constant(keysOfTile), ir.sub(keys, key));
  OpFoldResult m = folded(count), n = folded(left), w = ir.getI64IntegerAttr(valueWidth);
  if (part == Part::Scores) {
    Value inside =
        arith::AndIOp::create(ir, ir.loc, ir.less(ir.sub(partBegin, ir.constant(1)), key), ir.less(key, partEnd));
    ir.when(inside, [&] {
      tally(masked ? PartialTiles : FullTiles, ir.constant(1));
      tallyRows(k, left, keyWidth());
      tile::StoreOp::create(ir, ir.loc, scores(key, n, masked), scoresBetween(key),
                            {folded(keys), ir.getI64IntegerAttr(1)}, {m, n});
    });
    return before;
  }
  if (part == Part::Whole) {
    tally(masked ? PartialTiles : FullTiles, ir.constant(1));
    tallyRows(k, left, keyWidth());
  }
  tallyRows(v, left, valueWidth);
  Value from = ir.address(vAt.pointer, vAt.element, ir.mul(key, vAt.strides[0]));
  Value values = tile::LoadOp::create(ir, ir.loc, type({keysOfTile, valueWidth}, vAt.element), from,
                                      {folded(vAt.strides[0]), folded(vAt.strides.back())}, {n, w}, ir.sub(keys, key));
  Value score = part == Part::Whole
                    ? scores(key, n, masked)
                    : tile::LoadOp::create(ir, ir.loc, type({rows, keysOfTile}), scoresBetween(key),
                                           {folded(keys), OpFoldResult(ir.getI64IntegerAttr(1))}, {m, n})
                          .getResult();
  Running now = before;
  Value carried = before.y, sum = before.l;
  if (usesMaximum()) {
    Value top =
        tile::ReduceOp::create(ir, ir.loc, tile::Reduction::top, score, int64_t(1), ArrayRef<OpFoldResult>{m, n});
    now.m = mapTile(ir, type({rows}), {top, before.m}, {}, {m},
                    [&](Scalars &in, ValueRange, ValueRange e) { return in.max(e[1], in.above(e[0])); });
    Value factor = mapTile(ir, type({rows}), {before.m, now.m}, {}, {m}, [&](Scalars &in, ValueRange, ValueRange e) {
      return Value(tile::ScaleOp::create(in.ir, in.ir.loc, in.ir.f32(), in.number(1), in.sub(e[0], e[1])));
    });
    auto scaled = [&](Scalars &in, ValueRange, ValueRange e) { return in.mul(e[0], e[1]); };
    carried = mapTile(ir, type({rows, valueWidth}), {before.y, factor}, {-1, 0}, {m, w}, scaled);
    sum = mapTile(ir, type({rows}), {before.l, factor}, {}, {m}, scaled);
  }
  Value p = weigh(score, now.m, n);
  // The sum goes on from what it was, so that it does not depend on which keys share a tile.
  now.l = tile::ReduceOp::create(ir, ir.loc, tile::Reduction::sum, p, 1, {m, n}, /*ordered=*/true, sum);
  now.y = tile::DotOp::create(ir, ir.loc, tile::Form::kn, forProduct(p, 1, {m, n}), forProduct(values, 0, {n, w}),
                              carried, canHide() ? guard : Value(), {m, w, n}, few);
  return now;
}

/// One over the sums of weights; over a sum of 0 it is 0, and so is all that it is multiplied with.
Value AttendLowering::inverse(const Running &last) {
  return mapTile(ir, type({rows}), last.l, {}, {folded(count)}, [&](Scalars &in, ValueRange, ValueRange e) {
    Value none = in.equals(e[0], in.number(0)), one = in.number(1);
    return in.choose(none, in.number(0), in.div(one, in.choose(none, one, e[0])));
  });
}

/// The weights themselves, by going over the keys once more.
void AttendLowering::storeWeights(const Running &last) {
  bool divides = op.getWeigh() != Weigh::sigmoid;
  Value factor = divides ? inverse(last) : Value();
  int keysDim = int(weightsAt.rank()) - 1;
  tallyRows(k, keys, keyWidth());
  ir.loop(ir.constant(0), keys, ir.constant(keysOfTile), [&](Value key) {
    OpFoldResult n = folded(ir.min(ir.constant(keysOfTile), ir.sub(keys, key))), m = folded(count);
    Value p = weigh(scores(key, n), last.m, n);
    Value weights = p;
    if (divides)
      weights = mapTile(ir, type({rows, keysOfTile}), {p, factor}, {-1, 0}, {m, n},
                        [&](Scalars &in, ValueRange, ValueRange e) { return in.mul(e[0], e[1]); });
    Value place = ir.add(ir.mul(first, weightsAt.strides[0]), ir.mul(key, weightsAt.strides[keysDim]));
    tile::StoreOp::create(ir, ir.loc, weights, ir.address(weightsAt.pointer, ir.f32(), place),
                          {folded(rowStride(weightsAt)), folded(weightsAt.strides[keysDim])}, {m, n});
  });
}

/// Divides and stores. Whether the tile holds a number that is not finite, as i1, where that matters.
Value AttendLowering::finish(Running last) {
  OpFoldResult m = folded(count), w = ir.getI64IntegerAttr(valueWidth);
  Value result = last.y;
  if (op.getWeigh() != Weigh::sigmoid)
    result = mapTile(ir, type({rows, valueWidth}), {last.y, inverse(last)}, {-1, 0}, {m, w},
                     [&](Scalars &in, ValueRange, ValueRange e) { return in.mul(e[0], e[1]); });
  if (canHide())
    result = mapTile(ir, type({rows, valueWidth}), result, {}, {m, w},
                     [&](Scalars &in, ValueRange, ValueRange e) { return in.add(e[0], in.number(0)); });
  Value to = ir.address(yAt.pointer, ir.f32(), ir.mul(first, yAt.strides[0]));
  tile::StoreOp::create(ir, ir.loc, result, to, {folded(rowStride(yAt)), folded(yAt.strides.back())}, {m, w});
  if (op.getLse()) {
    Value logs = mapTile(ir, type({rows}), {last.m, last.l}, {}, {m}, [&](Scalars &in, ValueRange, ValueRange e) {
      Value log = math::Log2Op::create(in.ir, in.ir.loc, e[1]);
      Value none = in.equals(e[1], in.number(0));
      return in.choose(none, in.number(-infinity), in.mul(in.add(e[0], log), in.number(1 / log2OfE)));
    });
    Value place = ir.address(lseAt.pointer, ir.f32(), ir.mul(first, lseAt.strides[0]));
    tile::StoreOp::create(ir, ir.loc, logs, place, {folded(rowStride(lseAt))}, {m});
  }
  if (!canHide())
    return arith::ConstantOp::create(ir, ir.loc, ir.getBoolAttr(false));
  // 0 * y is 0, or NaN where y is not finite.
  Value zeros = mapTile(ir, type({rows, valueWidth}), result, {}, {m, w},
                        [&](Scalars &in, ValueRange, ValueRange e) { return in.mul(e[0], in.number(0)); });
  Value perRow = tile::ReduceOp::create(ir, ir.loc, tile::Reduction::sum, zeros, 1, {m, w});
  Value sum = tile::ReduceOp::create(ir, ir.loc, tile::Reduction::sum, perRow, 0, {m});
  return arith::CmpFOp::create(ir, ir.loc, arith::CmpFPredicate::UNO, sum, sum);
}

} // namespace attn
