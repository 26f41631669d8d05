// What the verifiers of the attn dialect share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_VERIFY_H
#define ATTN_DIALECT_VERIFY_H
#include "dialect/Shapes.h"
#include "mlir/IR/Operation.h"

namespace attn {

/// The tensor operands and results of an operation with the names that it gives them.
struct OpShapes {
  llvm::SmallVector<Shape, 4> inputs, outputs;
};

/// tensor_c1 to tensor_c4, and tensor_c6: the producer of an operand says the same of sequences. Fills `shapes`.
/// `sharedNames`: tensor_c5 too, a name has one size in the whole operation.
mlir::LogicalResult verifyTensors(mlir::Operation *op, OpShapes &shapes, bool sharedNames = true);

/// Reports a problem, if there is one.
mlir::LogicalResult report(mlir::Operation *op, const Problem &problem);

/// All tensors hold f32; else reports `constraint`.
mlir::LogicalResult verifyFloats(mlir::Operation *op, llvm::ArrayRef<Shape> shapes, llvm::StringRef constraint);

/// `count` inputs, else reports `constraint`.
mlir::LogicalResult verifyInputCount(mlir::Operation *op, const OpShapes &shapes, size_t count,
                                     llvm::StringRef constraint);

/// The names that the producer of a tensor gave its dimensions; null where it gave none.
DimsAttr producedDims(mlir::Value value);

/// Dynamic dimensions of one tensor under two lists of names follow the same sequences.
bool sameSequences(mlir::RankedTensorType type, DimsAttr a, DimsAttr b);

/// region_c1 to region_c5: one block with arguments of those types, of scalar operations only, that yields one
/// `result`.
mlir::LogicalResult verifyScalarRegion(mlir::Operation *op, mlir::Region &region, llvm::StringRef called,
                                       mlir::TypeRange arguments, mlir::Type result);

/// function_c1 to function_c4, of a function with `attn.export`.
mlir::LogicalResult verifyExport(mlir::Operation *function);

} // namespace attn
#endif
