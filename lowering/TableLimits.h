// What the tables of a function say of its caller's numbers: below what ids must stay, how many rows a sequence may
// have. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     table : tensor<514x768xf32>, indexed by attn.pos + 2        a sequence may have 512 rows
//     table : tensor<30522x384xf32>, indexed by a parameter       its numbers must be in 0 .. 30521
//
// Sums, differences, products and quotients with constants are followed back to the parameter or to attn.pos. Indices
// made in another way are only clamped, and so are those of look-ups that are chosen by a condition.
#ifndef ATTN_LOWERING_TABLELIMITS_H
#define ATTN_LOWERING_TABLELIMITS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace attn {

class TableLimits {
public:
  explicit TableLimits(mlir::func::FuncOp function);

  /// One more than the largest number that a parameter may hold; 0: any.
  int64_t ids(mlir::Value parameter) const { return idLimits.lookup(parameter); }
  /// The most rows of a sequence; 0: any number.
  int64_t rows(llvm::StringRef sequence) const { return rowLimits.lookup(sequence); }

private:
  struct Range {
    int64_t least, most;
  };

  void require(mlir::Value numbers, Range range);
  void requireScalar(mlir::Value number, mlir::Block &map, Range range);

  llvm::DenseMap<mlir::Value, int64_t> idLimits;
  llvm::StringMap<int64_t> rowLimits;
};

} // namespace attn
#endif
