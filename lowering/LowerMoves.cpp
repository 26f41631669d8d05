// Operations that only move numbers: copies, gather, reshape, slice, concat, patches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Emitter.h"
#include "lowering/Nest.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace attn {

static void fillRun(Run &run) {
  run.chunks([&](Value at, int64_t width, OpFoldResult valid) {
    auto type = tile::TileType::get(run.ir.getContext(), {width}, run.tensors[0].element);
    auto zero = arith::ConstantOp::create(run.ir, run.ir.loc, run.ir.getZeroAttr(run.tensors[0].element));
    run.store(tile::FillOp::create(run.ir, run.ir.loc, type, zero), 0, at, valid);
  });
}

/// What `move` does where the condition holds (null: always), else zeros.
static void whereThere(Run &run, Value there, std::function<void()> move) {
  if (!there)
    return move();
  Ir &ir = run.ir;
  ir.when(there, std::move(move));
  Value yes = arith::ConstantOp::create(ir, ir.loc, ir.getBoolAttr(true));
  ir.when(arith::XOrIOp::create(ir, ir.loc, there, yes), [&] { fillRun(run); });
}

void lowerCopy(Emitter &emitter, const View &from, const View &to) {
  buildNest(emitter, "copy", {to, from}, [](Run &run) { run.copy(1); });
}

void lowerCopyOfTurn(Emitter &emitter, const View &from, const View &to, StringRef sequence, Value turn,
                     Otherwise otherwise) {
  NestOptions options{.positions = true}; // sequence by sequence
  buildNest(
      emitter, "copy_turn", {to, from},
      [&](Run &run) {
        Value there = run.ir.less(run.kernel.get(turn), run.kernel.length(sequence, run.sequence));
        if (otherwise == Otherwise::Zeros)
          whereThere(run, there, [&] { run.copy(1); });
        else
          run.ir.when(there, [&] { run.copy(1); });
      },
      options);
}

// -------------------------------------------------------------------------------------------------------------- gather

/// Where in the table the row is that the index tensors say, each clamped to its dimension.
static Value rowAddress(Run &run, size_t table, size_t indices) {
  Ir &ir = run.ir;
  Local &rows = run.tensors[table];
  Value offset = ir.constant(0);
  for (size_t i = 0; i < indices; ++i) {
    Value index = ir.load(ir.i32(), run.tensors[table + 1 + i].pointer);
    index = arith::ExtSIOp::create(ir, ir.loc, ir.i64(), index);
    index = ir.max(ir.constant(0), ir.min(index, ir.sub(rows.sizes[i], ir.constant(1))));
    offset = ir.add(offset, ir.mul(index, rows.strides[i]));
  }
  return ir.address(rows.pointer, rows.element, offset);
}

/// Tensor 1 is the table, behind it stand the indices.
static void gatherRun(Run &run, size_t indices) {
  bool row = true; // the run lies in one row of the table
  for (size_t i = 0; i < indices; ++i)
    row &= run.standsStill(2 + i);
  if (row) {
    Run moved = run;
    moved.tensors[1].pointer = rowAddress(run, 1, indices);
    return moved.copy(1);
  }
  run.ir.loop(run.count, [&](Value at) {
    Run one = run;
    for (size_t i = 0; i < run.tensors.size(); ++i)
      one.tensors[i].pointer =
          run.ir.address(run.tensors[i].pointer, run.tensors[i].element, run.ir.mul(at, run.step(i)));
    Value number = run.ir.load(run.tensors[0].element, rowAddress(one, 1, indices));
    run.ir.store(number, one.tensors[0].pointer);
  });
}

LogicalResult lowerGather(Emitter &emitter, GatherOp op) {
  size_t indices = op.getInputs().size() - 1;
  SmallVector<View, 0> views{emitter.output(op)};
  for (size_t i = 0; i <= indices; ++i)
    views.push_back(emitter.input(op, i));
  // The table's own first dimensions are no dimensions of the space, whatever they are called.
  for (size_t i = 0; i < indices; ++i)
    views[1].names[i] = StringAttr::get(op.getContext(), "indexed " + Twine(i)).getValue();
  buildNest(emitter, "gather", views, [&](Run &run) {
    Value some; // null: the table has rows for certain
    for (size_t i = 0; i < indices; ++i)
      if (!views[1].layout.dims[i].size.isStatic()) {
        Value has = run.ir.less(run.ir.constant(0), run.tensors[1].sizes[i]);
        some = some ? arith::AndIOp::create(run.ir, run.ir.loc, some, has) : has;
      }
    whereThere(run, some, [&] { gatherRun(run, indices); });
  });
  return success();
}

// ------------------------------------------------------------------------------------------------------------- reshape

namespace {

/// Two layouts of one space whose dimensions are alike, one by one.
struct Refined {
  View from, to;

  void add(const Extent &in, const Extent &out) {
    from.layout.dims.push_back(in);
    to.layout.dims.push_back(out);
  }
};

/// A group of dimensions that becomes another: the side that has one dimension is split as the other has it.
void refine(Refined &both, ArrayRef<Extent> in, ArrayRef<Extent> out) {
  ArrayRef<Extent> many = in.size() > 1 ? in : out, one = in.size() > 1 ? out : in;
  Monomial stride = one.empty() ? Monomial{1, {}} : one.back().stride;
  SmallVector<Extent> split(many.size());
  for (size_t i = many.size(); i-- > 0;) {
    split[i] = {many[i].size, stride};
    stride = stride * many[i].size;
  }
  for (size_t i = 0; i < many.size(); ++i)
    in.size() > 1 ? both.add(many[i], split[i]) : both.add(split[i], many[i]);
}

} // namespace

