// BuiltinRotate.cpp: rotate(x, f): rows turned pair by pair, by an angle that grows with the position.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   x [T, H, D], f [n/2]     half          out[.., k], out[.., k + n/2] = x[.., k], x[.., k + n/2] turned by pos * f[k]
//                            interleaved   out[.., 2k], out[.., 2k + 1] = …
//
// There is no operation for it: cos and sin are two maps of [T, n/2], the pairs two slices, and the turned halves are
// joined again. The angle is a float32 product of position and frequency. Where both are known at the head of the
// export, as they are for a table of frequencies and the positions of a sequence, cos and sin stand there, once for all
// layers and for queries and keys alike.
#include "dialect/AttnOps.h"
#include "frontend/CallArgs.h"
#include "frontend/Labels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace attn {

/// A call of rotate while it is built.
struct Rotator {
  Elaborator &e;
  CallArgs &args;
  Tensor x = {}, f = {};
  bool interleaved = false, ownPositions = false;
  Value scale = Value::of(1, false), positions = {};
  DimRef row = nullptr, half = nullptr;
  llvm::SmallVector<unsigned> places = {}; ///< of the positions' dimensions in x

  SMRange where() const { return args.range(); }
  bool read();
  bool readFrequencies();
  bool readScale();
  bool readPositions();
  bool placePositions();
  mlir::Block *headOf(llvm::SmallVectorImpl<mlir::Value> &made);
  Elaborator::Rotation waves();
  Tensor wave(ScalarOp op, const Tensor *pos);
  Tensor turned(const Tensor &u, const Tensor &v, const Elaborator::Rotation &by, bool second);
  Tensor join(llvm::ArrayRef<Tensor> parts, DimRef whole);
  Tensor turnHalves(const Tensor &turning, const Elaborator::Rotation &by);
  Tensor turnNeighbours(const Tensor &turning, const Elaborator::Rotation &by);
  Value build();
};

// ----------------------------------------------------------------------------------------------------------- arguments

bool Rotator::readFrequencies() {
  SMRange range = args.placed[1]->value->range;
  Value v = args.tensor(1);
  if (v.isPoison())
    return false;
  f = e.emitConvert(v.tensor, Elem::f32, range);
  if (f.lifted || f.visible().size() != 1) {
    e.report(range, "the frequencies of `rotate` are one vector, and these are " + text(f.visible()))
        .note("`inv_freq(theta, n)` makes the n / 2 of them that turn n places");
    return false;
  }
  half = f.dims[0];
  if (!e.isStatic(half, range, "the number of frequencies"))
    return false;
  if (2 * half->size <= row->size)
    return true;
  Report r = e.report(where(), llvm::Twine(half->size) + " frequencies turn " + llvm::Twine(2 * half->size) +
                                   " places, and a row has " + llvm::Twine(row->size));
  e.noteOrigin(r, row);
  return false;
}

bool Rotator::readScale() {
  const Argument *arg = args.named("scale");
  if (!arg)
    return true;
  scale = args.evalNamed("scale");
  if (!e.asOperand(scale, arg->value->range, "`scale`"))
    return false;
  if (scale.is(Value::Kind::number))
    return true;
  bool isNumber = scale.is(Value::Kind::tensor) && scale.tensor.dims.empty() && scale.tensor.elem != Elem::i1 &&
                  scale.tensor.form != Tensor::Form::rule;
  if (!isNumber) {
    e.fail(arg->value->range, "the scale of `rotate` is one number, not " + scale.described());
    return false;
  }
  scale.tensor = e.emitConvert(scale.tensor, Elem::f32, where());
  return true;
}

