// The scalar regions of map, linear and attend, run over and over.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A region is read once into a list of steps over numbered slots, so that running it costs no look-up by value.
#ifndef ATTN_DIALECT_INTERPRETER_SCALARS_H
#define ATTN_DIALECT_INTERPRETER_SCALARS_H
#include "dialect/interpreter/Tensor.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace attn::interpreter {

/// What a scalar operation computes from the values of its operands; null if it is none of the closed list.
using Function = std::function<double(const double *operands)>;
Function findFunction(mlir::Operation *op);

/// A tensor that `attn.at` reads.
struct Rows {
  const double *numbers = nullptr;
  Sizes sizes, strides;

  Rows() = default;
  explicit Rows(const Tensor &tensor);
};

class ScalarProgram {
public:
  /// Reads a block that ends in `attn.yield` of one scalar. `outside` gives scalars defined outside of the block.
  ScalarProgram(mlir::Block &block, llvm::function_ref<double(mlir::Value)> outside);

  ScalarProgram(const ScalarProgram &) = delete; // its steps point at it

  void setNumber(unsigned argument, double number) { slots[arguments[argument]] = number; }
  void setRows(unsigned argument, const Rows &rows) { tensors[arguments[argument]] = rows; }
  /// Other numbers of the same sizes.
  void moveRows(unsigned argument, const double *numbers) { tensors[arguments[argument]].numbers = numbers; }
  double run();
  /// Whether the block reads that argument.
  bool uses(unsigned argument) const { return used[argument]; }

private:
  using Steps = std::vector<std::function<void()>>;

  unsigned slotOf(mlir::Value value);
  /// The same; a value from outside gets its number.
  unsigned knownSlotOf(mlir::Value value);
  void read(mlir::Block &block, Steps &into);
  void readAt(mlir::Operation *op, Steps &into);
  void readFold(mlir::Operation *op, Steps &into);
  void readFunction(mlir::Operation *op, Steps &into);

  llvm::function_ref<double(mlir::Value)> outside;
  llvm::DenseMap<mlir::Value, unsigned> numbering;
  std::vector<unsigned> arguments;
  std::vector<bool> used;
  std::vector<double> slots;
  std::vector<Rows> tensors;
  Steps steps;
  unsigned yielded = 0;
};

} // namespace attn::interpreter
#endif
