// Products of rows with a packed weight, and the function of them that the operation's region says.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     task = (128 rows, 2 panels of the weight)
//     for each panel:  acc = rows x panel            one tile.dot for each 384 of K, sums kept in the tile
//                      out = epilogue(acc, …)        while the block lies in the first cache
//
// Rows of the whole batch are one range where all tensors are uniform or rows of the batch along one sequence
// dimension; else each sequence is taken alone. What an epilogue reads besides acc agrees with the output by name: a
// row of the weight's dimensions becomes a tile along the columns, a residual a tile of the block's shape, anything
// else is peeked at element by element.
#include "lowering/Emitter.h"
#include "lowering/Kernel.h"
#include "lowering/Nest.h"
#include "lowering/PackWeight.h"
#include "lowering/Program.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace attn {
namespace {

constexpr int64_t rowsOfTask = 128, panelsOfTask = 2, innerOfDot = 384;

class LinearLowering {
public:
  LinearLowering(Emitter &owner, LinearOp linear)
      : emitter(owner), op(linear), kernel(owner, "linear"), ir(kernel.ir), x(owner.input(linear, 0)),
        out(owner.output(linear)), type(cast<RankedTensorType>(owner.weightOp(linear.getWeight()).getType())),
        leading(x.rank() - 1) {
    for (size_t i = 1; i < op.getInputs().size(); ++i)
      extras.push_back(owner.input(linear, i));
  }
  void run();

private:
  /// An extra input inside the kernel, and how it lies over the block.
  struct Extra {
    Local tensor;
    Value row;                     // stride along the block's rows; null: it lacks them
    std::optional<int64_t> column; // static stride along the columns, 0 or 1, where it has one
  };

  bool isRowsOfBatch() const;
  void chooseTask();
  void outerLoops(size_t dim);
  void panels();
  void panel(Value number);
  Value product(Value rowPointer, Value weights);
  Value weightTile(Value weights, int64_t k, int64_t step);
  bool rounds() const { return emitter.program.options.precision == Precision::bf16; }
  Value finish(Value acc, Value firstColumn, Value columns);
  Extra place(const Local &tensor) const;
  Value peeked(OpBuilder &builder, const Extra &extra, Value firstColumn, ValueRange indices);
  Local moved(Local tensor, StringRef dim, Value by);

