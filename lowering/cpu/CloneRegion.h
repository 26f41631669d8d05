// Cloning a region of scalar operations onto the lanes of a vector.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that are the same on every lane stay scalars and are broadcast where a vector needs them:
//
//     ^bb0(%i: i32, %a: f32, %b: f32):      %a on lanes, %b the same on all, %c from outside
//       %0 = arith.mulf %b, %c : f32    ⇒   %0 = arith.mulf %b, %c : f32
//       %1 = arith.addf %a, %0 : f32    ⇒   %1 = arith.addf %va, splat(%0) : vector<16xf32>
//
// Several spots of a tile may be cloned side by side, each with what its arguments have become: their operations
// alternate and they share their loops, so that a chain of one need not be waited for.
#ifndef ATTN_LOWERING_CPU_CLONEREGION_H
#define ATTN_LOWERING_CPU_CLONEREGION_H

#include "lowering/cpu/Vectors.h"
#include "mlir/IR/IRMapping.h"

namespace attn::cpu {

/// Reads `at.getTile()` at the cloned indices, for the spot of that number.
using ReadElement = llvm::function_ref<mlir::Value(tile::AtOp at, llvm::ArrayRef<mlir::Value> indices, size_t spot)>;

/// Clones the operations of `block` but its last at the builder's place, once for each spot. A spot's mapping says what
/// the arguments have become (vectors or scalars) and learns what the operations became.
void cloneOntoLanes(Vectors &vectors, mlir::Block &block, llvm::MutableArrayRef<mlir::IRMapping> spots,
                    ReadElement readElement);

} // namespace attn::cpu
#endif
