// Elementwise operations: the region is cloned into a map over tiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Emitter.h"
#include "lowering/Nest.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace attn {

LogicalResult lowerMap(Emitter &emitter, MapOp op) {
  SmallVector<View, 0> views{emitter.output(op)};
  for (size_t i = 0; i < op.getInputs().size(); ++i)
    views.push_back(emitter.input(op, i));
  Block &source = op.getBody().front();
  buildNest(emitter, "map", views, [&](Run &run) {
    IRMapping outside;
    bindOutsideScalars(op.getBody(), emitter, run.kernel, outside);
    SmallVector<size_t> moving; // the inputs that change along the run; the others are one number
    for (size_t i = 1; i < views.size(); ++i) {
      if (run.standsStill(i))
        outside.map(source.getArgument(i - 1), run.ir.load(views[i].element, run.tensors[i].pointer));
      else
        moving.push_back(i);
    }
    run.chunks([&](Value at, int64_t width, OpFoldResult valid) {
      SmallVector<Value> tiles;
      for (size_t i : moving)
        tiles.push_back(run.load(i, at, width, valid));
      auto type = tile::TileType::get(op.getContext(), {width}, views[0].element);
      auto element = [&](OpBuilder &builder, Location, ValueRange, ValueRange elements) {
        IRMapping map = outside;
        for (auto [i, value] : llvm::zip_equal(moving, elements))
          map.map(source.getArgument(i - 1), value);
        for (Operation &inner : source.without_terminator())
          builder.clone(inner, map);
        return map.lookupOrDefault(source.getTerminator()->getOperand(0));
      };
      Value result = tile::MapOp::create(run.ir, run.ir.loc, type, tiles, ArrayRef<int64_t>{}, {valid}, element);
      run.store(result, 0, at, valid);
    });
  });
  return success();
}

LogicalResult lowerPos(Emitter &emitter, PosOp op) {
  View out = emitter.output(op);
  buildNest(emitter, "pos", out,
            [&](Run &run) {
              Value place = run.ir.add(run.first, run.kernel.past(op.outDims().sequence(0), run.sequence));
              Value base = arith::TruncIOp::create(run.ir, run.ir.loc, run.ir.i32(), place);
              run.chunks([&](Value at, int64_t width, OpFoldResult valid) {
                auto type = tile::TileType::get(op.getContext(), {width}, out.element);
                Value start = arith::TruncIOp::create(run.ir, run.ir.loc, run.ir.i32(), at);
                start = arith::AddIOp::create(run.ir, run.ir.loc, start, base);
                auto element = [&](OpBuilder &builder, Location loc, ValueRange indices, ValueRange) -> Value {
                  return arith::AddIOp::create(builder, loc, start, indices[0]);
                };
                Value tile =
                    tile::MapOp::create(run.ir, run.ir.loc, type, ValueRange{}, ArrayRef<int64_t>{}, {valid}, element);
                run.store(tile, 0, at, valid);
              });
            },
            {.positions = true});
  return success();
}

} // namespace attn