  Emitter &emitter;
  LinearOp op;
  Kernel kernel;
  Ir &ir;
  View x, out;
  RankedTensorType type;
  SmallVector<View, 2> extras;
  size_t leading;     // dimensions of x and out before the row
  int rowDim = -1;    // of those, the one that runs along the block's rows
  bool batch = false; // the block's rows are rows of the whole batch
  Kernel::Block block;
  Value begin, count; // of the block's rows
  Local xAt, outAt;
  SmallVector<Local, 2> extrasAt;
  int64_t inner, columns, panelWidth, panelCount;
  IRMapping scalars;
};

bool LinearLowering::isRowsOfBatch() const {
  if (leading != 1 || !out.layout.isRows() || !(x.layout.isRows() || x.layout.uniform))
    return false;
  return llvm::all_of(extras, [&](const View &view) {
    return view.layout.uniform || (view.layout.isRows() && view.layout.units == out.layout.units);
  });
}

void LinearLowering::chooseTask() {
  int64_t groups = llvm::divideCeil(panelCount, panelsOfTask);
  batch = isRowsOfBatch();
  for (size_t i = 0; i < leading; ++i)
    if (rowDim < 0 || !out.layout.dims[i].size.isStatic())
      rowDim = int(i);
  bool dynamic = rowDim >= 0 && !out.layout.dims[rowDim].size.isStatic();
  if (batch)
    block = kernel.rowBlock(out.layout.units[0], rowsOfTask, groups);
  else if (dynamic)
    block = kernel.sequenceBlock(out.layout.dims[rowDim].size.lengths[0], rowsOfTask, groups);
  else if (out.layout.uniform) {
    kernel.tasks(emitter.entry.constant(groups));
    block = {nullptr, ir.constant(0), ir.constant(1), kernel.task};
  } else
    block = kernel.sequence(groups);
  auto at = [&](const View &view) {
    return batch ? kernel.rows(view, out.layout.units[0]) : kernel.local(view, block.sequence);
  };
  xAt = at(x);
  outAt = at(out);
  for (const View &view : extras)
    extrasAt.push_back(at(view));
  begin = batch || dynamic ? block.begin : ir.constant(0);
  count = batch || dynamic ? block.count : ir.constant(rowDim < 0 ? 1 : out.layout.dims[rowDim].size.factor);
}

Local LinearLowering::moved(Local tensor, StringRef dim, Value by) {
  int place = tensor.find(dim);
  if (place >= 0)
    tensor.pointer = ir.address(tensor.pointer, tensor.element, ir.mul(by, tensor.strides[place]));
  return tensor;
}

/// Loops over the dimensions before the row that the block does not cover.
void LinearLowering::outerLoops(size_t dim) {
  if (dim == leading)
    return panels();
  if (int(dim) == rowDim)
    return outerLoops(dim + 1);
  Local xBefore = xAt, outBefore = outAt;
  SmallVector<Local, 2> extrasBefore = extrasAt;
  ir.loop(outAt.sizes[dim], [&](Value i) {
    StringRef name = out.names[dim];
    xAt = moved(xAt, x.names[dim], i);
    outAt = moved(outAt, name, i);
    for (Local &extra : extrasAt)
      extra = moved(extra, name, i);
    outerLoops(dim + 1);
  });
  xAt = xBefore;
  outAt = outBefore;
  extrasAt = extrasBefore;
}

/// The block's rows: a sequence longer than a task (of static size) in steps, then this task's panels.
void LinearLowering::panels() {
  Value from = ir.mul(block.inner, ir.constant(panelsOfTask));
  Value until = ir.min(ir.add(from, ir.constant(panelsOfTask)), ir.constant(panelCount));
  auto known = Ir::known(count);
  if (!known || *known <= rowsOfTask) {
    ir.loop(from, until, ir.constant(1), [&](Value number) { panel(number); });
    return;
  }
  Value all = count;
  ir.loop(ir.constant(0), all, ir.constant(rowsOfTask), [&](Value at) {
    Value before = begin;
    begin = at;
    count = ir.min(ir.constant(rowsOfTask), ir.sub(all, at));
    ir.loop(from, until, ir.constant(1), [&](Value number) { panel(number); });
    begin = before;
    count = all;
  });
}

/// The rows from number k on of a packed panel.
Value LinearLowering::weightTile(Value weights, int64_t k, int64_t step) {
  OpFoldResult rows = ir.getI64IntegerAttr(step), width = ir.getI64IntegerAttr(panelWidth);
  bool pairs = rounds() && emitter.target.bf16;
  Value from = ir.address(weights, ir.f32(), ir.constant((pairs ? k / 2 : k) * panelWidth));
  if (rounds())
    return tile::PackedOp::create(ir, ir.loc,
                                  tile::TileType::get(ir.getContext(), {step, panelWidth}, ir.getBF16Type()), from);
  return tile::LoadOp::create(ir, ir.loc, tile::TileType::get(ir.getContext(), {step, panelWidth}, ir.f32()), from,
                              {width, OpFoldResult(ir.getI64IntegerAttr(1))}, {rows, width});
}

Value LinearLowering::product(Value rowPointer, Value weights) {
  Value rowStride = rowDim < 0 ? ir.constant(0) : xAt.strides[rowDim];
  Value innerStride = xAt.strides[leading];
  auto blockType = tile::TileType::get(ir.getContext(), {rowsOfTask, panelWidth}, ir.f32());
  Value acc = tile::FillOp::create(ir, ir.loc, blockType, ir.number(0));
  for (int64_t k = 0; k < inner; k += innerOfDot) {
    int64_t step = std::min(innerOfDot, inner - k);
    auto aType = tile::TileType::get(ir.getContext(), {rowsOfTask, step}, ir.f32());
    OpFoldResult stepSize = ir.getI64IntegerAttr(step), width = ir.getI64IntegerAttr(panelWidth);
    Value aPointer = ir.address(rowPointer, ir.f32(), ir.mul(ir.constant(k), innerStride));
    Value a = tile::LoadOp::create(ir, ir.loc, aType, aPointer, {folded(rowStride), folded(innerStride)},
                                   {folded(count), stepSize});
    if (rounds())
      a = tile::RoundOp::create(ir, ir.loc, a, 1, {folded(count), stepSize});
    Value b = weightTile(weights, k, step);
    acc = tile::DotOp::create(ir, ir.loc, tile::Form::kn, a, b, acc, Value(), {folded(count), width, stepSize});
  }
  return acc;
}

LinearLowering::Extra LinearLowering::place(const Local &tensor) const {
  Extra extra{tensor, {}, 0};
  if (rowDim >= 0)
    if (int place = tensor.find(out.names[rowDim]); place >= 0)
      extra.row = tensor.strides[place];
  // Along the columns it must have all of the weight's dimensions, without gaps, or none.
  int64_t expected = 1;
  bool all = true, none = true;
  for (size_t i = out.rank(); i-- > leading;) {
    int64_t size = type.getDimSize(unsigned(i - leading));
    int place = tensor.find(out.names[i]);
    if (size == 1)
      continue;
    none &= place < 0;
    all &= place >= 0 && Ir::known(tensor.strides[place]) == expected;
    expected *= size;
  }
  if (all && !none)
    extra.column = 1;
  else if (!none)
    extra.column = std::nullopt;
  return extra;
}

/// One element of an extra that is no tile: the column's number taken apart into the weight's dimensions.
Value LinearLowering::peeked(OpBuilder &builder, const Extra &extra, Value firstColumn, ValueRange indices) {
  Ir in(ir.loc, builder);
  auto wide = [&](Value i) { return Value(arith::ExtSIOp::create(in, in.loc, in.i64(), i)); };
  Value index = in.constant(0);
  if (extra.row)
    index = in.mul(wide(indices[0]), extra.row);
  Value column = in.add(firstColumn, wide(indices[1]));
  for (size_t i = out.rank(); i-- > leading;) {
    Value size = in.constant(type.getDimSize(unsigned(i - leading)));
    int place = extra.tensor.find(out.names[i]);
    if (place >= 0)
      index = in.add(index, in.mul(in.rem(column, size), extra.tensor.strides[place]));
    column = in.div(column, size);
  }
  Value value = tile::PeekOp::create(in, in.loc, extra.tensor.element, extra.tensor.pointer, index);
  builder.restoreInsertionPoint(in.saveInsertionPoint());
  return value;
}

/// The region over the block.
Value LinearLowering::finish(Value acc, Value firstColumn, Value columnsHere) {
  Block &source = op.getBody().front();
  if (source.without_terminator().empty() && source.getTerminator()->getOperand(0) == source.getArgument(0))
    return acc;
  auto blockType = cast<tile::TileType>(acc.getType());
  SmallVector<Value> tiles{acc};
  SmallVector<int64_t> along{-1};
  SmallVector<int> tileOf; // of each extra: which tile; -1 one number; -2 peeked
  IRMapping map = scalars;
  SmallVector<Extra, 2> placed;
  OpFoldResult rows = folded(count), width = folded(columnsHere), one = ir.getI64IntegerAttr(1);
  for (auto [n, tensor] : llvm::enumerate(extrasAt)) {
    Extra extra = place(tensor);
    placed.push_back(extra);
    Value pointer = tensor.pointer;
    if (extra.row)
      pointer = ir.address(pointer, tensor.element, ir.mul(begin, extra.row));
    placed.back().tensor.pointer = pointer;
    if (!extra.column) {
      tileOf.push_back(-2);
      continue;
    }
    if (!extra.row && *extra.column == 0) {
      map.map(source.getArgument(unsigned(n + 1)), ir.load(tensor.element, pointer));
      tileOf.push_back(-1);
      continue;
    }
    if (*extra.column == 1)
      pointer = ir.address(pointer, tensor.element, firstColumn);
    tileOf.push_back(int(tiles.size()));
    SmallVector<int64_t> shape;
    SmallVector<OpFoldResult> strides, valid;
    if (extra.row)
      shape.push_back(rowsOfTask), strides.push_back(folded(extra.row)), valid.push_back(rows);
    if (*extra.column == 1)
      shape.push_back(panelWidth), strides.push_back(one), valid.push_back(width);
    auto tileType = tile::TileType::get(ir.getContext(), shape, tensor.element);
    tiles.push_back(tile::LoadOp::create(ir, ir.loc, tileType, pointer, strides, valid));
    along.push_back(shape.size() == 2 ? -1 : extra.row ? 0 : 1);
  }
  auto element = [&](OpBuilder &builder, Location, ValueRange indices, ValueRange elements) {
    IRMapping inside = map;
    inside.map(source.getArgument(0), elements[0]);
    for (auto [n, which] : llvm::enumerate(tileOf))
      if (which != -1)
        inside.map(source.getArgument(unsigned(n + 1)),
                   which >= 0 ? elements[size_t(which)] : peeked(builder, placed[n], firstColumn, indices));
    for (Operation &each : source.without_terminator())
      builder.clone(each, inside);
    return inside.lookupOrDefault(source.getTerminator()->getOperand(0));
  };
  auto resultType = tile::TileType::get(ir.getContext(), blockType.getShape(), out.element);
  return tile::MapOp::create(ir, ir.loc, resultType, tiles, along, {rows, width}, element);
}

void LinearLowering::panel(Value number) {
  Value weights = kernel.get(emitter.weight(op.getWeight(), op.getTurns(), Emitter::Packed));
  Value first = ir.mul(number, ir.constant(panelWidth));
  Value here = columns % panelWidth == 0 ? ir.constant(panelWidth)
                                         : ir.min(ir.constant(panelWidth), ir.sub(ir.constant(columns), first));
  Value rowStride = rowDim < 0 ? ir.constant(0) : outAt.strides[rowDim];
  Value xPointer = xAt.pointer;
  if (rowDim >= 0)
    xPointer = ir.address(xPointer, ir.f32(), ir.mul(begin, xAt.strides[rowDim]));
  Value panelPointer =
      ir.address(weights, ir.f32(), ir.mul(number, ir.constant(packedRows(inner, emitter.program) * panelWidth)));
  Value result = finish(product(xPointer, panelPointer), first, here);
  Value to = ir.address(outAt.pointer, out.element, ir.add(ir.mul(begin, rowStride), first));
  tile::StoreOp::create(ir, ir.loc, result, to, {folded(rowStride), OpFoldResult(ir.getI64IntegerAttr(1))},
                        {folded(count), folded(here)});
}

void LinearLowering::run() {
  inner = type.getShape().back();
  columns = 1;
  for (int64_t size : type.getShape().drop_back())
    columns *= size;
  panelWidth = emitter.target.panel();
  panelCount = llvm::divideCeil(columns, panelWidth);
  bindOutsideScalars(op.getBody(), emitter, kernel, scalars);
  chooseTask();
  outerLoops(0);
  kernel.launch();
}

} // namespace

LogicalResult lowerLinear(Emitter &emitter, LinearOp op) {
  LinearLowering(emitter, op).run();
  return success();
}

} // namespace attn
