// Operations over whole rows: reductions, softmax, normalisation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Emitter.h"
#include "lowering/Nest.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace attn {
namespace {

using Elements = ValueRange;

/// An elementwise function of tiles; scalars are captured.
Value mapTiles(Ir &ir, ValueRange tiles, OpFoldResult valid, std::function<Value(Ir &, Elements)> element) {
  auto type = cast<tile::TileType>(tiles[0].getType());
  auto body = [&](OpBuilder &builder, Location loc, ValueRange, ValueRange elements) {
    Ir inside(loc, builder);
    Value result = element(inside, elements);
    builder.restoreInsertionPoint(inside.saveInsertionPoint());
    return result;
  };
  return tile::MapOp::create(ir, ir.loc, type, tiles, ArrayRef<int64_t>{}, {valid}, body);
}

Value reduceTile(Ir &ir, tile::Reduction kind, Value tile, OpFoldResult valid) {
  return tile::ReduceOp::create(ir, ir.loc, kind, tile, 0, {valid});
}

Value addf(Ir &ir, Value a, Value b) {
  return arith::AddFOp::create(ir, ir.loc, a, b);
}
Value subf(Ir &ir, Value a, Value b) {
  return arith::SubFOp::create(ir, ir.loc, a, b);
}
Value mulf(Ir &ir, Value a, Value b) {
  return arith::MulFOp::create(ir, ir.loc, a, b);
}
Value divf(Ir &ir, Value a, Value b) {
  return arith::DivFOp::create(ir, ir.loc, a, b);
}
Value choose(Ir &ir, Value condition, Value a, Value b) {
  return arith::SelectOp::create(ir, ir.loc, condition, a, b);
}
Value equals(Ir &ir, Value a, double number) {
  return arith::CmpFOp::create(ir, ir.loc, arith::CmpFPredicate::OEQ, a, ir.number(number));
}

constexpr double infinity = std::numeric_limits<double>::infinity();

// -------------------------------------------------------------------------------------------------------------- reduce

Value startOf(Ir &ir, Reduction kind, Type type) {
  if (kind == Reduction::sum || kind == Reduction::mean)
    return arith::ConstantOp::create(ir, ir.loc, ir.getZeroAttr(type));
  bool smallest = kind == Reduction::max; // what any number is larger than
  if (isa<FloatType>(type))
    return ir.number(smallest ? -infinity : infinity);
  return ir.constant32(smallest ? INT32_MIN : INT32_MAX);
}

Value combine(Ir &ir, Reduction kind, Value a, Value b) {
  bool real = isa<FloatType>(a.getType());
  if (kind == Reduction::max)
    return real ? Value(arith::MaximumFOp::create(ir, ir.loc, a, b)) : Value(arith::MaxSIOp::create(ir, ir.loc, a, b));
  if (kind == Reduction::min)
    return real ? Value(arith::MinimumFOp::create(ir, ir.loc, a, b)) : Value(arith::MinSIOp::create(ir, ir.loc, a, b));
  return real ? addf(ir, a, b) : Value(arith::AddIOp::create(ir, ir.loc, a, b));
}

tile::Reduction tileKind(Reduction kind) {
  if (kind == Reduction::max)
    return tile::Reduction::max;
  return kind == Reduction::min ? tile::Reduction::min : tile::Reduction::sum;
}

struct Reducer {
  Reduction kind;
  SmallVector<size_t> dims; // the dimensions of the input that go, outermost first

  /// The number of elements that make one.
  Value count(Run &run) const {
    Value product = run.ir.constant(1);
    for (size_t dim : dims)
      product = run.ir.mul(product, run.tensors[1].sizes[dim]);
    return product;
  }

  /// What is left to do with a sum of `run`'s elements: 1 / count for the mean, else null.
  Value factor(Run &run) const {
    if (kind != Reduction::mean)
      return nullptr;
    Ir &ir = run.ir;
    Value some = ir.max(count(run), ir.constant(1));
    return arith::SIToFPOp::create(ir, ir.loc, ir.f32(), some);
  }

  /// Loops over the dimensions numbered from `next` on, but the last `leave`; `body` gets the pointer and what is
  /// carried.
  Value loops(Run &run, size_t next, size_t leave, Value pointer, Value carried,
              std::function<Value(Value pointer, Value carried)> body) const {
    if (next + leave == dims.size())
      return body(pointer, carried);
    Local &in = run.tensors[1];
    Ir &ir = run.ir;
    size_t dim = dims[next];
    return ir.loop(ir.constant(0), in.sizes[dim], ir.constant(1), carried, [&](Value i, ValueRange value) {
      Value at = ir.address(pointer, in.element, ir.mul(i, in.strides[dim]));
      return SmallVector<Value>{loops(run, next + 1, leave, at, value[0], body)};
    })[0];
  }

