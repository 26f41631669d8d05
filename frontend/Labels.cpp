// Labels.cpp: names of dimensions on one operation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Labels.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace attn {

std::string Labels::giveNamed(llvm::StringRef wanted, DimRef dim) {
  std::string label = wanted.str();
  if (label.empty() || !taken.insert(label).second) {
    std::string stem = wanted.str() + "_";
    for (unsigned n = wanted.empty() ? 0 : 1;; ++n) {
      label = stem + std::to_string(n);
      if (taken.insert(label).second)
        break;
    }
  }
  if (dim->isSequence() && label != dim->sequence)
    label += ":" + dim->sequence;
  return label;
}

/// `all T` of a message is `all.T` here.
std::string Labels::give(DimRef dim) {
  std::string label = dim->name;
  std::replace(label.begin(), label.end(), ' ', '.');
  return giveNamed(label, dim);
}

Labels::List Labels::give(DimsRef dims) {
  List labels;
  for (DimRef dim : dims)
    labels.push_back(give(dim));
  return labels;
}

DimsAttr dimsAttr(mlir::MLIRContext *context, llvm::ArrayRef<std::string> labels) {
  llvm::SmallVector<mlir::StringAttr> names;
  for (const std::string &label : labels)
    names.push_back(mlir::StringAttr::get(context, label));
  return DimsAttr::get(context, names);
}

mlir::ArrayAttr dimsArray(mlir::MLIRContext *context, llvm::ArrayRef<Labels::List> tensors) {
  llvm::SmallVector<mlir::Attribute> all;
  for (const Labels::List &labels : tensors)
    all.push_back(dimsAttr(context, labels));
  return mlir::ArrayAttr::get(context, all);
}

Labels::List pick(llvm::ArrayRef<std::string> labels, llvm::ArrayRef<unsigned> places) {
  Labels::List result;
  for (unsigned place : places)
    result.push_back(labels[place]);
  return result;
}

} // namespace attn
