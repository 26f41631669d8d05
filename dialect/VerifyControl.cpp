// Verifiers of weights, their uses, taps, repeats and exports; the numbered constraints are in docs/dialect.md.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <numeric>

using namespace mlir;
using namespace attn;

/// One more than the largest n of the `{n}` in a pattern.
static size_t countHoles(StringRef pattern) {
  size_t count = 0;
  for (size_t at = pattern.find('{'); at != StringRef::npos; at = pattern.find('{', at + 1)) {
    unsigned number;
    StringRef rest = pattern.drop_front(at + 1);
    if (!rest.consumeInteger(10, number) && rest.starts_with("}"))
      count = std::max<size_t>(count, number + 1);
  }
  return count;
}

// ---- weights

LogicalResult WeightOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape() || !type.getElementType().isF32() || type.getRank() == 0)
    return emitOpError("a weight is a static f32 tensor of rank 1 or more (weight_c1)");
  if (getParts().empty())
    return emitOpError("no tensor of the file (weight_c2)");
  ArrayRef<int64_t> rows = getRows();
  bool one = rows.empty() && getParts().size() == 1;
  if (!one &&
      (rows.size() != getParts().size() || std::accumulate(rows.begin(), rows.end(), int64_t(0)) != type.getDimSize(0)))
    return emitOpError("`rows` does not part dimension 0 among `parts` (weight_c3)");
  if (getStored() != "out_in" && getStored() != "in_out")
    return emitOpError() << "stored `" << getStored() << "`, not `out_in` or `in_out` (weight_c4)";
  for (int64_t turns : getTurns())
    if (turns < 1)
      return emitOpError() << turns << " turns (weight_c5)";
  for (auto part : getParts().getAsRange<StringAttr>())
    if (countHoles(part.getValue()) > getTurns().size())
      return emitOpError() << "`" << part.getValue() << "` has more holes than there are turns (weight_c6)";
  return success();
}

/// param_c1 and param_c2: the symbol is a weight and gets as many turns as it has.
static FailureOr<WeightOp> verifyWeightUse(Operation *op, FlatSymbolRefAttr symbol, ValueRange turns,
                                           SymbolTableCollection &symbols) {
  auto weight = symbols.lookupNearestSymbolFrom<WeightOp>(op, symbol);
  if (!weight)
    return op->emitOpError() << symbol << " is not a weight (param_c1)";
  if (turns.size() != weight.getTurns().size()) {
    auto error = op->emitOpError() << turns.size() << " turns for a weight of " << weight.getTurns().size()
                                   << " (param_c2)";
    error.attachNote(weight.getLoc()) << "declared here";
    return error;
  }
  return weight;
}

LogicalResult ParamOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<WeightOp> weight = verifyWeightUse(*this, getWeightAttr(), getTurns(), symbols);
  if (failed(weight))
    return failure();
  if (weight->getType() == getOutput().getType())
    return success();
  auto error = emitOpError() << "is not of the weight's type " << weight->getType() << " (param_c3)";
  error.attachNote(weight->getLoc()) << "declared here";
  return error;
}

LogicalResult LinearOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<WeightOp> weight = verifyWeightUse(*this, getWeightAttr(), getTurns(), symbols);
  if (failed(weight))
    return failure();
  Shape x{cast<RankedTensorType>(getInputs()[0].getType()), inDims(0)};
  Shape out{cast<RankedTensorType>(getOutput().getType()), outDims()};
  return report(*this, checkLinearWeight(x, cast<RankedTensorType>(weight->getType()), out));
}

// ---- taps and repeats

LogicalResult TapOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes)) || failed(verifyInputCount(*this, shapes, 1, "tap_c1")))
    return failure();
  if (countHoles(getName()) > getTurns().size())
    return emitOpError() << "`" << getName() << "` has more holes than there are turns (tap_c2)";
  return success();
}

