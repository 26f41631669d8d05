// Short words for the IR that lowering writes most: i64 arithmetic, addresses, loops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts, indices and strides are i64 everywhere (scf.for too); there is no `index` and no memref below the attn
// dialect. Constants fold as they are written: `mul(x, constant(1))` is x.
#ifndef ATTN_LOWERING_IR_H
#define ATTN_LOWERING_IR_H

#include "mlir/IR/Builders.h"
#include <functional>
#include <optional>

namespace attn {

class Ir : public mlir::OpBuilder {
public:
  explicit Ir(mlir::Location where, const mlir::OpBuilder &at) : OpBuilder(at), loc(where) {}

  mlir::Location loc;

  mlir::Type i8();
  mlir::Type i32();
  mlir::Type i64();
  mlir::Type f32();
  mlir::Type ptr(); // !llvm.ptr

  mlir::Value constant(int64_t number);                   // i64
  mlir::Value constant32(int32_t number);                 // i32
  mlir::Value number(double value);                       // f32
  static std::optional<int64_t> known(mlir::Value value); // the number of an integer constant

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);     // of numbers >= 0
  mlir::Value rem(mlir::Value a, mlir::Value b);     // of numbers >= 0
  mlir::Value ceilDiv(mlir::Value a, mlir::Value b); // of numbers >= 0
  mlir::Value min(mlir::Value a, mlir::Value b);     // signed
  mlir::Value max(mlir::Value a, mlir::Value b);     // signed
  mlir::Value less(mlir::Value a, mlir::Value b);    // signed, i1

  /// pointer + index elements of `element` (i1 counts as i8).
  mlir::Value address(mlir::Value pointer, mlir::Type element, mlir::Value index);
  /// One element; i1 is a byte in memory.
  mlir::Value load(mlir::Type element, mlir::Value pointer);
  mlir::Value load(mlir::Type element, mlir::Value pointer, mlir::Value index);
  void store(mlir::Value value, mlir::Value pointer);
  void store(mlir::Value value, mlir::Value pointer, mlir::Value index);

  /// for (i = lower; i < upper; i += step) body(i). The builder stands inside during `body` and behind the loop
  /// afterwards.
  void loop(mlir::Value lower, mlir::Value upper, mlir::Value step, std::function<void(mlir::Value)> body);
  void loop(mlir::Value upper, std::function<void(mlir::Value)> body) { loop(constant(0), upper, constant(1), body); }
  /// The same with values carried along; returns the last ones.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value lower, mlir::Value upper, mlir::Value step, mlir::ValueRange carried,
       std::function<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  void when(mlir::Value condition, std::function<void()> body);
};

} // namespace attn
#endif
