// Verifiers of what a session keeps and of scans; the numbered constraints are in docs/dialect.md.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attn;

// ---- places of the session

LogicalResult StateOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  bool rows = type.getRank() > 0 && type.isDynamicDim(0);
  for (int64_t i = 1; rows && i < type.getRank(); ++i)
    rows = !type.isDynamicDim(i);
  if (!rows || !(type.getElementType().isF32() || type.getElementType().isInteger(32)))
    return emitOpError() << "rows of a session are tensor<?x…> of f32 or i32, not " << type << " (state_c1)";
  for (int64_t turns : getTurns())
    if (turns < 1)
      return emitOpError() << turns << " turns (state_c2)";
  return success();
}

LogicalResult SessionOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)))
    return failure();
  if (shapes.outputs[0].rank() != 0 || !shapes.outputs[0].element().isInteger(32))
    return emitOpError() << "gives a tensor<i32>, not " << shapes.outputs[0].type << " (session_c1)";
  return success();
}

/// cache_c1 to cache_c4, for cache and once: the same rows along the derived sequence.
template <typename Op> static LogicalResult verifyKeeping(Op op, std::string (*derived)(StringRef)) {
  OpShapes shapes;
  if (failed(verifyTensors(op, shapes)) || failed(verifyInputCount(op, shapes, 1, "cache_c1")))
    return failure();
  const Shape &in = shapes.inputs[0], &out = shapes.outputs[0];
  if (in.rank() == 0 || !in.isDynamic(0))
    return op.emitOpError() << "the first dimension of " << describe(in) << " is no sequence (cache_c2)";
  StringRef along = in.dims.sequence(0);
  if (!cachedSequence(along).empty() || !keptSequence(along).empty())
    return op.emitOpError() << "keeps rows along `" << along << "`, which is derived (cache_c2)";
  bool fits = in.type == out.type && out.dims.sequence(0) == derived(along);
  for (size_t i = 1; fits && i < in.rank(); ++i)
    fits = in.dims.dim(i) == out.dims.dim(i);
  if (!fits)
    return op.emitOpError() << "makes of " << describe(in) << " a " << describe(out) << ", not the same rows along `"
                            << derived(along) << "` (cache_c3)";
  if (op->template getParentOfType<ScanOp>())
    return op.emitOpError("stands inside of a scan (cache_c4)");
  return success();
}

LogicalResult CacheOp::verify() {
  if (failed(verifyKeeping(*this, allRows)))
    return failure();
  auto function = (*this)->getParentOfType<func::FuncOp>();
  auto cached = function ? function->getAttrOfType<StringAttr>("attn.cached") : StringAttr();
  if (!cached || cached.getValue() != inDims(0).sequence(0))
    return emitOpError() << "caches rows along `" << inDims(0).sequence(0) << "`, the function along `"
                         << (cached ? cached.getValue() : StringRef("nothing")) << "` (cache_c8)";
  return success();
}

LogicalResult OnceOp::verify() {
  return verifyKeeping(*this, keptRows);
}

/// cache_c5 to cache_c7, for cache and once: the symbol is a place of that kind, of the turns and the type.
template <typename Op> static LogicalResult verifyStateUse(Op op, StateKind kind, SymbolTableCollection &symbols) {
  auto state = symbols.lookupNearestSymbolFrom<StateOp>(op, op.getStateAttr());
  if (!state || state.getKind() != kind)
    return op.emitOpError() << op.getStateAttr() << " is not a place of that kind (cache_c5)";
  bool sameTurns = op.getTurns().size() == state.getTurns().size();
  if (sameTurns && state.getType() == op.getOutput().getType())
    return success();
  auto error = op.emitOpError();
  if (!sameTurns)
    error << op.getTurns().size() << " turns for a place of " << state.getTurns().size() << " (cache_c6)";
  else
    error << "is not of the place's type " << state.getType() << " (cache_c7)";
  error.attachNote(state.getLoc()) << "declared here";
  return error;
}

LogicalResult CacheOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyStateUse(*this, StateKind::cache, symbols);
}

LogicalResult OnceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyStateUse(*this, StateKind::once, symbols);
}

// ---- scans

LogicalResult ScanOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes, /*sharedNames=*/false)))
    return failure();
  size_t sources = getSources();
  bool along = sources >= 1 && sources <= shapes.inputs.size();
  for (size_t i = 0; along && i < sources; ++i)
    along =
        shapes.inputs[i].rank() > 0 && shapes.inputs[i].isDynamic(0) && shapes.inputs[i].dims.sequence(0) == getAlong();
  if (!along)
    return emitOpError() << "its " << sources << " sources do not have rows along `" << getAlong() << "` (scan_c1)";
  SmallVector<Type> expected;
  for (size_t i = 0; i < shapes.inputs.size(); ++i) {
    RankedTensorType type = shapes.inputs[i].type;
    expected.push_back(i < sources ? RankedTensorType::get(type.getShape().drop_front(), type.getElementType()) : type);
  }
  if (!getBody().hasOneBlock() || getBody().front().getArgumentTypes() != TypeRange(expected)) {
    auto error = emitOpError("the block's arguments are not a row of each source and the carried values (scan_c2)");
    error.attachNote() << "expected (" << TypeRange(expected) << ")";
    return error;
  }
  for (size_t i = sources; i < shapes.inputs.size(); ++i) {
    const Shape &input = shapes.inputs[i];
    size_t place = i - sources;
    if (place >= shapes.outputs.size() || shapes.outputs[place].type != input.type ||
        !sameSequences(input.type, input.dims, shapes.outputs[place].dims))
      return emitOpError() << "result " << place << " is not of the type of the carried value (scan_c3)";
  }
  for (size_t i = shapes.inputs.size() - sources; i < shapes.outputs.size(); ++i) {
    const Shape &stacked = shapes.outputs[i];
    if (stacked.rank() == 0 || !stacked.isDynamic(0) || stacked.dims.sequence(0) != getAlong())
      return emitOpError() << "the stacked result " << i << " is not along `" << getAlong() << "` (scan_c4)";
  }
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  auto yield = getBody().front().empty() ? YieldOp() : dyn_cast<YieldOp>(getBody().front().back());
  if (!yield || yield.getNumOperands() != getNumResults())
    return emitOpError() << "the block does not yield " << getNumResults() << " values (scan_c5)";
  for (auto [i, value] : llvm::enumerate(yield.getOperands())) {
    size_t skipped = i < carried().size() ? 0 : 1;
    auto result = cast<RankedTensorType>(getResult(i).getType());
    auto turn = dyn_cast<RankedTensorType>(value.getType());
    DimsAttr produced = turn ? producedDims(value) : DimsAttr();
    ArrayRef<StringAttr> names = outDims(i).getNames().drop_front(skipped);
    bool fits = turn && turn.getShape() == result.getShape().drop_front(skipped) &&
                turn.getElementType() == result.getElementType();
    if (!fits || (produced && (produced.size() != names.size() ||
                               !sameSequences(turn, produced, DimsAttr::get(getContext(), names)))))
      return emitOpError() << "yielded value " << i << " does not make result " << i << " (scan_c6)";
  }
  return success();
}