/// repeat_c2 and repeat_c3: the block gets the number and the carried values, the first results are carried values.
static LogicalResult verifyCarried(RepeatOp op, const OpShapes &shapes) {
  SmallVector<Type> expected = {IntegerType::get(op.getContext(), 32)};
  llvm::append_range(expected, op.getInputs().getTypes());
  if (!op.getBody().hasOneBlock() || op.getBody().front().getArgumentTypes() != TypeRange(expected)) {
    auto error = op.emitOpError("the block's arguments are not the number and the carried values (repeat_c2)");
    error.attachNote() << "expected (" << TypeRange(expected) << ")";
    return error;
  }
  for (auto [i, input] : llvm::enumerate(shapes.inputs)) {
    bool same = i < shapes.outputs.size() && shapes.outputs[i].type == input.type &&
                sameSequences(input.type, input.dims, shapes.outputs[i].dims);
    if (!same)
      return op.emitOpError() << "result " << i << " is not of the type of the carried value (repeat_c3)";
  }
  return success();
}

LogicalResult RepeatOp::verify() {
  OpShapes shapes;
  if (failed(verifyTensors(*this, shapes, /*sharedNames=*/false)))
    return failure();
  if (static_cast<int64_t>(getLower()) < 0 || getUpper() < getLower())
    return emitOpError() << "from " << static_cast<int64_t>(getLower()) << " to " << static_cast<int64_t>(getUpper())
                         << " (repeat_c1)";
  return verifyCarried(*this, shapes);
}

/// A stacked result: all turns, each of the yielded type.
static bool isStackOf(RankedTensorType result, RankedTensorType turn, int64_t turns) {
  return result.getRank() == turn.getRank() + 1 && result.getDimSize(0) == turns &&
         result.getShape().drop_front() == turn.getShape() && result.getElementType() == turn.getElementType();
}

/// The sequences of what is yielded are those that the result's names say; a stacked one has a dimension more.
static bool yieldsSequences(Value yielded, DimsAttr names, size_t skipped) {
  auto type = cast<RankedTensorType>(yielded.getType());
  DimsAttr produced = producedDims(yielded);
  if (!produced || produced.size() + skipped != names.size())
    return !produced;
  return sameSequences(type, produced, DimsAttr::get(names.getContext(), names.getNames().drop_front(skipped)));
}

LogicalResult RepeatOp::verifyRegions() {
  auto yield = getBody().front().empty() ? YieldOp() : dyn_cast<YieldOp>(getBody().front().back());
  if (!yield || yield.getNumOperands() != getNumResults())
    return emitOpError() << "the block does not yield " << getNumResults() << " values (repeat_c4)";
  for (auto [i, value] : llvm::enumerate(yield.getOperands())) {
    auto result = cast<RankedTensorType>(getResult(i).getType());
    auto turn = dyn_cast<RankedTensorType>(value.getType());
    bool carried = i < getInputs().size();
    int64_t turns = static_cast<int64_t>(getUpper() - getLower());
    if (!turn || (carried ? turn != result : !isStackOf(result, turn, turns)) ||
        !yieldsSequences(value, outDims(i), carried ? 0 : 1))
      return emitOpError() << "yielded value " << i << " does not make result " << i << " (repeat_c5)";
  }
  return success();
}

// ---- exports

/// The names of a parameter's or result's dimensions; reports where they are missing or do not fit.
static FailureOr<DimsAttr> verifyNamed(func::FuncOp function, Attribute attribute, Type of, StringRef what,
                                       unsigned i) {
  auto dims = dyn_cast_or_null<DimsAttr>(attribute);
  auto type = dyn_cast<RankedTensorType>(of);
  if (!dims || !type)
    return function.emitOpError() << what << " " << i << " is no tensor with `attn.dims` (function_c1)";
  if (Problem problem = checkNames({type, dims}))
    return function.emitOpError() << what << " " << i << ": " << *problem;
  return dims;
}