/// The dimensions of given positions are dimensions of x before its row; a first one without a name is x's first.
bool Rotator::placePositions() {
  const Tensor &p = positions.tensor;
  DimsRef before = DimsRef(x.dims).drop_back();
  for (size_t i = 0; i < p.dims.size(); ++i) {
    DimRef dim = p.dims[i];
    int place = placeOf(before, dim);
    bool alone = i == p.lifted && p.visible().size() == 1 && before.size() > x.lifted;
    if (place < 0 && alone && (!dim->isNamed() || !before[x.lifted]->isNamed()))
      place = static_cast<int>(x.lifted);
    if (place < 0 || !before[place]->sameSize(*dim)) {
      Report r = e.report(args.named("pos")->value->range, "the positions of `rotate` are not along its rows");
      r.note("positions " + text(p.visible())).note("rows " + text(x.visible()));
      if (!dim->isNamed())
        r.note("a size without a name is no other tensor's; name it in both, `[T,N,D]` and `range(N)`");
      else if (place < 0)
        r.note("positions go along dimensions that the rows have, by name");
      return false;
    }
    places.push_back(static_cast<unsigned>(place));
  }
  return true;
}

bool Rotator::readPositions() {
  if (const Argument *arg = args.named("pos")) {
    ownPositions = true;
    positions = args.evalNamed("pos");
    if (!e.asOperand(positions, arg->value->range, "`pos`"))
      return false;
    if (positions.is(Value::Kind::number))
      return true;
    bool isNumbers = positions.is(Value::Kind::tensor) && positions.tensor.elem != Elem::i1 &&
                     positions.tensor.form != Tensor::Form::rule;
    if (isNumbers)
      return placePositions();
    e.fail(arg->value->range, "the positions of `rotate` are numbers, not " + positions.described());
    return false;
  }
  SMRange range = args.placed[0]->value->range;
  bool isOpen = x.visible().size() >= 2 && x.visible()[0]->isSequence();
  if (!isOpen) {
    e.report(range, "`rotate` turns rows along a sequence, and this is " + text(x.visible()))
        .note("`rotate(x, f, pos: p)` says the position of each row, or of the one");
    return false;
  }
  places.push_back(x.lifted);
  return true;
}

bool Rotator::read() {
  Value v = args.tensor(0);
  if (v.isPoison())
    return false;
  SMRange range = args.placed[0]->value->range;
  if (v.tensor.visible().empty()) {
    e.fail(range, "`rotate` needs rows, and this is one number");
    return false;
  }
  x = e.emitConvert(v.tensor, Elem::f32, range);
  row = x.dims.back();
  if (!e.isStatic(row, range, "the width of a row"))
    return false;
  if (const Argument *arg = args.named("interleaved")) {
    auto wanted = e.truth(args.evalNamed("interleaved"), arg->value->range, "`interleaved`");
    if (!wanted)
      return false;
    interleaved = *wanted;
  }
  return readFrequencies() && readScale() && readPositions();
}

// ------------------------------------------------------------------------------------------------------ cos and sin

/// cos or sin of pos * f, times the scale: [dimensions of the positions.., n/2].
Tensor Rotator::wave(ScalarOp op, const Tensor *pos) {
  Dims dims;
  llvm::SmallVector<mlir::Value> inputs{e.materialise(f, where())};
  llvm::SmallVector<Labels::List> in;
  if (pos)
    dims = pos->dims;
  dims.push_back(half);
  Labels labels;
  Labels::List out = labels.give(dims);
  in.push_back({out.back()});
  if (pos) {
    inputs.push_back(e.materialise(*pos, where()));
    in.push_back(Labels::List(out.begin(), out.end() - 1));
  }
  if (scale.is(Value::Kind::tensor)) {
    inputs.push_back(e.materialise(scale.tensor, where()));
    in.push_back({});
  }
  Location loc = e.at(where());
  MapOp map = MapOp::create(e.builder, loc, e.tensorType(dims, Elem::f32), inputs, dimsArray(&e.context, in),
                            dimsArray(&e.context, {out}));
  OpBuilder::InsertionGuard guard(e.builder);
  mlir::Block *block = e.builder.createBlock(&map.getBody());
  for (mlir::Value input : inputs)
    block->addArgument(llvm::cast<RankedTensorType>(input.getType()).getElementType(), loc);
  Scalar position{{}, {positions.number, false}, Elem::f32};
  if (pos)
    position = Scalar{block->getArgument(1), {}, pos->elem};
  mlir::Value at = convert(e.builder, loc, position, Elem::f32);
  Scalar angle{
      emit(ScalarOp::multiply, e.builder, loc, {Scalar{at, {}, Elem::f32}, {block->getArgument(0), {}, Elem::f32}}),
      {},
      Elem::f32};
  mlir::Value result = emit(op, e.builder, loc, {angle});
  Scalar factor{{}, {scale.number, false}, Elem::f32};
  if (scale.is(Value::Kind::tensor))
    factor = Scalar{block->getArguments().back(), {}, Elem::f32};
  if (factor.value || scale.number != 1)
    result = emit(ScalarOp::multiply, e.builder, loc, {Scalar{result, {}, Elem::f32}, factor});
  YieldOp::create(e.builder, loc, ValueRange(result));
  return e.made(map.getOutput(), dims, 0);
}

