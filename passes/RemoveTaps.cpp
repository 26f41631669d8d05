// attn-remove-taps: nobody asked for probes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   attn.tap "hidden.{0}"[%l] (%x : tensor<?x384xf32> [T, E])   =>   nothing
//
// Leaves true: the module has no attn.tap, so a value has no use but those of the computation.
#include "dialect/AttnOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Passes.h"

using namespace mlir;

namespace attn {
namespace {

struct RemoveTaps : PassWrapper<RemoveTaps, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RemoveTaps)
  StringRef getArgument() const final { return "attn-remove-taps"; }
  StringRef getDescription() const final { return "drop every attn.tap"; }
  void runOnOperation() final {
    getOperation().walk([](TapOp tap) { tap.erase(); });
  }
};

} // namespace

std::unique_ptr<Pass> createRemoveTaps() {
  return std::make_unique<RemoveTaps>();
}

} // namespace attn