/// function_c3: every sequence of a parameter is declared, in order of first appearance.
static LogicalResult verifySequences(func::FuncOp function, ArrayRef<StringRef> found) {
  auto declared = function->getAttrOfType<ArrayAttr>("attn.sequences");
  bool same = declared && declared.size() == found.size();
  for (size_t i = 0; same && i < found.size(); ++i)
    same = isa<StringAttr>(declared[i]) && cast<StringAttr>(declared[i]).getValue() == found[i];
  if (same)
    return success();
  auto error = function.emitOpError("`attn.sequences` does not list the sequences of the parameters (function_c3)");
  std::string list;
  for (StringRef name : found)
    list += (list.empty() ? "\"" : ", \"") + name.str() + "\"";
  error.attachNote() << "expected [" << list << "]";
  return error;
}

/// function_c4: what is returned follows the sequences that the result's names say.
static LogicalResult verifyReturned(func::FuncOp function) {
  if (function.isExternal() || function.front().empty())
    return success();
  auto result = dyn_cast<func::ReturnOp>(function.front().back());
  for (unsigned i = 0; result && i < std::min(result.getNumOperands(), function.getNumResults()); ++i) {
    DimsAttr produced = producedDims(result.getOperand(i));
    auto dims = function.getResultAttrOfType<DimsAttr>(i, "attn.dims");
    auto type = dyn_cast<RankedTensorType>(result.getOperand(i).getType());
    if (produced && type && produced.size() == dims.size() && produced.size() == static_cast<size_t>(type.getRank()) &&
        !sameSequences(type, produced, dims))
      return function.emitOpError() << "result " << i << " is " << describe({type, dims}) << " but was made as "
                                    << describe({type, produced}) << " (function_c4)";
  }
  return success();
}

/// function_c5 and function_c6: `attn.cached` says along which sequence the function caches, and derived sequences stay
/// inside.
static LogicalResult verifyDerived(func::FuncOp function, ArrayRef<StringRef> sequences) {
  auto cached = function->getAttrOfType<StringAttr>("attn.cached");
  bool caches = false;
  function.walk([&](CacheOp) { caches = true; });
  if (caches != bool(cached) || (cached && !llvm::is_contained(sequences, cached.getValue())))
    return function.emitOpError("`attn.cached` does not name the sequence along which the function caches "
                                "(function_c5)");
  auto derived = [](StringRef name) { return !cachedSequence(name).empty() || !keptSequence(name).empty(); };
  for (StringRef name : sequences)
    if (derived(name))
      return function.emitOpError() << "a parameter is as long as `" << name << "` (function_c6)";
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto dims = function.getResultAttrOfType<DimsAttr>(i, "attn.dims");
    for (size_t d = 0; d < dims.size(); ++d)
      if (cast<RankedTensorType>(function.getResultTypes()[i]).isDynamicDim(d) && derived(dims.sequence(d)))
        return function.emitOpError() << "result " << i << " is as long as `" << dims.sequence(d) << "` (function_c6)";
  }
  return success();
}

LogicalResult attn::verifyExport(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    return op->emitOpError("only a function is an export (function_c1)");
  SmallVector<StringRef> sequences;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = function.getArgumentTypes()[i];
    FailureOr<DimsAttr> dims = verifyNamed(function, function.getArgAttr(i, "attn.dims"), type, "parameter", i);
    if (failed(dims))
      return failure();
    if (!function.getArgAttrOfType<StringAttr>(i, "attn.name"))
      return function.emitOpError() << "parameter " << i << " has no `attn.name` (function_c2)";
    for (size_t d = 0; d < dims->size(); ++d)
      if (cast<RankedTensorType>(type).isDynamicDim(d) && !llvm::is_contained(sequences, dims->sequence(d)))
        sequences.push_back(dims->sequence(d));
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(
            verifyNamed(function, function.getResultAttr(i, "attn.dims"), function.getResultTypes()[i], "result", i)))
      return failure();
  if (failed(verifySequences(function, sequences)) || failed(verifyDerived(function, sequences)))
    return failure();
  return verifyReturned(function);
}
