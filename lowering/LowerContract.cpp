// Products of two tensors of the batch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// out[.., n] = sum over the dimensions that the output lacks of a[..] * b[..]: a tile of neighbouring elements of the
// output is carried through loops over these dimensions, in ascending order. Products with weights are attn.linear and
// attention is attn.attend; what is left here is small.
#include "lowering/Emitter.h"
#include "lowering/Nest.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace attn {
namespace {

class Contraction {
public:
  Contraction(Run &run, SmallVector<StringRef> summed) : run(run), ir(run.ir), summed(std::move(summed)) {}

  void emit() {
    run.chunks([&](Value at, int64_t width, OpFoldResult valid) {
      auto type = tile::TileType::get(ir.getContext(), {width}, ir.f32());
      Value zero = tile::FillOp::create(ir, ir.loc, type, ir.number(0));
      Value sum = loops(0, run, zero, [&](Run &here, Value carried) { return term(here, at, width, valid, carried); });
      run.store(sum, 0, at, valid);
    });
  }

private:
  Value loops(size_t next, Run &here, Value carried, llvm::function_ref<Value(Run &, Value)> body) {
    if (next == summed.size())
      return body(here, carried);
    int a = here.tensors[1].find(summed[next]), b = here.tensors[2].find(summed[next]);
    Value size = here.tensors[1].sizes[a];
    return ir.loop(ir.constant(0), size, ir.constant(1), carried, [&](Value i, ValueRange value) {
      Run inner = here;
      Local &left = inner.tensors[1], &right = inner.tensors[2];
      left.pointer = ir.address(left.pointer, left.element, ir.mul(i, left.strides[a]));
      right.pointer = ir.address(right.pointer, right.element, ir.mul(i, right.strides[b]));
      return SmallVector<Value>{loops(next + 1, inner, value[0], body)};
    })[0];
  }

  /// sum + a * b for the tile at `at`.
  Value term(Run &here, Value at, int64_t width, OpFoldResult valid, Value sum) {
    SmallVector<Value> tiles{sum};
    Value numbers[2];
    for (size_t i = 0; i < 2; ++i) {
      if (here.standsStill(i + 1))
        numbers[i] = ir.load(ir.f32(), here.tensors[i + 1].pointer);
      else
        tiles.push_back(here.load(i + 1, at, width, valid));
    }
    auto element = [&](OpBuilder &builder, Location loc, ValueRange, ValueRange e) -> Value {
      Value a = numbers[0] ? numbers[0] : e[1], b = numbers[1] ? numbers[1] : e.back();
      return math::FmaOp::create(builder, loc, a, b, e[0]);
    };
    return tile::MapOp::create(ir, ir.loc, cast<tile::TileType>(sum.getType()), tiles, ArrayRef<int64_t>{}, {valid},
                               element);
  }

  Run &run;
  Ir &ir;
  SmallVector<StringRef> summed;
};

/// The roles of the dimensions of a matrix product.
struct Roles {
  StringRef m, n, k;
  bool swapped = false; // n belongs to the first operand
};

/// The last dimension of the output that only `from` has.
StringRef lastOf(const View &out, const View &from, const View &other) {
  for (StringRef name : llvm::reverse(out.names))
    if (from.find(name) >= 0 && other.find(name) < 0)
      return name;
  return {};
}

std::optional<Roles> findRoles(const View &out, const View &a, const View &b, ArrayRef<StringRef> summed) {
  if (summed.size() != 1)
    return std::nullopt;
  Roles roles{lastOf(out, a, b), lastOf(out, b, a), summed[0]};
  if (roles.m.empty() || roles.n.empty())
    return std::nullopt;
  if (out.find(roles.m) > out.find(roles.n)) { // n lies closest in the output
    std::swap(roles.m, roles.n);
    roles.swapped = true;
  }
  return roles;
}

class MatrixProduct {
public:
  MatrixProduct(Emitter &emitter, View result, View left, View right, Roles names)
      : kernel(emitter, "product"), ir(kernel.ir), out(std::move(result)), a(std::move(left)), b(std::move(right)),
        roles(names) {
    if (roles.swapped)
      std::swap(a, b);
  }

  void emit() {
    chooseTask();
    Local to = kernel.local(out, sequence), left = kernel.local(a, sequence), right = kernel.local(b, sequence);
    over(0, {to, left, right});
    kernel.launch();
  }

private:
  using Tensors = std::array<Local, 3>;
  static constexpr int64_t edge = 64; // of a tile

  Monomial size(StringRef name) const { return out.layout.dims[out.find(name)].size; }

