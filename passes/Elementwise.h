// Elementwise regions under construction: tensors come in by name, other regions are inlined.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.map and the epilogue of attn.linear are scalar regions with one argument an input tensor. To merge two of them a
// new region is built: the first's operations with its inputs renamed to the second's dimensions, then the second's,
// fed with the first's value. Every tensor comes in once for each way of naming it.
#ifndef ATTN_PASSES_ELEMENTWISE_H
#define ATTN_PASSES_ELEMENTWISE_H

#include "mlir/IR/Builders.h"
#include "passes/Names.h"

namespace attn {

class ElementwiseBody {
public:
  explicit ElementwiseBody(mlir::Location where) : loc(where) { region.emplaceBlock(); }

  /// A first argument that is no input tensor: `acc` of attn.linear. Before any `argument`.
  mlir::Value leading(mlir::Type type);
  /// The scalar of `tensor`, whose dimensions are called `dims` here.
  mlir::Value argument(mlir::Value tensor, DimsAttr dims);
  /// The operations of `block` on `arguments`; returns what it yields.
  mlir::Value inlined(mlir::Block &block, mlir::ValueRange arguments);
  /// The scalar that `producer` computes, where its result is called `dims`.
  mlir::Value computed(MapOp producer, DimsAttr dims);
  void yield(mlir::Value value);

  /// Builds at the region's end.
  mlir::OpBuilder builder();
  mlir::ArrayAttr inputDims(mlir::MLIRContext *context) const { return makeDimsArray(context, dims); }

  mlir::Region region;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<DimsAttr> dims;

private:
  mlir::Location loc;
  unsigned numLeading = 0;
};

/// attn.map with that body; its result has `type` and the dimensions `dims`.
MapOp createMap(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, DimsAttr dims, ElementwiseBody &body);

/// The number of operations of an elementwise region that compute something: no constants, no yield.
unsigned countWork(mlir::Block &block);

/// The value that `block` yields, if it yields one.
mlir::Value yieldedValue(mlir::Block &block);

/// The floating-point or integer constant that `value` is.
std::optional<double> constantValue(mlir::Value value);

} // namespace attn
#endif
