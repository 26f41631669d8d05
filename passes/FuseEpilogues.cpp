// attn-fuse-epilogues: what is done to the result of a product is done while it is in the cache.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %y = attn.linear @w (%x [T, E]) -> [T, F] { yield acc }
//   %z = attn.map (%y [T, F], %b [F]) -> [T, F] { gelu(y + b) }   =>   %z = attn.linear @w (%x [T, E], %b [F]) -> [T,
//   F] { gelu(acc + b) }
//
// Conditions: the map has the product's dimensions, gives float32, stands in the same block and is the product's only
// reader. Of several products that a map reads, the last one takes it. With `biases` the map's other inputs must be
// weights: that much is fused before products over one tensor are joined, the rest (residuals, gates) after.
//
// Leaves true (without `biases`): no attn.map of the same dimensions is the only reader of an attn.linear.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Elementwise.h"
#include "passes/Passes.h"

using namespace mlir;

namespace attn {
namespace {

/// Why `map` can't move into `linear`, one of its inputs; empty if it can.
StringRef findObstacle(MapOp map, LinearOp linear, bool biases) {
  if (linear->getBlock() != map->getBlock())
    return "they stand in different blocks";
  if (!linear->hasOneUse())
    return "the product has other readers";
  if (linear.outDims().size() != map.outDims().size())
    return "the result is repeated along a dimension";
  if (!map.getType().getElementType().isF32())
    return "the result isn't float32";
  for (Value input : map.getInputs())
    if (biases && input != linear.getOutput() && !input.getDefiningOp<ParamOp>())
      return "another input is no weight";
  return {};
}

/// The names of `linear`'s operands and results where its result is called `names`.
struct LinearNames {
  LinearNames(LinearOp linear, DimsAttr names) : result(names) {
    Renaming renaming = renamingByPlace(linear.outDims(), names);
    for (size_t i = 1; i < linear.getInputs().size(); ++i)
      extras.push_back(rename(linear.inDims(i), renaming));
    // The summed dimension is nobody else's business: its name gives way.
    DimsAttr in = linear.inDims(0);
    SmallVector<StringAttr> rowNames(names.getNames().take_front(in.size() - 1));
    rowNames.push_back(freshName(names.getContext(), in.dim(in.size() - 1), names));
    rows = makeDims(names.getContext(), rowNames);
  }
  DimsAttr rows, result;
  SmallVector<DimsAttr> extras;
};

/// The map's region behind the product's.
void mergeBodies(LinearOp linear, const LinearNames &names, MapOp map, ElementwiseBody &body) {
  SmallVector<Value> arguments = {body.leading(linear.getBody().getArgument(0).getType())};
  for (auto [extra, dims] : llvm::zip(linear.getInputs().drop_front(), names.extras))
    arguments.push_back(body.argument(extra, dims));
  Value product = body.inlined(linear.getBody().front(), arguments);
  SmallVector<Value> mapArguments;
  for (auto [i, input] : llvm::enumerate(map.getInputs()))
    mapArguments.push_back(input == linear.getOutput() ? product : body.argument(input, map.inDims(i)));
  body.yield(body.inlined(map.getBody().front(), mapArguments));
}

void moveInto(LinearOp linear, unsigned i, MapOp map, PatternRewriter &rewriter) {
  MLIRContext *context = map.getContext();
  LinearNames names(linear, map.inDims(i));
  ElementwiseBody body(map.getLoc());
  mergeBodies(linear, names, map, body);
  SmallVector<Value> inputs = {linear.getInputs().front()};
  llvm::append_range(inputs, body.inputs);
  SmallVector<DimsAttr> dims = {names.rows};
  llvm::append_range(dims, body.dims);
  auto fused = LinearOp::create(rewriter, map.getLoc(), linear.getType(), linear.getWeightAttr(), linear.getTurns(),
                                inputs, makeDimsArray(context, dims), makeDimsArray(context, names.result));
  fused.getBody().takeBody(body.region);
  rewriter.replaceOp(map, permuteTo(rewriter, map.getLoc(), fused, names.result, map.outDims()));
  rewriter.eraseOp(linear);
}

struct FuseEpilogue : OpRewritePattern<MapOp> {
  FuseEpilogue(MLIRContext *context, bool onlyBiases) : OpRewritePattern(context), biases(onlyBiases) {}

  LogicalResult matchAndRewrite(MapOp map, PatternRewriter &rewriter) const final {
    std::optional<unsigned> last;
    StringRef obstacle = "it reads no product";
    for (unsigned i = 0; i < map.getInputs().size(); ++i) {
      auto linear = map.getInputs()[i].getDefiningOp<LinearOp>();
      if (!linear)
        continue;
      obstacle = findObstacle(map, linear, biases);
      if (obstacle.empty() && (!last || map.getInputs()[*last].getDefiningOp()->isBeforeInBlock(linear)))
        last = i;
    }
    if (!last)
      return rewriter.notifyMatchFailure(map, obstacle);
    moveInto(map.getInputs()[*last].getDefiningOp<LinearOp>(), *last, map, rewriter);
    return success();
  }

  bool biases;
};

struct FuseEpilogues : PassWrapper<FuseEpilogues, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FuseEpilogues)
  FuseEpilogues() = default;
  FuseEpilogues(const FuseEpilogues &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "attn-fuse-epilogues"; }
  StringRef getDescription() const final { return "what is done to the result of a product becomes its region"; }
  Option<bool> biases{*this, "biases", llvm::cl::desc("only functions of the product and of weights"),
                      llvm::cl::init(false)};

  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseEpilogue>(&getContext(), biases);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      getOperation().emitError("internal error: attn-fuse-epilogues does not come to an end");
      signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createFuseEpilogues(bool biases) {
  auto pass = std::make_unique<FuseEpilogues>();
  pass->biases = biases;
  return pass;
}

} // namespace attn