  /// 64 rows of one sequence, if rows are along a sequence; else a whole sequence.
  void chooseTask() {
    const Monomial rows = size(roles.m);
    if (out.layout.uniform)
      kernel.tasks(kernel.emitter().entry.constant(1));
    else if (rows.isStatic())
      sequence = kernel.sequence().sequence;
    else {
      Kernel::Block block = kernel.sequenceBlock(rows.lengths[0], edge);
      sequence = block.sequence;
      begin = block.begin;
      count = block.count;
    }
    if (!begin) {
      begin = ir.constant(0);
      count = kernel.evaluate(rows, sequence);
    }
  }

  Tensors moved(Tensors tensors, StringRef name, Value index) {
    for (Local &tensor : tensors)
      if (int place = tensor.find(name); place >= 0)
        tensor.pointer = ir.address(tensor.pointer, tensor.element, ir.mul(index, tensor.strides[place]));
    return tensors;
  }

  /// Loops over the dimensions of the output but m and n, then over tiles of these.
  void over(size_t dim, const Tensors &tensors) {
    if (dim == out.rank())
      return tiles(tensors);
    StringRef name = out.names[dim];
    if (name == roles.m || name == roles.n)
      return over(dim + 1, tensors);
    ir.loop(tensors[0].sizes[dim], [&](Value index) { over(dim + 1, moved(tensors, name, index)); });
  }

  void tiles(const Tensors &tensors) {
    Value step = ir.constant(edge), columns = tensors[0].sizes[out.find(roles.n)];
    ir.loop(ir.constant(0), count, step, [&](Value row) {
      Tensors rows = moved(tensors, roles.m, ir.add(begin, row));
      Value m = ir.min(step, ir.sub(count, row));
      ir.loop(ir.constant(0), columns, step, [&](Value column) {
        Value n = ir.min(step, ir.sub(columns, column));
        sums(moved(rows, roles.n, column), m, n);
      });
    });
  }

  Value load(const Local &from, StringRef outer, StringRef inner, Value rows, Value columns) {
    auto type = tile::TileType::get(ir.getContext(), {edge, edge}, ir.f32());
    OpFoldResult strides[] = {folded(from.strides[from.find(outer)]), folded(from.strides[from.find(inner)])};
    return tile::LoadOp::create(ir, ir.loc, type, from.pointer, strides, {folded(rows), folded(columns)});
  }

  /// One tile of the output: the sums over k, 64 places at a time.
  void sums(const Tensors &tensors, Value m, Value n) {
    auto type = tile::TileType::get(ir.getContext(), {edge, edge}, ir.f32());
    Value zero = tile::FillOp::create(ir, ir.loc, type, ir.number(0)), step = ir.constant(edge);
    Value depth = tensors[1].sizes[tensors[1].find(roles.k)];
    Value sum = ir.loop(ir.constant(0), depth, step, zero, [&](Value place, ValueRange carried) -> SmallVector<Value> {
      Tensors here = moved(tensors, roles.k, place);
      Value k = ir.min(step, ir.sub(depth, place));
      bool rowsOfK = isOne(b.layout.dims[b.find(roles.n)].stride); // b lies as [k, n]
      Value left = load(here[1], roles.m, roles.k, m, k);
      Value right = rowsOfK ? load(here[2], roles.k, roles.n, k, n) : load(here[2], roles.n, roles.k, n, k);
      return {tile::DotOp::create(ir, ir.loc, rowsOfK ? tile::Form::kn : tile::Form::nk, left, right, carried[0],
                                  Value(), {folded(m), folded(n), folded(k)})};
    })[0];
    const Local &to = tensors[0];
    OpFoldResult strides[] = {folded(to.strides[out.find(roles.m)]), folded(to.strides[out.find(roles.n)])};
    tile::StoreOp::create(ir, ir.loc, sum, to.pointer, strides, {folded(m), folded(n)});
  }

  static bool isOne(const Monomial &stride) { return stride.isStatic() && stride.factor == 1; }

  Kernel kernel;
  Ir &ir;
  View out, a, b;
  Roles roles;
  Value sequence, begin, count;
};

} // namespace

LogicalResult lowerContract(Emitter &emitter, ContractOp op) {
  View out = emitter.output(op), a = emitter.input(op, 0), b = emitter.input(op, 1);
  SmallVector<StringRef> summed;
  for (StringRef name : a.names)
    if (out.find(name) < 0)
      summed.push_back(name);
  if (auto roles = findRoles(out, a, b, summed)) {
    MatrixProduct(emitter, out, a, b, *roles).emit();
    return success();
  }
  buildNest(emitter, "contract", {out, a, b}, [&](Run &run) { Contraction(run, summed).emit(); });
  return success();
}

} // namespace attn
