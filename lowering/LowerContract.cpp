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

} // namespace

LogicalResult lowerContract(Emitter &emitter, ContractOp op) {
  View out = emitter.output(op), a = emitter.input(op, 0), b = emitter.input(op, 1);
  SmallVector<StringRef> summed;
  for (StringRef name : a.names)
    if (out.find(name) < 0)
      summed.push_back(name);
  buildNest(emitter, "contract", {out, a, b}, [&](Run &run) { Contraction(run, summed).emit(); });
  return success();
}

} // namespace attn
