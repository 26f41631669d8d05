// From tiles to loops over hardware vectors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// before                                         after
//   %x = tile.load %p strides [%s, 1] …            scf.for %row … { scf.for %column … step 16 {
//   %y = tile.map (%x) … { math.exp … }              %v = llvm.load … : vector<16xf32>
//   tile.store %y, %q …                              … llvm.store } }
//   %o = tile.dot kn %y, %w …                      llvm.call @attn_dot(…)
//
// A loaded tile is read where it is used. Maps, reductions and stores over the same elements become one loop; what
// leaves the loop gets scratch, in place where the operand dies. Tiles that a loop carries have one buffer each.
// Afterwards no tile operation is left.
#ifndef ATTN_LOWERING_CPU_LOWERTILES_H
#define ATTN_LOWERING_CPU_LOWERTILES_H

#include "lowering/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace mlir {
class Pass;
}

namespace attn::cpu {

/// Lowers every function of the module that holds tile operations.
mlir::LogicalResult lowerTiles(mlir::ModuleOp module, const Target &target);
/// Replaces math operations on f32 numbers and vectors by arithmetic: no call of a mathematical library is left.
mlir::LogicalResult expandMath(mlir::ModuleOp module, const Target &target);

/// The same as passes, for the machine of that name.
std::unique_ptr<mlir::Pass> createLowerTilesPass(llvm::StringRef target);
std::unique_ptr<mlir::Pass> createExpandMathPass(llvm::StringRef target);

/// Registers `attn-cpu-tiles` and `attn-cpu-math` for attn-opt; option `target=NAME`.
void registerCpuPasses();

} // namespace attn::cpu
#endif
