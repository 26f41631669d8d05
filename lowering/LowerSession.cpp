// What a session keeps: numbers of it, rows that a call adds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Emitter.h"
#include "lowering/Nest.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace attn {

LogicalResult lowerSession(Emitter &emitter, SessionOp op) {
  View out = emitter.output(op);
  bool past = op.getNumber() == SessionNumber::past;
  bool caches = op->getParentOfType<func::FuncOp>()->hasAttr("attn.cached");
  buildNest(emitter, "session", out, [&](Run &run) {
    Ir &ir = run.ir;
    Value number = ir.constant(0);
    if (!past || caches)
      number = ir.load(ir.i64(), run.kernel.get(past ? emitter.past() : emitter.capacity()), run.sequence);
    ir.store(arith::TruncIOp::create(ir, ir.loc, ir.i32(), number), run.tensors[0].pointer);
  });
  return success();
}

/// Tensor 1 to tensor 0, each number to the nearest bfloat16.
static void roundRun(Run &run) {
  run.chunks([&](Value at, int64_t width, OpFoldResult valid) {
    auto type = tile::TileType::get(run.ir.getContext(), {width}, run.ir.getBF16Type());
    auto nearest = [](OpBuilder &builder, Location loc, ValueRange, ValueRange number) -> Value {
      return arith::TruncFOp::create(builder, loc, builder.getBF16Type(), number[0]);
    };
    Value tile = tile::MapOp::create(run.ir, run.ir.loc, type, run.load(1, at, width, valid), {}, {valid}, nearest);
    run.store(tile, 0, at, valid);
  });
}

/// Copies the rows of this call to where the session keeps them, behind the `past` ones if there are any.
static void keepRows(Emitter &emitter, StringRef name, const View &rows, View kept, StringRef sequence) {
  kept.names = rows.names;
  kept.layout.dims.front().size = rows.layout.dims.front().size;
  buildNest(emitter, name, {kept, rows}, [&](Run &run) {
    Ir &ir = run.ir;
    Local &to = run.tensors[0];
    Value stride = run.kernel.evaluate(kept.layout.dims.front().stride, run.sequence);
    to.pointer = ir.address(to.pointer, to.element, ir.mul(run.kernel.past(sequence, run.sequence), stride));
    if (to.element.isBF16())
      roundRun(run);
    else
      run.copy(1);
  });
}

LogicalResult lowerCache(Emitter &emitter, CacheOp op) {
  keepRows(emitter, "cache", emitter.input(op, 0), emitter.output(op), op.inDims(0).sequence(0));
  return success();
}

LogicalResult lowerOnce(Emitter &emitter, OnceOp op) {
  keepRows(emitter, "once", emitter.input(op, 0), emitter.output(op), {});
  return success();
}

} // namespace attn
