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

FlatSymbolRefAttr getRetypedWeight(WeightOp like, ArrayRef<int64_t> shape, StringRef stored, ArrayRef<int64_t> rows,
                                   bool joins) {
  OpBuilder builder(like.getContext());
  auto weight = cast<WeightOp>(builder.clone(*like));
  Type element = cast<RankedTensorType>(like.getType()).getElementType();
  weight.setType(RankedTensorType::get(shape, element));
  weight.setStored(stored);
  weight.setRows(rows);
  if (joins && !weight->hasAttr(weightFileAttr))
    weight->setAttr(weightFileAttr, builder.getDenseI64ArrayAttr(weightShape(like)));
  return insertWeight(weight, like);
}

/// `a.{q,k,v}.b` for a.q.b, a.k.b, a.v.b, as a.q_k_v.b: what names have in common, up to a dot, is said once.
static std::string joinNames(ArrayRef<WeightOp> weights) {
  SmallVector<StringRef> names;
  for (WeightOp weight : weights)
    names.push_back(weight.getSymName());
  StringRef first = names.front(), prefix = first, suffix = first;
  for (StringRef name : names) {
    size_t start = 0;
    while (start < std::min(prefix.size(), name.size()) && prefix[start] == name[start])
      ++start;
    prefix = prefix.take_front(start);
    size_t same = 0;
    while (same < std::min(suffix.size(), name.size()) && suffix.rbegin()[same] == name.rbegin()[same])
      ++same;
    suffix = suffix.take_back(same);
  }
  prefix = prefix.take_front(prefix.rfind('.') + 1); // nothing if there is no dot
  suffix = suffix.contains('.') ? suffix.drop_front(suffix.find('.')) : "";
  // The dot between both may be one and the same.
  if (llvm::any_of(names, [&](StringRef name) { return name.size() < prefix.size() + suffix.size(); }))
    suffix = "";
  std::string joined = prefix.str();
  for (auto [i, name] : llvm::enumerate(names))
    joined += (i ? "_" : "") + name.drop_front(prefix.size()).drop_back(suffix.size()).str();
  return joined + suffix.str();
}

FlatSymbolRefAttr getJoinedWeight(ArrayRef<WeightOp> weights, ArrayRef<int64_t> shape) {
  WeightOp first = weights.front();
  OpBuilder builder(first.getContext());
  auto joined = cast<WeightOp>(builder.clone(*first));
  SmallVector<Attribute> parts;
  SmallVector<int64_t> rows;
  int64_t inner = ShapedType::getNumElements(shape.drop_front());
  for (WeightOp weight : weights) {
    llvm::append_range(parts, weight.getParts());
    int64_t own = ShapedType::getNumElements(weightShape(weight).drop_front());
    for (int64_t row : rowsOf(weight))
      rows.push_back(row * own / inner);
  }
  Type element = cast<RankedTensorType>(joined.getType()).getElementType();
  joined.setSymName(joinNames(weights));
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
