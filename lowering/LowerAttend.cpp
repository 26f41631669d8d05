// Attention in fused, online form: nothing as large as queries x keys is ever in memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     task = (sequence, tile of queries, head)
//     for each 64 keys, ascending:
//       s     = score(q . k * scale), -inf where hidden               one dot, one loop over the tile
//       m'    = max(m, ceil(max s * log2(e)))                         an integer: rescaling is exact
//       p     = e^(s - n ln 2) * 2^(n - m') where n = round(s log2(e))
//       l, y  = l * 2^(m - m') + sum p, y * 2^(m - m') + p v
//     y / l
//
// Since m is an integer, every rescaling is a power of two and changes no bit; l and y are one chain of additions each.
// So the result depends on the visible keys in their order alone, not on tiles, the batch or the threads. The weight of
// a large score is as exact as the score. A sink is a first key of logit `sink` whose value is 0 (softmax1: of logit
// 0). `ratio` and `sigmoid` need no maximum.
//
// Hidden keys are selected away before any sum sees their score. Their values are multiplied by a weight of 0, which is
// harmless unless they are infinite or NaN: a finished tile that holds a number that is not finite is computed again by
// products that skip weights of 0 (only where something can be hidden at all).
//
// A tile's rows are queries of one head, on the lanes. A block of one query has another form: its rows are the heads
// that share keys (one where none do), and the keys are on the lanes, then the numbers of the value. Both forms make
// each number by the same operations in the same order, so that it doesn't matter in which a query was computed.
//
// Keys that the mask hides from the whole tile are not visited, and where it hides none from any query it is not
// evaluated: passes/MaskBounds.h. Going over 64 keys that are all hidden from a query changes no bit of its result, so
// that this doesn't depend on the other queries of the tile: the maximum stays, so that the factor is 1 (or the maximum
// was over nothing, and then sums and y are 0 before and after); the weights are 0 exactly, and x + 0 * v is x, but
// that it may be +0 for -0. Which of the two y was is forgotten at the end: + 0 makes both +0.
#include "lowering/Emitter.h"
#include "lowering/Kernel.h"
#include "lowering/Nest.h"
#include "lowering/Program.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/MaskBounds.h"
#include <limits>

using namespace mlir;

