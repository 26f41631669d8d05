// The passes of lowering/cpu/ for attn-opt.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/LowerTiles.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace attn::cpu {
namespace {

/// A pass over the module for a machine named by option `target`.
template <typename Self> struct CpuPass : PassWrapper<Self, OperationPass<ModuleOp>> {
  CpuPass() = default;
  CpuPass(const CpuPass &other) : PassWrapper<Self, OperationPass<ModuleOp>>(other) {}

  Pass::Option<std::string> name{*this, "target", llvm::cl::desc("the machine, as --mcpu spells it"),
                                 llvm::cl::init("native")};

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect, LLVM::LLVMDialect,
                    tile::TileDialect>();
  }

  void runOnOperation() override {
    std::optional<Target> target = findTarget(name);
    if (!target) {
      this->getOperation().emitError() << "unknown machine `" << name << "`";
      return this->signalPassFailure();
    }
    if (failed(static_cast<Self *>(this)->apply(this->getOperation(), *target)))
      this->signalPassFailure();
  }
};

struct TilesPass : CpuPass<TilesPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TilesPass)
  StringRef getArgument() const override { return "attn-cpu-tiles"; }
  StringRef getDescription() const override { return "tiles become loops over vectors and scratch"; }
  static LogicalResult apply(ModuleOp module, const Target &target) { return lowerTiles(module, target); }
};

struct MathPass : CpuPass<MathPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MathPass)
  StringRef getArgument() const override { return "attn-cpu-math"; }
  StringRef getDescription() const override { return "math operations become arithmetic"; }
  static LogicalResult apply(ModuleOp module, const Target &target) { return expandMath(module, target); }
};

} // namespace

template <typename PassT> static std::unique_ptr<Pass> createFor(StringRef target) {
  auto pass = std::make_unique<PassT>();
  pass->name = target.str();
  return pass;
}

std::unique_ptr<Pass> createLowerTilesPass(StringRef target) {
  return createFor<TilesPass>(target);
}
std::unique_ptr<Pass> createExpandMathPass(StringRef target) {
  return createFor<MathPass>(target);
}

void registerCpuPasses() {
  PassRegistration<TilesPass>();
  PassRegistration<MathPass>();
}

} // namespace attn::cpu
