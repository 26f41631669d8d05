// A kernel that visits every element of a tensor in runs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Nest.h"
#include "lowering/Emitter.h"
#include "lowering/Program.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace attn {

OpFoldResult folded(Value number) {
  if (auto known = Ir::known(number))
    return IntegerAttr::get(number.getType(), *known);
  return number;
}

// ---------------------------------------------------------------------------------------------------------------- runs

Value Run::step(size_t n) {
  int place = tensors[n].find(along);
  return place < 0 ? ir.constant(0) : tensors[n].strides[place];
}

/// Runs up to this length are one tile if their length is known; longer ones are cut.
constexpr int64_t wholeRun = 1024, cutRun = 256;

void Run::chunks(std::function<void(Value, int64_t, OpFoldResult)> body) {
  chunks({}, [&](Value at, int64_t width, OpFoldResult valid, ValueRange) {
    body(at, width, valid);
    return SmallVector<Value>{};
  });
}

SmallVector<Value> Run::chunks(ValueRange carried,
                               std::function<SmallVector<Value>(Value, int64_t, OpFoldResult, ValueRange)> body) {
  auto known = Ir::known(count);
  if (known && *known > 0 && *known <= wholeRun)
    return body(ir.constant(0), *known, ir.getI64IntegerAttr(*known), carried);
  Value width = ir.constant(cutRun);
  return ir.loop(ir.constant(0), count, width, carried, [&](Value at, ValueRange values) {
    return body(at, cutRun, ir.min(width, ir.sub(count, at)), values);
  });
}

Value Run::load(size_t n, Value at, int64_t width, OpFoldResult valid) {
  auto type = tile::TileType::get(ir.getContext(), {width}, tensors[n].element);
  Value stride = step(n);
  Value pointer = ir.address(tensors[n].pointer, tensors[n].element, ir.mul(at, stride));
  return tile::LoadOp::create(ir, ir.loc, type, pointer, {folded(stride)}, {valid});
}

void Run::store(Value tile, size_t n, Value at, OpFoldResult valid) {
  Value stride = step(n);
  Value pointer = ir.address(tensors[n].pointer, tensors[n].element, ir.mul(at, stride));
  tile::StoreOp::create(ir, ir.loc, tile, pointer, {folded(stride)}, {valid});
}

void Run::copy(size_t from) {
  chunks([&](Value at, int64_t width, OpFoldResult valid) {
    Value tile;
    if (standsStill(from)) {
      auto type = tile::TileType::get(ir.getContext(), {width}, tensors[0].element);
      Value number = ir.load(tensors[from].element, tensors[from].pointer);
      tile = tile::FillOp::create(ir, ir.loc, type, number);
    } else
      tile = load(from, at, width, valid);
    store(tile, 0, at, valid);
  });
}

// --------------------------------------------------------------------------------------------------------------- loops

namespace {

/// One loop: neighbouring dimensions of the space, outermost first; it steps through them as one.
struct Loop {
  SmallVector<StringRef, 2> dims;
  Monomial size;
};

class Nest {
public:
  Nest(Emitter &emitter, StringRef name, ArrayRef<View> views, std::function<void(Run &)> body,
       const NestOptions &options)
      : emitter(emitter), views(views), body(std::move(body)), options(options), kernel(emitter, name) {}
  void build();

private:
  void chooseLoops();
  bool joins(StringRef outer, StringRef inner) const;
  StringRef rowsOfAll() const;
  void chooseTasks();
  int64_t blockSize(size_t without) const;
  void bind();
  void step(size_t loop, Run run);
  Run moved(Run run, const Loop &loop, Value index);

