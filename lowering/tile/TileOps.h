// The tile dialect: its type and operations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_TILE_TILEOPS_H
#define ATTN_LOWERING_TILE_TILEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "lowering/tile/TileDialect.h.inc"
#include "lowering/tile/TileEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "lowering/tile/TileTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "lowering/tile/TileAttrs.h.inc"
#define GET_OP_CLASSES
#include "lowering/tile/TileOps.h.inc"

#endif