  /// One element of the output from the row of the input behind `pointer`, along its innermost dimension in tiles.
  Value row(Run &run, Value pointer) const {
    Ir &ir = run.ir;
    Local &in = run.tensors[1];
    Value start = startOf(ir, kind, in.element);
    if (!in.element.isF32())
      return loops(run, 0, 0, pointer, start,
                   [&](Value at, Value sum) { return combine(ir, kind, sum, ir.load(in.element, at)); });
    return loops(run, 0, 1, pointer, start, [&](Value at, Value sum) {
      Run inner = run;
      inner.along = in.names[dims.back()];
      inner.count = in.sizes[dims.back()];
      inner.tensors[1].pointer = at;
      return inner.chunks(sum, [&](Value place, int64_t width, OpFoldResult valid, ValueRange sums) {
        Value part = reduceTile(ir, tileKind(kind), inner.load(1, place, width, valid), valid);
        return SmallVector<Value>{combine(ir, kind, sums[0], part)};
      })[0];
    });
  }

  /// The elements one by one.
  void byRow(Run &run) const {
    Ir &ir = run.ir;
    Value divisor = factor(run);
    ir.loop(run.count, [&](Value i) {
      Value from = ir.address(run.tensors[1].pointer, run.tensors[1].element, ir.mul(i, run.step(1)));
      Value value = row(run, from);
      if (divisor)
        value = divf(ir, value, divisor);
      ir.store(value, run.tensors[0].pointer, ir.mul(i, run.step(0)));
    });
  }

  /// A tile of elements side by side: tiles of the input are combined.
  void byTile(Run &run) const {
    Ir &ir = run.ir;
    Value divisor = factor(run);
    run.chunks([&](Value at, int64_t width, OpFoldResult valid) {
      auto type = tile::TileType::get(ir.getContext(), {width}, ir.f32());
      Value start = tile::FillOp::create(ir, ir.loc, type, startOf(ir, kind, ir.f32()));
      Value sum = loops(run, 0, 0, run.tensors[1].pointer, start, [&](Value pointer, Value carried) {
        Run inner = run;
        inner.tensors[1].pointer = pointer;
        Value next = inner.load(1, at, width, valid);
        return mapTiles(ir, {carried, next}, valid, [&](Ir &in, Elements e) { return combine(in, kind, e[0], e[1]); });
      });
      if (divisor)
        sum = mapTiles(ir, sum, valid, [&](Ir &in, Elements e) { return divf(in, e[0], divisor); });
      run.store(sum, 0, at, valid);
    });
  }
};

bool isOne(const Monomial &stride) {
  return stride.isStatic() && stride.factor == 1;
}

} // namespace

LogicalResult lowerReduce(Emitter &emitter, ReduceOp op) {
  View in = emitter.input(op, 0), out = emitter.output(op);
  Reducer reducer{op.getKind(), {}};
  bool sideBySide = false; // the input's neighbours belong to different elements of the output
  for (size_t i = 0; i < in.rank(); ++i) {
    bool stays = out.find(in.names[i]) >= 0;
    if (!stays)
      reducer.dims.push_back(i);
    sideBySide |= stays && isOne(in.layout.dims[i].stride);
  }
  bool tiles = sideBySide && in.element.isF32() && !reducer.dims.empty();
  if (reducer.dims.empty()) {
    lowerCopy(emitter, in, out);
    return success();
  }
  buildNest(emitter, "reduce", {out, in}, [&](Run &run) { tiles ? reducer.byTile(run) : reducer.byRow(run); });
  return success();
}

// ------------------------------------------------------------------------------------------------------------- softmax