/// The values that cos and sin are made of and that the export has at its head; null if one is made elsewhere.
mlir::Block *Rotator::headOf(llvm::SmallVectorImpl<mlir::Value> &made) {
  if (f.form == Tensor::Form::ssa)
    made.push_back(f.value);
  if (scale.is(Value::Kind::tensor) && scale.tensor.form == Tensor::Form::ssa)
    made.push_back(scale.tensor.value);
  bool atHead = !ownPositions && llvm::all_of(made, [&](mlir::Value v) { return v.getParentBlock() == e.entryBlock; });
  return atHead ? e.entryBlock : nullptr;
}

static bool isSameWave(const Elaborator::Rotation &a, const Elaborator::Rotation &b) {
  bool sameData = a.data == b.data || (a.data && b.data && a.data->values == b.data->values);
  return a.sequence == b.sequence && sameData && a.made == b.made && a.scale == b.scale;
}

Elaborator::Rotation Rotator::waves() {
  Elaborator::Rotation by;
  if (ownPositions) {
    bool tensor = positions.is(Value::Kind::tensor);
    by.cos = wave(ScalarOp::cos, tensor ? &positions.tensor : nullptr);
    by.sin = wave(ScalarOp::sin, tensor ? &positions.tensor : nullptr);
    return by;
  }
  by.sequence = x.visible()[0]->sequence;
  by.data = f.data;
  by.scale = scale.number;
  OpBuilder::InsertionGuard guard(e.builder);
  mlir::Block *head = headOf(by.made);
  bool behindHead = false;
  if (head) {
    for (const Elaborator::Rotation &known : e.rotations)
      if (isSameWave(known, by))
        return known;
    e.enterHead();
    for (mlir::Value value : by.made) {
      auto place = e.builder.getInsertionPoint();
      Operation *op = value.getDefiningOp();
      if (!op || place == head->end() || op->isBeforeInBlock(&*place))
        continue;
      e.builder.setInsertionPointAfter(op);
      behindHead = true;
    }
  }
  DimRef sequence = e.table.sequence(x.visible()[0]->name, by.sequence, x.visible()[0]->origin);
  Tensor pos = e.emitPositions(sequence, where());
  f.value = e.materialise(f, where());
  f.form = Tensor::Form::ssa;
  by.cos = wave(ScalarOp::cos, &pos);
  by.sin = wave(ScalarOp::sin, &pos);
  if (!head)
    return by;
  e.rotations.push_back(by);
  if (!behindHead)
    e.leaveHead();
  return by;
}

// ------------------------------------------------------------------------------------------------------------- turning

