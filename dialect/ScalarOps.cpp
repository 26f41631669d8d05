// The closed list of scalar operations that may stand in the regions of the attn dialect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ScalarOps.h"
#include "mlir/IR/Operation.h"

using namespace mlir;

static constexpr StringLiteral names[] = {
    // numbers
    "arith.constant", "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf", "arith.negf",
    "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "math.absf", "math.ceil", "math.cos",
    "math.erf", "math.exp", "math.exp2", "math.floor", "math.fma", "math.log", "math.log2", "math.powf",
    "math.roundeven", "math.rsqrt", "math.sin", "math.sqrt", "math.tanh",
    // whole numbers and truth values
    "arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.remsi", "arith.floordivsi", "arith.ceildivsi",
    "arith.maxsi", "arith.minsi", "arith.andi", "arith.ori", "arith.xori", "math.absi",
    // comparisons, choice, conversions
    "arith.cmpf", "arith.cmpi", "arith.select", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.extui",
    "arith.extsi", "arith.trunci"};

ArrayRef<StringLiteral> attn::scalarOperations() {
  return names;
}

bool attn::isScalarType(Type type) {
  return type.isF32() || type.isInteger(32) || type.isInteger(1);
}

bool attn::isScalarOperation(Operation *op) {
  return llvm::is_contained(names, op->getName().getStringRef()) && llvm::all_of(op->getOperandTypes(), isScalarType) &&
         llvm::all_of(op->getResultTypes(), isScalarType);
}
