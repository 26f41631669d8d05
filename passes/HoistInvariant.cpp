// attn-hoist: what is the same in every turn of a loop is computed once, before it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   attn.repeat 0 to 32 (…) { … %c = attn.map (%angle) { cos } … }   =>   %c = attn.map (%angle) { cos }
//                                                                        attn.repeat 0 to 32 (…) { … }
//
// An operation is the same in every turn if it has no effect and nothing that it reads is made inside the loop: neither
// the number of the turn nor a carried value, nor what comes from them. It moves if it is dear (a product, a sum, a
// look-up, an elementwise operation with a function such as cos or a division in it), together with what it is made of.
//
// Leaves true: nothing dear in an attn.repeat or attn.scan is the same in every turn.
#include "dialect/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"

using namespace mlir;

namespace attn {
namespace {

bool isDear(Operation *op) {
  if (isa<ParamOp, PosOp, SessionOp, ReshapeOp, SliceOp, TapOp>(op) || !isa<AttnDialect>(op->getDialect()))
    return false;
  if (!isa<MapOp>(op))
    return true;
  WalkResult walk = op->walk([](Operation *inner) {
    bool function = isa<math::MathDialect>(inner->getDialect()) && !isa<math::AbsFOp, math::AbsIOp>(inner);
    return function || isa<arith::DivFOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Moves what is the same in every turn of `loop` before it, and counts what is dear of that.
int64_t hoist(Operation *loop) {
  Region &body = loop->getRegion(0);
  SetVector<Operation *> same;
  for (Operation &op : body.front().without_terminator()) {
    SetVector<Value> read(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), read);
    bool known = llvm::all_of(read, [&](Value value) {
      return !body.isAncestor(value.getParentRegion()) || same.contains(value.getDefiningOp());
    });
    if (known && isMemoryEffectFree(&op))
      same.insert(&op);
  }
  // A dear operation takes along what it is made of.
  SetVector<Operation *> moving;
  int64_t dear = 0;
  for (Operation *op : llvm::reverse(same)) {
    bool needed = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return llvm::any_of(moving, [&](Operation *moved) { return moved->isAncestor(user); });
    });
    dear += isDear(op);
    if (needed || isDear(op))
      moving.insert(op);
  }
  for (Operation *op : llvm::reverse(moving))
    op->moveBefore(loop);
  return dear;
}

struct HoistInvariant : PassWrapper<HoistInvariant, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistInvariant)
  StringRef getArgument() const final { return "attn-hoist"; }
  StringRef getDescription() const final { return "compute once what is the same in every turn of a loop"; }
  void runOnOperation() final {
    getOperation().walk([](Operation *op) {
      if (!isa<RepeatOp, ScanOp>(op))
        return;
      if (int64_t count = hoist(op))
        op->emitRemark() << count << (count == 1 ? " operation is" : " operations are")
                         << " the same in every turn and computed once";
    });
  }
};

} // namespace

std::unique_ptr<Pass> createHoistInvariant() {
  return std::make_unique<HoistInvariant>();
}

} // namespace attn
