// ScalarOps.h: the scalar functions of the language, computed on numbers when compiling and emitted otherwise.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole numbers stay whole under + - * // % min max; `/` is real; a whole and a real number give a real one.
#ifndef ATTN_FRONTEND_SCALAROPS_H
#define ATTN_FRONTEND_SCALAROPS_H

#include "frontend/Values.h"
#include "mlir/IR/Builders.h"

namespace attn {

enum class ScalarOp {
  add,
  subtract,
  multiply,
  divide,
  floorDivide,
  modulo,
  power,
  negate,
  not_,
  and_,
  or_,
  less,
  lessEqual,
  greater,
  greaterEqual,
  equal,
  notEqual,
  exp,
  log,
  log2,
  sqrt,
  rsqrt,
  sin,
  cos,
  tanh,
  sigmoid,
  erf,
  abs,
  floor,
  min,
  max,
  clamp,
  select,
  copy,
};

/// The built-in function of one argument called so: exp, log, …
std::optional<ScalarOp> unaryFunction(StringRef name);

struct Folded {
  double value = 0;
  bool whole = false;
};
/// Booleans are 0 and 1.
Folded fold(ScalarOp op, llvm::ArrayRef<Folded> args);

/// An operand: an SSA value, or a number known when compiling.
struct Scalar {
  mlir::Value value;
  Folded number;
  Elem elem = Elem::f32; ///< of a number: i32 when whole, i1 for a boolean
};

/// What `op` gives on operands of these types. (A whole number counts as i32.)
Elem resultElem(ScalarOp op, llvm::ArrayRef<Elem> args);

mlir::Type typeOf(Elem elem, mlir::MLIRContext *context);
Elem elemOf(mlir::Type type);

/// Emits `op` at the builder's place.
mlir::Value emit(ScalarOp op, mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Scalar> args);
/// The value as `elem`: a constant, a conversion, or itself. Reals become whole by rounding down to their integer part.
mlir::Value convert(mlir::OpBuilder &builder, mlir::Location loc, const Scalar &scalar, Elem elem);

/// Takes truth values only / gives one.
bool isLogical(ScalarOp op);
bool isComparison(ScalarOp op);

} // namespace attn

#endif // ATTN_FRONTEND_SCALAROPS_H
