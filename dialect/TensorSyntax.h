// The text form of tensor operands and results: `%x : tensor<?x384xf32> [T, E]`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_TENSORSYNTAX_H
#define ATTN_DIALECT_TENSORSYNTAX_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/OpImplementation.h"

namespace attn {

/// `[T, S:T, "F|F"]`
mlir::ParseResult parseDims(mlir::AsmParser &parser, DimsAttr &dims);
void printDims(mlir::AsmPrinter &printer, DimsAttr dims);

/// `(%a : type [A, B], %b : type [B])`
mlir::ParseResult parseTensors(mlir::OpAsmParser &parser,
                               llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &inputs,
                               llvm::SmallVectorImpl<mlir::Type> &types, mlir::ArrayAttr &dims);
void printTensors(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange inputs, mlir::TypeRange types,
                  mlir::ArrayAttr dims);

/// `type [A, B]`
mlir::ParseResult parseResults(mlir::OpAsmParser &parser, mlir::Type &type, mlir::ArrayAttr &dims);
void printResults(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type type, mlir::ArrayAttr dims);

/// `(type [A, B], type [A])`, or one without parentheses
mlir::ParseResult parseResultList(mlir::OpAsmParser &parser, llvm::SmallVectorImpl<mlir::Type> &types,
                                  mlir::ArrayAttr &dims);
void printResultList(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::TypeRange types, mlir::ArrayAttr dims);

} // namespace attn
#endif
