// The order of the passes below the attn dialect, and why it is this one. No pass is added anywhere else.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Pipelines.h"
#include "lowering/cpu/LowerTiles.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace attn {

void buildTilePipeline(OpPassManager &manager) {
  // Lengths, strides and addresses were written where they were needed, without looking for the same ones before.
  manager.addPass(createCSEPass());
  // From here on: entries and kernels over whole tiles, readable.
}

void buildVectorPipeline(OpPassManager &manager, const Target &target) {
  manager.addPass(cpu::createLowerTilesPass(target.name));
  // From here on: loops, vectors of the machine's width, addresses; no tile is left.

  // Index arithmetic was written without looking; what repeats goes before mathematics is expanded, which copies
  // nothing but makes every operation ten.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(cpu::createExpandMathPass(target.name));
  // From here on: no operation becomes a call of a mathematical library.
}

void buildLLVMPipeline(OpPassManager &manager) {
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass()); // what is one instruction: fused multiply-add, root, rounding
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  // From here on: the LLVM dialect alone.
}

} // namespace attn