  Emitter &emitter;
  ArrayRef<View> views;
  std::function<void(Run &)> body;
  const NestOptions &options;
  Kernel kernel;
  SmallVector<Loop> loops;
  StringRef rows;      // the sequence dimension whose rows of all sequences are visited at once, if so
  int blocked = -1;    // the loop that a task has only a part of
  Value begin, extent; // of that part
  Value sequence;
  SmallVector<Local> tensors;
};

/// Is one step of `outer` the whole of `inner`, in every tensor?
bool Nest::joins(StringRef outer, StringRef inner) const {
  return llvm::all_of(views, [&](const View &view) {
    int o = view.find(outer), i = view.find(inner);
    if (o < 0 || i < 0)
      return o < 0 && i < 0;
    const Extent &in = view.layout.dims[i], &out = view.layout.dims[o];
    return out.size.isStatic() && in.size.isStatic() && out.stride == in.stride * in.size;
  });
}

void Nest::chooseLoops() {
  const View &space = views.front();
  for (size_t i = 0; i < space.rank(); ++i) {
    StringRef name = space.names[i];
    if (name == options.along)
      continue;
    bool alone = options.positions || loops.empty();
    if (!alone && joins(loops.back().dims.back(), name)) {
      loops.back().dims.push_back(name);
      loops.back().size = loops.back().size * space.layout.dims[i].size;
    } else
      loops.push_back({{name}, space.layout.dims[i].size});
  }
  if (!options.along.empty())
    loops.push_back({{options.along}, space.layout.dims[space.find(options.along)].size});
}

/// The sequence dimension if every tensor is uniform or rows of the batch along it.
StringRef Nest::rowsOfAll() const {
  StringRef length, dim;
  for (const View &view : views) {
    if (view.layout.uniform)
      continue;
    if (!view.layout.isRows() || (!length.empty() && length != view.layout.units[0]))
      return {};
    length = view.layout.units[0];
    auto row = llvm::find_if(view.layout.dims, [](const Extent &extent) { return !extent.size.isStatic(); });
    StringRef name = view.names[row - view.layout.dims.begin()];
    if ((!dim.empty() && name != dim) || (!options.along.empty() && name == options.along))
      return {};
    dim = name;
  }
  return options.positions || views.front().layout.uniform ? StringRef() : length;
}

/// So many rows that a task has some 16384 elements to visit.
int64_t Nest::blockSize(size_t without) const {
  int64_t row = 1;
  for (auto [i, loop] : llvm::enumerate(loops))
    if (i != without)
      row *= loop.size.isStatic() ? loop.size.factor : 256;
  return std::clamp<int64_t>(16384 / std::max<int64_t>(row, 1), 1, 512);
}

void Nest::chooseTasks() {
  Ir &ir = kernel.ir;
  rows = rowsOfAll();
  bool wholeRun = !options.along.empty();
  for (size_t i = 0; i + wholeRun < loops.size() && blocked < 0; ++i)
    if (!loops[i].size.isStatic())
      blocked = i;
  if (views.front().layout.uniform && blocked < 0) {
    kernel.tasks(emitter.entry.constant(1));
    return;
  }
  if (blocked >= 0) {
    StringRef name = loops[blocked].size.lengths[0];
    int64_t size = blockSize(blocked);
    Kernel::Block block = rows.empty() ? kernel.sequenceBlock(name, size) : kernel.rowBlock(name, size);
    sequence = block.sequence;
    begin = block.begin;
    extent = block.count;
    return;
  }
  // No sequence dimension to cut: the outermost loop in a few parts.
  bool cut = loops.size() > 1 && loops[0].size.factor > 1;
  int64_t parts = cut ? std::min<int64_t>(loops[0].size.factor, 8) : 1;
  Kernel::Block block = kernel.sequence(parts);
  sequence = block.sequence;
  if (!cut)
    return;
  blocked = 0;
  int64_t size = llvm::divideCeil(loops[0].size.factor, parts);
  begin = ir.mul(block.inner, ir.constant(size));
  extent = ir.max(ir.constant(0), ir.min(ir.constant(size), ir.sub(ir.constant(loops[0].size.factor), begin)));
}

void Nest::bind() {
  for (const View &view : views)
    tensors.push_back(rows.empty() ? kernel.local(view, sequence) : kernel.rows(view, rows));
}

/// The run with all tensors moved by `index` steps of a loop.
Run Nest::moved(Run run, const Loop &loop, Value index) {
  for (Local &tensor : run.tensors) {
    int place = tensor.find(loop.dims.back());
    if (place >= 0)
      tensor.pointer = run.ir.address(tensor.pointer, tensor.element, run.ir.mul(index, tensor.strides[place]));
  }
  return run;
}

void Nest::step(size_t number, Run run) {
  Ir &ir = run.ir;
  if (loops.empty()) {
    run.first = ir.constant(0);
    run.count = ir.constant(1);
    return body(run);
  }
  const Loop &loop = loops[number];
  bool part = int(number) == blocked;
  Value from = part ? begin : ir.constant(0);
  Value count = part ? extent : kernel.evaluate(loop.size, sequence);
  if (number + 1 == loops.size()) {
    Run last = moved(run, loop, from);
    last.along = loop.dims.back();
    last.first = from;
    last.count = count;
    return body(last);
  }
  ir.loop(from, ir.add(from, count), ir.constant(1), [&](Value index) {
    Run inner = moved(run, loop, index);
    if (loop.dims.size() == 1)
      inner.indices[loop.dims[0]] = index;
    step(number + 1, inner);
  });
}

void Nest::build() {
  chooseLoops();
  chooseTasks();
  bind();
  step(0, {kernel, kernel.ir, tensors, {}, {}, {}, sequence, {}});
  kernel.launch();
}

} // namespace

void buildNest(Emitter &emitter, StringRef name, ArrayRef<View> views, std::function<void(Run &)> body,
               const NestOptions &options) {
  Nest(emitter, name, views, std::move(body), options).build();
}

} // namespace attn