/// Three passes over the row: its maximum; exp(x - maximum), kept in the output, and their sum; the division.
static void softmaxRow(Run &run) {
  Ir &ir = run.ir;
  auto kind = [&](tile::Reduction reduction, Value at, int64_t width, OpFoldResult valid) {
    return reduceTile(ir, reduction, run.load(1, at, width, valid), valid);
  };
  Value lowest = ir.number(-infinity), zero = ir.number(0);
  Value top = run.chunks(lowest, [&](Value at, int64_t width, OpFoldResult valid, ValueRange best) {
    Value here = kind(tile::Reduction::top, at, width, valid);
    return SmallVector<Value>{arith::MaximumFOp::create(ir, ir.loc, best[0], here)};
  })[0];
  top = choose(ir, equals(ir, top, -infinity), zero, top); // nothing to weigh: every exp is 0
  Value sum = run.chunks(zero, [&](Value at, int64_t width, OpFoldResult valid, ValueRange sums) {
    Value powers = mapTiles(ir, run.load(1, at, width, valid), valid, [&](Ir &in, Elements e) -> Value {
      return math::ExpOp::create(in, in.loc, subf(in, e[0], top));
    });
    run.store(powers, 0, at, valid);
    return SmallVector<Value>{addf(ir, sums[0], reduceTile(ir, tile::Reduction::sum, powers, valid))};
  })[0];
  Value one = ir.number(1);
  Value factor = choose(ir, equals(ir, sum, 0), zero, divf(ir, one, choose(ir, equals(ir, sum, 0), one, sum)));
  run.chunks([&](Value at, int64_t width, OpFoldResult valid) {
    Value scaled =
        mapTiles(ir, run.load(0, at, width, valid), valid, [&](Ir &in, Elements e) { return mulf(in, e[0], factor); });
    run.store(scaled, 0, at, valid);
  });
}

LogicalResult lowerSoftmax(Emitter &emitter, SoftmaxOp op) {
  buildNest(emitter, "softmax", {emitter.output(op), emitter.input(op, 0)}, softmaxRow, {.along = op.getAlong()});
  return success();
}

// ----------------------------------------------------------------------------------------------------------- normalise

/// sum over the row of f(x).
static Value sumRow(Run &run, std::function<Value(Ir &, Value)> element) {
  Ir &ir = run.ir;
  return run.chunks(ir.number(0), [&](Value at, int64_t width, OpFoldResult valid, ValueRange sums) {
    Value tile = run.load(1, at, width, valid);
    if (element)
      tile = mapTiles(ir, tile, valid, [&](Ir &in, Elements e) { return element(in, e[0]); });
    Value part = reduceTile(ir, tile::Reduction::sum, tile, valid);
    bool first = Ir::known(run.count) && Ir::known(run.count) == width;
    return SmallVector<Value>{first ? part : addf(ir, sums[0], part)};
  })[0];
}

/// (x - mean) / deviation [* weight] [+ bias], the mean 0 for rms.
static void normaliseRow(Run &run, Norm kind, double eps) {
  Ir &ir = run.ir;
  Value size = arith::SIToFPOp::create(ir, ir.loc, ir.f32(), run.count);
  Value mean;
  if (kind == Norm::layer)
    mean = divf(ir, sumRow(run, nullptr), size);
  auto centred = [&](Ir &in, Value x) { return mean ? subf(in, x, mean) : x; };
  Value squares = sumRow(run, [&](Ir &in, Value x) {
    Value centre = centred(in, x);
    return mulf(in, centre, centre);
  });
  Value variance = addf(ir, divf(ir, squares, size), ir.number(eps));
  // A rounding of the row's factor moves the whole row: there is one, and each number is divided for itself.
  Value deviation = math::SqrtOp::create(ir, ir.loc, variance);
  run.chunks([&](Value at, int64_t width, OpFoldResult valid) {
    SmallVector<Value> tiles;
    for (size_t i = 1; i < run.tensors.size(); ++i)
      tiles.push_back(run.load(i, at, width, valid));
    Value result = mapTiles(ir, tiles, valid, [&](Ir &in, Elements e) {
      Value y = divf(in, centred(in, e[0]), deviation);
      if (e.size() > 1)
        y = mulf(in, y, e[1]);
      return e.size() > 2 ? addf(in, y, e[2]) : y;
    });
    run.store(result, 0, at, valid);
  });
}

LogicalResult lowerNormalise(Emitter &emitter, NormaliseOp op) {
  SmallVector<View, 0> views{emitter.output(op)};
  for (size_t i = 0; i < op.getInputs().size(); ++i)
    views.push_back(emitter.input(op, i));
  double eps = op.getEps().convertToDouble();
  buildNest(emitter, "normalise", views, [&](Run &run) { normaliseRow(run, op.getKind(), eps); },
            {.along = views[1].names.back()});
  return success();
}

} // namespace attn