/// Cuts both lists, which hold no dimension of size 1, into groups of equal size: one dimension to many or many to one
/// (reshape_c3).
static void refineAll(Refined &both, ArrayRef<Extent> in, ArrayRef<Extent> out) {
  while (!in.empty()) {
    size_t i = 1, o = 1;
    int64_t left = in[0].size.factor, right = out[0].size.factor;
    while (left != right) {
      if (left < right)
        left *= in[i++].size.factor;
      else
        right *= out[o++].size.factor;
    }
    assert((i == 1 || o == 1) && "the verifier lets nothing else pass");
    refine(both, in.take_front(i), out.take_front(o));
    in = in.drop_front(i);
    out = out.drop_front(o);
  }
}

/// Does a dimension count places at all?
static bool isWide(const Extent &dim) {
  return !dim.size.isStatic() || dim.size.factor != 1;
}

LogicalResult lowerReshape(Emitter &emitter, ReshapeOp op) {
  View in = emitter.input(op, 0), out = emitter.output(op);
  if (llvm::any_of(out.layout.dims, [](const Extent &dim) { return dim.size.factor == 0; }))
    return success();
  Refined both{in, out};
  both.from.layout.dims.clear();
  both.to.layout.dims.clear();
  SmallVector<Extent> moving, made;
  // In the output's order, so that what is written lies together.
  for (size_t i = 0; i < out.rank(); ++i) {
    int from = in.find(out.names[i]);
    if (from >= 0)
      both.add(in.layout.dims[from], out.layout.dims[i]);
    else if (isWide(out.layout.dims[i]))
      made.push_back(out.layout.dims[i]);
  }
  for (size_t i = 0; i < in.rank(); ++i)
    if (out.find(in.names[i]) < 0 && isWide(in.layout.dims[i]))
      moving.push_back(in.layout.dims[i]);
  refineAll(both, moving, made);
  both.to.names.clear();
  for (size_t i = 0; i < both.to.layout.dims.size(); ++i)
    both.to.names.push_back(StringAttr::get(op.getContext(), "part " + Twine(i)).getValue());
  both.from.names = both.to.names;
  lowerCopy(emitter, both.from, both.to);
  return success();
}

// -------------------------------------------------------------------------------------------------- slice, concatenate

/// A view of one place of a sequence dimension, where the sequence has it; else 0.
LogicalResult lowerSlice(Emitter &emitter, SliceOp op) {
  View in = emitter.input(op, 0), out = emitter.output(op);
  int along = in.find(op.getAlong());
  NestOptions options{.positions = true}; // the place counts from the sequence's beginning
  buildNest(
      emitter, "slice", {out, in},
      [&](Run &run) {
        Ir &ir = run.ir;
        Local &source = run.tensors[1];
        Value place = ir.constant(op.getOffset());
        Value there = ir.less(place, source.sizes[along]);
        source.pointer = ir.address(source.pointer, source.element, ir.mul(place, source.strides[along]));
        whereThere(run, there, [&] { run.copy(1); });
      },
      options);
  return success();
}

LogicalResult lowerConcat(Emitter &emitter, ConcatOp op) {
  View out = emitter.output(op);
  int joined = out.find(op.getAlong());
  int64_t at = 0;
  for (size_t i = 0; i < op.getInputs().size(); ++i) {
    View in = emitter.input(op, i), part = out;
    int place = in.find(cast<StringAttr>(op.getPlaces()[i]).getValue());
    Extent &cut = part.layout.dims[joined];
    if (at != 0)
      part.layout.offset.push_back(cut.stride * Monomial{at, {}});
    cut.size = in.layout.dims[place].size;
    in.names[place] = out.names[joined];
    at += cut.size.factor;
    lowerCopy(emitter, in, part);
  }
  return success();
}

// ------------------------------------------------------------------------------------------------------------- patches

/// out[y, x, c, a, b] = in[c, y*stride + a - pad, x*stride + b - pad], 0 outside: the loops over out, elements one by
/// one.
LogicalResult lowerPatches(Emitter &emitter, PatchesOp op) {
  View in = emitter.input(op, 0), out = emitter.output(op);
  for (size_t i = 1; i < 3; ++i)
    in.names[i] = StringAttr::get(op.getContext(), "image " + Twine(i)).getValue();
  in.names[0] = out.names[2];
  buildNest(emitter, "patches", {out, in},
            [&](Run &run) {
              Ir &ir = run.ir;
              Local &image = run.tensors[1];
              auto corner = [&](size_t dim) {
                return ir.sub(ir.mul(run.indices[out.names[dim]], ir.constant(op.getStride())),
                              ir.constant(op.getPad()));
              };
              Value y = ir.add(corner(0), run.indices[out.names[3]]), left = corner(1);
              auto inside = [&](Value index, Value size) {
                return arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::ult, index, size).getResult();
              };
              Value rowThere = inside(y, image.sizes[1]);
              ir.loop(run.count, [&](Value b) {
                Value x = ir.add(left, b);
                Value there = arith::AndIOp::create(ir, ir.loc, rowThere, inside(x, image.sizes[2]));
                Value offset = ir.add(ir.mul(y, image.strides[1]), ir.mul(x, image.strides[2]));
                Value safe = arith::SelectOp::create(ir, ir.loc, there, offset, ir.constant(0));
                Value zero = arith::ConstantOp::create(ir, ir.loc, ir.getZeroAttr(image.element));
                // Where the pixel is outside, the image's first of this channel is read and dropped.
                Value pixel = ir.load(image.element, image.pointer, safe);
                pixel = arith::SelectOp::create(ir, ir.loc, there, pixel, zero);
                ir.store(pixel, run.tensors[0].pointer, ir.mul(b, run.step(0)));
              });
            },
            {.positions = true});
  return success();
}

} // namespace attn