namespace attn {
namespace {

constexpr int64_t keysOfTile = 64;
constexpr double infinity = std::numeric_limits<double>::infinity();
// The lowest score of a visible key, and below its logarithm of two the maximum over none: differences stay numbers.
constexpr double lowestScore = -2e38, noMaximum = -3.2e38;
constexpr double log2OfE = 1.4426950408889634074;

/// Arithmetic on scalars inside map regions.
struct Scalars {
  Ir ir;
  bool ofTile = true; // one for each element of a tile
  Value add(Value a, Value b) { return arith::AddFOp::create(ir, ir.loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(ir, ir.loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(ir, ir.loc, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(ir, ir.loc, a, b); }
  Value max(Value a, Value b) { return arith::MaximumFOp::create(ir, ir.loc, a, b); }
  Value min(Value a, Value b) { return arith::MinimumFOp::create(ir, ir.loc, a, b); }
  /// The larger, `b` if it is NaN: one instruction.
  Value atLeast(Value bound, Value b) {
    return choose(arith::CmpFOp::create(ir, ir.loc, arith::CmpFPredicate::OGT, bound, b), bound, b);
  }
  Value equals(Value a, Value b) { return arith::CmpFOp::create(ir, ir.loc, arith::CmpFPredicate::OEQ, a, b); }
  Value choose(Value c, Value a, Value b) { return arith::SelectOp::create(ir, ir.loc, c, a, b); }
  Value number(double n) { return ir.number(n); }
  /// A whole number at least log2(e^score).
  Value above(Value score) { return math::CeilOp::create(ir, ir.loc, mul(score, number(log2OfE))); }
  /// e^score / 2^m
  Value weight(Value score, Value m) { return tile::ExpOp::create(ir, ir.loc, ir.f32(), score, m); }
};

/// A tile.map whose region `element` writes.
Value mapTile(Ir &ir, tile::TileType type, ValueRange inputs, ArrayRef<int64_t> along, ArrayRef<OpFoldResult> valid,
              std::function<Value(Scalars &, ValueRange indices, ValueRange elements)> element) {
  auto body = [&](OpBuilder &builder, Location loc, ValueRange indices, ValueRange elements) {
    Scalars inside{Ir(loc, builder)};
    Value result = element(inside, indices, elements);
    builder.restoreInsertionPoint(inside.ir.saveInsertionPoint());
    return result;
  };
  return tile::MapOp::create(ir, ir.loc, type, inputs, along, valid, body);
}

class AttendLowering {
public:
  AttendLowering(Emitter &owner, AttendOp attend);
  void run();

private:
  struct Running {
    Value y, m, l; // tiles: weighted sums, integer maxima, sums of weights
  };

  void chooseTask();
  void findShared();
  Value rowStride(const Local &tensor);
  Local atHead(Local tensor, const Local &query);
  Value inside(Region &region, Scalars &in, ArrayRef<Value> arguments, Value queryTile, Value keyTile);
  Value element(AtOp at, IRMapping &map, Scalars &in);
  Value cloneBlock(Block &block, Scalars &in, IRMapping &map);
  void enterCaptures(Region &region, size_t first, IRMapping &map);

  void attempts();
  void oneQuery();
  Value attempt(Value guard);
  Value packQueries();
  Value headOf(Scalars &in, Value headNumber, Value row);
  Running begin();
  Value endOf(const KeyEnd &end);
  Running overKeys(Running start, Value guard);
  Running overKeys(Running start, Value from, Value to, bool masked, Value guard);
  Running step(Running before, Value key, bool masked, Value guard);
  Value scores(Value key, OpFoldResult keys, bool masked = true);
  Value weigh(Value score, Value m, OpFoldResult keys);
  Value inverse(const Running &last);
  void storeWeights(const Running &last);
  Value finish(Running last);
  bool canHide() { return !op.getMask().empty() || !op.getScore().empty(); }
  bool usesMaximum() { return op.getWeigh() == Weigh::softmax || op.getWeigh() == Weigh::softmax1; }
  bool usesDot() { return op.getScore().empty() || !op.getScore().front().getArgument(0).use_empty(); }
  tile::TileType type(ArrayRef<int64_t> shape) { return tile::TileType::get(ir.getContext(), shape, ir.f32()); }

  Emitter &emitter;
  AttendOp op;
  Kernel kernel;
  Ir &ir;
  View q, k, v, y;
  int64_t rows, width, valueWidth, heads = 1; // of a tile; of q's and v's rows
  int shared = -1;                            // q's dimension of heads that k and v lack,
  int64_t sharing = 1, headStep = 1;          // its size, and how far apart its heads are numbered
  bool few = false;                           // whether the tile's rows are the shared heads of one query
  Local qAt, kAt, vAt, yAt, weightsAt, lseAt;
  SmallVector<Local, 2> captured;
  Value sequence, first, queries, head; // first query of the block, how many; number of the (first) head
  Value count;                          // rows of the tile that count
  Value past;                           // the number of the sequence's first query
  Value keys;                           // of this sequence
  IRMapping scalars;
  llvm::DenseMap<Value, Local> capturedTensors; // by block argument
  Value queryTile, packedQueries, keyTile;
  Value queryArgument, keyArgument; // of the region being cloned
};

AttendLowering::AttendLowering(Emitter &owner, AttendOp attend)
    : emitter(owner), op(attend), kernel(owner, "attend"), ir(kernel.ir), q(owner.input(attend, 0)),
      k(owner.input(attend, 1)), v(owner.input(attend, 2)), y(owner.output(attend, 0)), rows(owner.target.panel()) {
  auto sizeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape().back(); };
  width = sizeOf(op.query());
  valueWidth = sizeOf(op.value());
  for (size_t i = 1; i + 1 < q.rank(); ++i)
    heads *= q.layout.dims[i].size.factor;
  findShared();
  // Keys that have to be copied side by side first should serve more queries.
  const Monomial &keyStride = k.layout.dims[0].stride;
  if (keyStride.isStatic() && Target::collide(keyStride.factor * 4))
    rows *= 2;
}

/// The last of q's head dimensions that neither keys nor values have, unless it is too large for a tile.
void AttendLowering::findShared() {
  constexpr int64_t most = 64;
  int64_t step = 1;
  for (size_t i = q.rank() - 1; i-- > 1;) {
    int64_t size = q.layout.dims[i].size.factor;
    if (size > 1 && size <= most && k.find(q.names[i]) < 0 && v.find(q.names[i]) < 0) {
      shared = int(i), sharing = size, headStep = step;
      return;
    }
    step *= size;
  }
}

/// How far apart the tile's rows lie in q or a result.
Value AttendLowering::rowStride(const Local &tensor) {
  return tensor.strides[few && shared >= 0 ? tensor.find(q.names[shared]) : 0];
}

/// `tensor` at the place of the head: where it has q's head dimensions it is moved there.
Local AttendLowering::atHead(Local tensor, const Local &query) {
  Value left = head;
  for (size_t i = query.rank() - 1; i-- > 1;) {
    Value size = query.sizes[i], place = ir.rem(left, size);
    left = ir.div(left, size);
    if (int dim = tensor.find(query.names[i]); dim >= 0)
      tensor.pointer = ir.address(tensor.pointer, tensor.element, ir.mul(place, tensor.strides[dim]));
  }
  return tensor;
}

void AttendLowering::chooseTask() {
  const Extent &queryDim = q.layout.dims[0];
  if (!queryDim.size.isStatic()) {
    Kernel::Block block = kernel.sequenceBlock(queryDim.size.lengths[0], rows, heads);
    sequence = block.sequence;
    first = block.begin;
    queries = block.count;
    head = block.inner;
    past = kernel.past(queryDim.size.lengths[0], sequence);
  } else {
    past = ir.constant(0);
    int64_t all = queryDim.size.factor, tiles = std::max<int64_t>(1, llvm::divideCeil(all, rows));
    Value part;
    if (y.layout.uniform) {
      kernel.tasks(emitter.entry.constant(tiles * heads));
      part = kernel.task;
    } else {
      Kernel::Block block = kernel.sequence(tiles * heads);
      sequence = block.sequence;
      part = block.inner;
    }
    head = ir.rem(part, ir.constant(heads));
    first = ir.mul(ir.div(part, ir.constant(heads)), ir.constant(rows));
    queries = ir.max(ir.constant(0), ir.min(ir.constant(rows), ir.sub(ir.constant(all), first)));
  }
  Local query = kernel.local(q, sequence);
  qAt = atHead(query, query);
  kAt = atHead(kernel.local(k, sequence), query);
  vAt = atHead(kernel.local(v, sequence), query);
  yAt = atHead(kernel.local(y, sequence), query);
  size_t result = 1;
  if (op.getWeights())
    weightsAt = atHead(kernel.local(emitter.output(op, result++), sequence), query);
  if (op.getLse())
    lseAt = atHead(kernel.local(emitter.output(op, result), sequence), query);
  for (size_t i = 3; i < op.getInputs().size(); ++i)
    captured.push_back(kernel.local(emitter.input(op, i), sequence));
  keys = kAt.sizes[0];
}

// ------------------------------------------------------------------------------------------------- regions of the text

/// One number of a captured tensor or of the row of q or k.
Value AttendLowering::element(AtOp at, IRMapping &map, Scalars &in) {
  SmallVector<Value> indices;
  for (Value index : at.getIndices())
    indices.push_back(map.lookupOrDefault(index));
  if (at.getTensor() == queryArgument || at.getTensor() == keyArgument) {
    bool query = at.getTensor() == queryArgument;
    Value own = map.lookup(at.getTensor()); // the row's number in the tile
    return tile::AtOp::create(in.ir, in.ir.loc, in.ir.f32(), query ? queryTile : keyTile, ValueRange{own, indices[0]});
  }
  const Local &tensor = capturedTensors.find(at.getTensor())->second;
  Value place = in.ir.constant(0);
  for (auto [index, size, stride] : llvm::zip_equal(indices, tensor.sizes, tensor.strides)) {
    Value wide = arith::ExtSIOp::create(in.ir, in.ir.loc, in.ir.i64(), index);
    Value inRange = in.ir.max(in.ir.constant(0), in.ir.min(wide, in.ir.sub(size, in.ir.constant(1))));
    place = in.ir.add(place, in.ir.mul(inRange, stride));
  }
  if (!in.ofTile)
    return in.ir.load(tensor.element, tensor.pointer, place);
  return tile::PeekOp::create(in.ir, in.ir.loc, tensor.element, tensor.pointer, place);
}

Value AttendLowering::cloneBlock(Block &block, Scalars &in, IRMapping &map) {
  for (Operation &each : block.without_terminator()) {
    if (auto at = dyn_cast<AtOp>(each)) {
      map.map(at.getResult(), element(at, map, in));
      continue;
    }
    auto fold = dyn_cast<FoldOp>(each);
    if (!fold) {
      in.ir.clone(each, map);
      continue;
    }
    Block &body = fold.getBody().front();
    auto once = [&](Value d, ValueRange sum) {
      map.map(body.getArgument(0), arith::TruncIOp::create(in.ir, in.ir.loc, in.ir.i32(), d).getResult());
      return SmallVector<Value>{in.add(sum[0], cloneBlock(body, in, map))};
    };
    Value sum =
        in.ir.loop(in.ir.constant(0), in.ir.constant(fold.getCount()), in.ir.constant(1), in.number(0), once)[0];
    map.map(fold.getResult(), sum);
  }
  return map.lookupOrDefault(block.getTerminator()->getOperand(0));
}

/// The region's value, its scalar arguments given (null where it is a row of q or k).
Value AttendLowering::inside(Region &region, Scalars &in, ArrayRef<Value> arguments, Value ownQuery, Value ownKey) {
  Block &block = region.front();
  IRMapping map = scalars;
  queryArgument = keyArgument = Value();
  for (auto [i, given] : llvm::enumerate(arguments)) {
    BlockArgument argument = block.getArgument(unsigned(i));
    if (given) {
      map.map(argument, given);
      continue;
    }
    bool query = !queryArgument;
    (query ? queryArgument : keyArgument) = argument;
    map.map(argument, query ? ownQuery : ownKey);
  }
  for (size_t i = arguments.size(); i < block.getNumArguments(); ++i)
    capturedTensors[block.getArgument(unsigned(i))] = captured[i - arguments.size()];
  return cloneBlock(block, in, map);
}

// -------------------------------------------------------------------------------------------------------- one query
// tile

static Value toI32(Ir &ir, Value wide) {
  return arith::TruncIOp::create(ir, ir.loc, ir.i32(), wide);
}
static Value addI32(Ir &ir, Value a, Value b) {
  return arith::AddIOp::create(ir, ir.loc, a, b);
}

/// The queries as the dot wants them, turned once for all key tiles; the scale goes in where nothing else needs it.
Value AttendLowering::packQueries() {
  OpFoldResult m = folded(count), d = ir.getI64IntegerAttr(width);
  Value from = ir.address(qAt.pointer, ir.f32(), ir.mul(first, qAt.strides[0]));
  queryTile = tile::LoadOp::create(ir, ir.loc, type({rows, width}), from,
                                   {folded(rowStride(qAt)), folded(qAt.strides.back())}, {m, d});
  double factor = op.getScale().convertToDouble();
  auto scaled = [&](Scalars &in, ValueRange, ValueRange e) { return in.mul(e[0], in.number(factor)); };
  return mapTile(ir, type({rows, width}), queryTile, {}, {m, d}, scaled);
}

/// The number of a row's head.
Value AttendLowering::headOf(Scalars &in, Value headNumber, Value row) {
  if (!few || shared < 0)
    return headNumber;
  Value step = in.ir.constant32(int32_t(headStep));
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
  Value from = ir.address(kAt.pointer, ir.f32(), ir.mul(key, kAt.strides[0]));
  int64_t keyWidth = cast<RankedTensorType>(op.key().getType()).getShape().back();
  keyTile = tile::LoadOp::create(ir, ir.loc, type({keysOfTile, keyWidth}), from,
                                 {folded(kAt.strides[0]), folded(kAt.strides.back())},
                                 {n, OpFoldResult(ir.getI64IntegerAttr(keyWidth))}, ir.sub(keys, key));
  SmallVector<Value> given;
  if (usesDot())
    given.push_back(
        tile::DotOp::create(ir, ir.loc, tile::Form::nk, packedQueries, keyTile, Value(), Value(), {m, n, d}, few));
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
                   [&](Scalars &in, ValueRange, ValueRange e) { return in.weight(e[0], e[1]); });
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

AttendLowering::Running AttendLowering::step(Running before, Value key, bool masked, Value guard) {
  Value left = ir.min(ir.constant(keysOfTile), ir.sub(keys, key));
  OpFoldResult m = folded(count), n = folded(left), w = ir.getI64IntegerAttr(valueWidth);
  Value from = ir.address(vAt.pointer, ir.f32(), ir.mul(key, vAt.strides[0]));
  Value values = tile::LoadOp::create(ir, ir.loc, type({keysOfTile, valueWidth}), from,
                                      {folded(vAt.strides[0]), folded(vAt.strides.back())}, {n, w}, ir.sub(keys, key));
  Value score = scores(key, n, masked);
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
  now.y =
      tile::DotOp::create(ir, ir.loc, tile::Form::kn, p, values, carried, canHide() ? guard : Value(), {m, w, n}, few);
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

Value AttendLowering::attempt(Value guard) {
  packedQueries = packQueries();
  Running end = overKeys(begin(), guard);
  Value again = finish(end);
  if (op.getWeights())
    storeWeights(end);
  return again;
}

/// The whole tile, twice at most: the second time with guarded products, if the first gave something that is not
/// finite.
void AttendLowering::attempts() {
  if (!canHide()) {
    attempt(Value());
    return;
  }
  Value yes = arith::ConstantOp::create(ir, ir.loc, ir.getBoolAttr(true));
  ir.loop(ir.constant(0), ir.constant(2), ir.constant(1), yes, [&](Value turn, ValueRange wanted) {
    auto choose = scf::IfOp::create(ir, ir.loc, TypeRange{ir.getI1Type()}, wanted[0], /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(ir);
      ir.setInsertionPointToEnd(choose.thenBlock());
      Value again = attempt(ir.less(ir.constant(0), turn));
      scf::YieldOp::create(ir, ir.loc, again);
      ir.setInsertionPointToEnd(choose.elseBlock());
      Value no = arith::ConstantOp::create(ir, ir.loc, ir.getBoolAttr(false));
      scf::YieldOp::create(ir, ir.loc, no);
    }
    return SmallVector<Value>{choose.getResult(0)};
  });
}

/// A block of one query: the first of the heads that share keys does the work of all of them.
void AttendLowering::oneQuery() {
  int64_t wideRows = rows;
  few = true, rows = sharing, count = ir.constant(sharing);
  Value place = ir.rem(ir.div(head, ir.constant(headStep)), ir.constant(sharing));
  if (shared < 0)
    attempts();
  else
    ir.when(ir.less(place, ir.constant(1)), [&] { attempts(); });
  few = false, rows = wideRows;
}

void AttendLowering::run() {
  for (Region *region : {&op.getScore(), &op.getMask(), &op.getSink()})
    if (!region->empty())
      bindOutsideScalars(*region, emitter, kernel, scalars);
  chooseTask();
  const Monomial &all = q.layout.dims[0].size;
  if (all.isStatic() && all.factor == 1) {
    oneQuery();
    return kernel.launch();
  }
  Value several = arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::ne, queries, ir.constant(1));
  auto choose = scf::IfOp::create(ir, ir.loc, several, /*withElseRegion=*/true);
  ir.setInsertionPoint(choose.thenBlock()->getTerminator());
  count = queries;
  attempts();
  ir.setInsertionPoint(choose.elseBlock()->getTerminator());
  oneQuery();
  ir.setInsertionPointAfter(choose);
  kernel.launch();
}

} // namespace

LogicalResult lowerAttend(Emitter &emitter, AttendOp op) {
  AttendLowering(emitter, op).run();
  return success();
}

} // namespace attn