/// u cos - v sin, or as the second of a pair v cos + u sin.
Tensor Rotator::turned(const Tensor &u, const Tensor &v, const Elaborator::Rotation &by, bool second) {
  Labels labels;
  Labels::List out = labels.give(u.dims), angle;
  for (unsigned place : places)
    angle.push_back(out[place]);
  angle.push_back(out.back());
  const Tensor &a = second ? v : u, &b = second ? u : v;
  llvm::SmallVector<mlir::Value> inputs{a.value, by.cos.value, b.value, by.sin.value};
  Location loc = e.at(where());
  MapOp map = MapOp::create(e.builder, loc, e.tensorType(u.dims, Elem::f32), inputs,
                            dimsArray(&e.context, {out, angle, out, angle}), dimsArray(&e.context, {out}));
  OpBuilder::InsertionGuard guard(e.builder);
  Type real = e.builder.getF32Type();
  mlir::Block *block = e.builder.createBlock(&map.getBody(), {}, {real, real, real, real}, {loc, loc, loc, loc});
  mlir::Value ac = arith::MulFOp::create(e.builder, loc, block->getArgument(0), block->getArgument(1));
  mlir::Value bs = arith::MulFOp::create(e.builder, loc, block->getArgument(2), block->getArgument(3));
  mlir::Value sum = second ? arith::AddFOp::create(e.builder, loc, ac, bs).getResult()
                           : arith::SubFOp::create(e.builder, loc, ac, bs).getResult();
  YieldOp::create(e.builder, loc, ValueRange(sum));
  return e.made(map.getOutput(), u.dims, u.lifted);
}

/// End to end along the last dimension, which is then `whole`.
Tensor Rotator::join(llvm::ArrayRef<Tensor> parts, DimRef whole) {
  if (parts.size() == 1)
    return parts[0];
  llvm::SmallVector<unsigned> last(parts.size(), static_cast<unsigned>(parts[0].dims.size() - 1));
  Tensor joined = e.concat(parts, last, where()).tensor;
  joined.dims.back() = whole;
  return joined;
}

Tensor Rotator::turnHalves(const Tensor &turning, const Elaborator::Rotation &by) {
  unsigned last = static_cast<unsigned>(turning.dims.size() - 1);
  Tensor u = e.emitSlice(turning, last, 0, half, where());
  Tensor v = e.emitSlice(turning, last, half->size, half, where());
  return join({turned(u, v, by, false), turned(u, v, by, true)}, turning.dims.back());
}

Tensor Rotator::turnNeighbours(const Tensor &turning, const Elaborator::Rotation &by) {
  DimRef one = e.table.unnamed(1), two = e.table.unnamed(2);
  unsigned last = static_cast<unsigned>(turning.dims.size());
  Dims pairs(turning.dims);
  pairs.back() = half;
  pairs.push_back(two);
  Tensor split = e.emitReshape(turning, pairs, turning.lifted, where());
  Tensor u = e.emitSlice(split, last, 0, nullptr, where()), v = e.emitSlice(split, last, 1, nullptr, where());
  Tensor both[] = {turned(u, v, by, false), turned(u, v, by, true)};
  pairs.back() = one;
  for (Tensor &t : both)
    t = e.emitReshape(t, pairs, t.lifted, where());
  return e.emitReshape(join(both, two), turning.dims, turning.lifted, where());
}

Value Rotator::build() {
  if (half->size == 0)
    return Value::of(x);
  // The text may call the row or its half by a name that x has too; inside they have none.
  DimRef rest = e.table.unnamed(row->size - 2 * half->size);
  half = e.table.unnamed(half->size);
  f.dims[0] = half;
  Elaborator::Rotation by = waves();
  unsigned last = static_cast<unsigned>(x.dims.size() - 1);
  Tensor turning = x;
  if (rest->size)
    turning = e.emitSlice(x, last, 0, e.table.unnamed(2 * half->size), where());
  else
    turning.value = e.materialise(x, where());
  turning.form = Tensor::Form::ssa;
  Tensor result = interleaved ? turnNeighbours(turning, by) : turnHalves(turning, by);
  if (rest->size)
    result = join({result, e.emitSlice(x, last, 2 * half->size, rest, where())}, row);
  return Value::of(result);
}

Value Elaborator::builtinRotate(CallArgs &args) {
  if (!args.check(2, 2, {"interleaved", "scale", "pos"}))
    return Value::poison();
  if (clause)
    return fail(args.range(), "`rotate` cannot stand in a clause of `attend`");
  Rotator rotator{*this, args};
  return rotator.read() && !isStopping() ? rotator.build() : Value::poison();
}

} // namespace attn
