// The text of a score, a mask or a sink, inside tile.map.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/attend/AttendLowering.h"

using namespace mlir;

namespace attn {

/// A tile.map whose region `element` writes.
Value mapTile(Ir &ir, tile::TileType type, ValueRange inputs, ArrayRef<int64_t> along, ArrayRef<OpFoldResult> valid,
              std::function<Value(Scalars &, ValueRange indices, ValueRange elements)> element) {
  auto body = [&](OpBuilder &builder, Location loc, ValueRange indices, ValueRange elements) {
    Scalars inside{Ir(loc, builder)};
    Value result = element(inside, indices, elements);
    builder.restoreInsertionPoint(inside.ir.saveInsertionPoint());
    return result;
  };
  return tile::MapOp::create(ir, ir.loc, type, inputs, along, valid, body);
}

/// One number of a captured tensor or of the row of q or k.
Value AttendLowering::element(AtOp at, IRMapping &map, Scalars &in) {
  SmallVector<Value> indices;
  for (Value index : at.getIndices())
    indices.push_back(map.lookupOrDefault(index));
  if (at.getTensor() == queryArgument || at.getTensor() == keyArgument) {
    bool query = at.getTensor() == queryArgument;
    Value own = map.lookup(at.getTensor()); // the row's number in the tile
    return tile::AtOp::create(in.ir, in.ir.loc, in.ir.f32(), query ? queryTile : keyTile, ValueRange{own, indices[0]});
  }
  const Local &tensor = capturedTensors.find(at.getTensor())->second;
  Value place = in.ir.constant(0);
  for (auto [index, size, stride] : llvm::zip_equal(indices, tensor.sizes, tensor.strides)) {
    Value wide = arith::ExtSIOp::create(in.ir, in.ir.loc, in.ir.i64(), index);
    Value inRange = in.ir.max(in.ir.constant(0), in.ir.min(wide, in.ir.sub(size, in.ir.constant(1))));
    place = in.ir.add(place, in.ir.mul(inRange, stride));
  }
  if (!in.ofTile)
    return in.ir.load(tensor.element, tensor.pointer, place);
  return tile::PeekOp::create(in.ir, in.ir.loc, tensor.element, tensor.pointer, place);
}

Value AttendLowering::cloneBlock(Block &block, Scalars &in, IRMapping &map) {
  for (Operation &each : block.without_terminator()) {
    if (auto at = dyn_cast<AtOp>(each)) {
      map.map(at.getResult(), element(at, map, in));
      continue;
    }
    auto fold = dyn_cast<FoldOp>(each);
    if (!fold) {
      in.ir.clone(each, map);
      continue;
    }
    Block &body = fold.getBody().front();
    auto once = [&](Value d, ValueRange sum) {
      map.map(body.getArgument(0), arith::TruncIOp::create(in.ir, in.ir.loc, in.ir.i32(), d).getResult());
      Value term = cloneBlock(body, in, map);
      if (fold.getKind() == Reduction::max)
        return SmallVector<Value>{in.max(sum[0], term)};
      if (fold.getKind() == Reduction::min)
        return SmallVector<Value>{in.min(sum[0], term)};
      if (auto product = term.getDefiningOp<arith::MulFOp>())
        return SmallVector<Value>{in.fma(product.getLhs(), product.getRhs(), sum[0])};
      return SmallVector<Value>{in.add(sum[0], term)};
    };
    double nothing = fold.getKind() == Reduction::sum ? 0 : fold.getKind() == Reduction::max ? -infinity : infinity;
    Value sum =
        in.ir.loop(in.ir.constant(0), in.ir.constant(fold.getCount()), in.ir.constant(1), in.number(nothing), once)[0];
    map.map(fold.getResult(), sum);
  }
  return map.lookupOrDefault(block.getTerminator()->getOperand(0));
}

/// The region's value, its scalar arguments given (null where it is a row of q or k).
Value AttendLowering::inside(Region &region, Scalars &in, ArrayRef<Value> arguments, Value ownQuery, Value ownKey) {
  Block &block = region.front();
  IRMapping map = scalars;
  queryArgument = keyArgument = Value();
  for (auto [i, given] : llvm::enumerate(arguments)) {
    BlockArgument argument = block.getArgument(unsigned(i));
    if (given) {
      map.map(argument, given);
      continue;
    }
    bool query = !queryArgument;
    (query ? queryArgument : keyArgument) = argument;
    map.map(argument, query ? ownQuery : ownKey);
  }
  for (size_t i = arguments.size(); i < block.getNumArguments(); ++i)
    capturedTensors[block.getArgument(unsigned(i))] = captured[i - arguments.size()];
  return cloneBlock(block, in, map);
}

} // namespace attn
