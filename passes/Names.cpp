// Dimension names as passes handle them: renaming by place, comparing, finding a free one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Names.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace attn {

Renaming renamingByPlace(DimsAttr from, DimsAttr to) {
  Renaming renaming;
  for (size_t i = 0; i < from.size(); ++i)
    renaming[from.dim(i)] = to.getNames()[i];
  return renaming;
}

DimsAttr rename(DimsAttr dims, const Renaming &renaming) {
  SmallVector<StringAttr> names;
  for (size_t i = 0; i < dims.size(); ++i) {
    auto found = renaming.find(dims.dim(i));
    names.push_back(found == renaming.end() ? dims.getNames()[i] : found->second);
  }
  return makeDims(dims.getContext(), names);
}

bool sameNames(DimsAttr a, DimsAttr b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a.dim(i) != b.dim(i))
      return false;
  return true;
}

bool sameSet(DimsAttr a, DimsAttr b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (b.find(a.dim(i)) < 0)
      return false;
  return true;
}

StringAttr freshName(MLIRContext *context, StringRef wish, ArrayRef<DimsAttr> taken) {
  auto isTaken = [&](StringRef name) {
    return llvm::any_of(taken, [&](DimsAttr dims) { return dims.find(name) >= 0; });
  };
  std::string name = wish.str();
  for (unsigned number = 1; isTaken(name); ++number)
    name = wish.str() + std::to_string(number);
  return StringAttr::get(context, name);
}

DimsAttr makeDims(MLIRContext *context, ArrayRef<StringAttr> names) {
  return DimsAttr::get(context, names);
}

ArrayAttr makeDimsArray(MLIRContext *context, ArrayRef<DimsAttr> dims) {
  return ArrayAttr::get(context, SmallVector<Attribute>(dims.begin(), dims.end()));
}

Value reshapeTo(OpBuilder &builder, Location loc, Value value, DimsAttr from, DimsAttr to, ArrayRef<int64_t> sizes) {
  MLIRContext *context = builder.getContext();
  Type type = RankedTensorType::get(sizes, tensorType(value).getElementType());
  return ReshapeOp::create(builder, loc, type, value, makeDimsArray(context, from), makeDimsArray(context, to));
}

Value permuteTo(OpBuilder &builder, Location loc, Value value, DimsAttr from, DimsAttr to) {
  if (sameNames(from, to))
    return value;
  SmallVector<int64_t> sizes;
  for (size_t i = 0; i < to.size(); ++i)
    sizes.push_back(tensorType(value).getDimSize(from.find(to.dim(i))));
  return reshapeTo(builder, loc, value, from, to, sizes);
}

} // namespace attn
