// What a session keeps: numbers of it, rows that a call adds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Emitter.h"
#include "lowering/Nest.h"
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

/// Copies the rows of this call to where the session keeps them, behind the `past` ones if there are any.
static void keepRows(Emitter &emitter, StringRef name, const View &rows, View kept, StringRef sequence) {
  kept.names = rows.names;
  kept.layout.dims.front().size = rows.layout.dims.front().size;
  buildNest(emitter, name, {kept, rows}, [&](Run &run) {
    Ir &ir = run.ir;
    Local &to = run.tensors[0];
    Value stride = run.kernel.evaluate(kept.layout.dims.front().stride, run.sequence);
    to.pointer = ir.address(to.pointer, to.element, ir.mul(run.kernel.past(sequence, run.sequence), stride));
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
