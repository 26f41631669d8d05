// attn-simplify, elementwise operations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %a = attn.map (%x [A, B]) -> [A, B] { f }
//   %b = attn.map (%a [T, E], %y [E]) -> [T, E] { g }    =>   %b = attn.map (%x [T, E], %y [E]) -> [T, E] { g . f }
//
// The producer must have no other reader, stand in the same block, and have as many dimensions as the consumer, so that
// nothing is computed twice; where its region computes nothing (constants, broadcasts) all of that doesn't matter. A
// constant tensor of one number is that number.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Elementwise.h"
#include "passes/Simplify.h"

using namespace mlir;

namespace attn {
namespace {

/// The map that produces operand `i` of `map`, if it is to move into it.
MapOp fusibleProducer(MapOp map, unsigned i) {
  auto producer = map.getInputs()[i].getDefiningOp<MapOp>();
  if (!producer)
    return {};
  if (countWork(producer.getBody().front()) == 0)
    return producer;
  bool sameSize = producer.outDims().size() == map.outDims().size();
  return sameSize && producer->hasOneUse() && producer->getBlock() == map->getBlock() ? producer : MapOp();
}

/// The number that every element of `tensor` is, if it is a constant of that kind.
TypedAttr splatNumber(Value tensor) {
  auto constant = tensor.getDefiningOp<arith::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  return splat ? splat.getSplatValue<TypedAttr>() : TypedAttr();
}

/// Rebuilds `map` with its producers inside, every input once and none unused.
void rebuild(PatternRewriter &rewriter, MapOp map) {
  Block &block = map.getBody().front();
  ElementwiseBody body(map.getLoc());
  SmallVector<Value> arguments;
  for (auto [i, input] : llvm::enumerate(map.getInputs())) {
    if (block.getArgument(i).use_empty())
      arguments.push_back(Value());
    else if (MapOp producer = fusibleProducer(map, i))
      arguments.push_back(body.computed(producer, map.inDims(i)));
    else if (TypedAttr number = splatNumber(input)) {
      OpBuilder inside = body.builder();
      arguments.push_back(arith::ConstantOp::create(inside, map.getLoc(), number));
    } else
      arguments.push_back(body.argument(input, map.inDims(i)));
  }
  body.yield(body.inlined(block, arguments));
  MapOp fused = createMap(rewriter, map.getLoc(), map.getType(), map.outDims(), body);
  rewriter.replaceOp(map, fused);
}

struct FuseMaps : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp map, PatternRewriter &rewriter) const final {
    for (unsigned i = 0; i < map.getInputs().size(); ++i)
      if (fusibleProducer(map, i) || splatNumber(map.getInputs()[i]))
        return rebuild(rewriter, map), success();
    return rewriter.notifyMatchFailure(map, "no input is a map of the same dimensions without another reader");
  }
};

/// An input that is there twice under the same names, or that the region doesn't read.
struct TidyInputs : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp map, PatternRewriter &rewriter) const final {
    for (unsigned i = 0; i < map.getInputs().size(); ++i) {
      bool twice = false;
      for (unsigned j = 0; j < i; ++j)
        twice |= map.getInputs()[i] == map.getInputs()[j] && sameNames(map.inDims(i), map.inDims(j));
      if (twice || map.getBody().getArgument(i).use_empty())
        return rebuild(rewriter, map), success();
    }
    return rewriter.notifyMatchFailure(map, "every input is there once and read");
  }
};

/// A map that gives back its input as it is, or transposed.
struct DropIdentityMap : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp map, PatternRewriter &rewriter) const final {
    auto argument = dyn_cast<BlockArgument>(yieldedValue(map.getBody().front()));
    if (!argument || argument.getOwner() != &map.getBody().front())
      return rewriter.notifyMatchFailure(map, "its region computes something");
    unsigned i = argument.getArgNumber();
    if (!sameSet(map.inDims(i), map.outDims()))
      return rewriter.notifyMatchFailure(map, "it repeats its input along a dimension");
    rewriter.replaceOp(map, permuteTo(rewriter, map.getLoc(), map.getInputs()[i], map.inDims(i), map.outDims()));
    return success();
  }
};

} // namespace

void addMapPatterns(RewritePatternSet &patterns) {
  patterns.add<FuseMaps, TidyInputs, DropIdentityMap>(patterns.getContext());
}

} // namespace attn
