// attn-opt: reads MLIR text, runs the passes named on the command line, writes MLIR text; for tests and for looking.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnDialect.h"
#include "lowering/cpu/LowerTiles.h"
#include "lowering/tile/TileOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<attn::AttnDialect, attn::tile::TileDialect>();
  mlir::registerAllPasses();
  attn::registerPasses();
  attn::cpu::registerCpuPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "attn optimizer driver\n", registry));
}
