// Weight symbols as passes make them: another shape of the same tensor, several tensors as one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Weights.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace attn {

WeightOp findWeight(Operation *op, FlatSymbolRefAttr symbol) {
  return op->getParentOfType<ModuleOp>().lookupSymbol<WeightOp>(symbol.getValue());
}

ArrayRef<int64_t> weightShape(WeightOp weight) {
  return cast<RankedTensorType>(weight.getType()).getShape();
}

/// What tells one weight symbol from another, names aside.
static DictionaryAttr describeWeight(WeightOp weight) {
  NamedAttrList attributes(weight->getAttrDictionary());
  attributes.erase(weight.getSymNameAttrName());
  attributes.erase(weight.getWhereAttrName());
  attributes.set(weight.getRowsAttrName(), weight.getRowsAttr());
  attributes.set(weight.getTurnsAttrName(), weight.getTurnsAttr());
  attributes.set(weight.getStoredAttrName(), weight.getStoredAttr());
  return attributes.getDictionary(weight.getContext());
}

/// Puts `weight` behind `after` unless the module has its like; returns the symbol to use.
static FlatSymbolRefAttr insertWeight(WeightOp weight, WeightOp after) {
  auto module = after->getParentOfType<ModuleOp>();
  DictionaryAttr description = describeWeight(weight);
  for (WeightOp other : module.getOps<WeightOp>())
    if (describeWeight(other) == description) {
      weight.erase();
      return FlatSymbolRefAttr::get(other.getSymNameAttr());
    }
  SymbolTable symbols(module);
  symbols.insert(weight, std::next(Block::iterator(after)));
  return FlatSymbolRefAttr::get(weight.getSymNameAttr());
}

/// The rows of each part: those said, or all of dimension 0 where there is one part and nothing is said.
static SmallVector<int64_t> rowsOf(WeightOp weight) {
  if (!weight.getRows().empty())
    return SmallVector<int64_t>(weight.getRows());
  return {weightShape(weight).front()};
}

FlatSymbolRefAttr getRetypedWeight(WeightOp like, ArrayRef<int64_t> shape, StringRef stored, ArrayRef<int64_t> rows) {
  OpBuilder builder(like.getContext());
  auto weight = cast<WeightOp>(builder.clone(*like));
  Type element = cast<RankedTensorType>(like.getType()).getElementType();
  weight.setType(RankedTensorType::get(shape, element));
  weight.setStored(stored);
  weight.setRows(rows);
  return insertWeight(weight, like);
}

FlatSymbolRefAttr getJoinedWeight(ArrayRef<WeightOp> weights, ArrayRef<int64_t> shape) {
  WeightOp first = weights.front();
  OpBuilder builder(first.getContext());
  auto joined = cast<WeightOp>(builder.clone(*first));
  SmallVector<Attribute> parts;
  SmallVector<int64_t> rows;
  std::string name;
  int64_t inner = ShapedType::getNumElements(shape.drop_front());
  for (WeightOp weight : weights) {
    llvm::append_range(parts, weight.getParts());
    int64_t own = ShapedType::getNumElements(weightShape(weight).drop_front());
    for (int64_t row : rowsOf(weight))
      rows.push_back(row * own / inner);
    name += (name.empty() ? "" : "_") + weight.getSymName().str();
  }
  Type element = cast<RankedTensorType>(joined.getType()).getElementType();
  joined.setSymName(name);
  joined.setPartsAttr(builder.getArrayAttr(parts));
  joined.setRows(rows);
  joined.setType(RankedTensorType::get(shape, element));
  return insertWeight(joined, weights.back());
}

void eraseUnusedWeights(ModuleOp module) {
  llvm::DenseSet<StringAttr> used;
  module.walk([&](Operation *op) {
    if (auto param = dyn_cast<ParamOp>(op))
      used.insert(param.getWeightAttr().getAttr());
    else if (auto linear = dyn_cast<LinearOp>(op))
      used.insert(linear.getWeightAttr().getAttr());
  });
  for (WeightOp weight : llvm::make_early_inc_range(module.getOps<WeightOp>()))
    if (!used.contains(weight.getSymNameAttr()))
      weight.erase();
}

} // namespace attn
