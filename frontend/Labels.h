// Labels.h: names of dimensions on one operation of the attn dialect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On an operation every different dimension has a different label. A dimension is labelled by its name where that is
// free, otherwise by a fresh one: `_0` for one without a name, `T_1` for a second T.
#ifndef ATTN_FRONTEND_LABELS_H
#define ATTN_FRONTEND_LABELS_H

#include "dialect/AttnDialect.h"
#include "frontend/Dims.h"
#include "llvm/ADT/StringSet.h"

namespace attn {

class Labels {
public:
  using List = llvm::SmallVector<std::string, 4>;

  /// A label no dimension of the operation has yet.
  std::string give(DimRef dim);
  /// One for each dimension, all new.
  List give(DimsRef dims);
  /// `wanted` if it is free, else a fresh one; `dim` says of which sequence it is.
  std::string giveNamed(llvm::StringRef wanted, DimRef dim);

private:
  llvm::StringSet<> taken;
};

DimsAttr dimsAttr(mlir::MLIRContext *context, llvm::ArrayRef<std::string> labels);
/// The list for `in_dims`, `out_dims`.
mlir::ArrayAttr dimsArray(mlir::MLIRContext *context, llvm::ArrayRef<Labels::List> tensors);
/// The labels of a tensor whose dimension k is the operation's dimension places[k].
Labels::List pick(llvm::ArrayRef<std::string> labels, llvm::ArrayRef<unsigned> places);

} // namespace attn

#endif // ATTN_FRONTEND_LABELS_H
