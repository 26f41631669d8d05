// Expressions of a mask's plan (passes/masks/Numbers.h) as code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_ATTEND_PLANCODE_H
#define ATTN_LOWERING_ATTEND_PLANCODE_H

#include "lowering/Ir.h"
#include "lowering/View.h"
#include "passes/masks/Numbers.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

class PlanCode {
public:
  /// What the leaves are, i64.
  struct Leaves {
    mlir::Value firstQuery, lastQuery, finalKey, firstHead, lastHead;
    std::function<mlir::Value(mlir::Value)> scalar;
    std::function<const Local &(int64_t table)> table;
    std::function<mlir::Value(int64_t table)> sorted; // i1; null where nobody looked
  };

  PlanCode(Ir &builder, Leaves given) : ir(builder), leaves(std::move(given)) {}

  /// Computes here what in the expression does not depend on keys.
  void prepare(masks::Number number);
  /// The expression where the keys looked at are these, i64; what was prepared is used.
  mlir::Value emit(masks::Number number, mlir::Value firstKey, mlir::Value lastKey);
  /// The same of a truth value, i1.
  mlir::Value emitTruth(masks::Number number, mlir::Value firstKey, mlir::Value lastKey);

private:
  using Known = llvm::DenseMap<masks::Number, mlir::Value>;
  Known forKeys(masks::Number number, mlir::Value firstKey, mlir::Value lastKey);
  mlir::Value emit(masks::Number number, Known &known);
  mlir::Value compute(masks::Number number, Known &known);
  mlir::Value floorDiv(masks::Number number, Known &known);
  mlir::Value truth(masks::Number number, Known &known);
  mlir::Value entry(int64_t table, mlir::Value place);
  mlir::Value extreme(masks::Number number, mlir::Value from, mlir::Value to);
  mlir::Value below(int64_t table, mlir::Value number);

  Ir &ir;
  Leaves leaves;
  Known prepared;
};

} // namespace attn
#endif
