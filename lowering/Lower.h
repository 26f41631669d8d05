// From the planned attn dialect to a module of entries and kernels over tiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_LOWER_H
#define ATTN_LOWERING_LOWER_H

#include "lowering/AttentionForm.h"
#include "lowering/Precision.h"
#include "lowering/attend/Work.h"
#include "lowering/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace attn {

struct Lowered {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string metadata;              // docs/metadata.md; also in the module, for the runtime
  std::vector<AttendTiling> attends; // in the order of the plan, whose operations they name
};

struct LowerOptions {
  bool probe = false; // taps are shown
  bool count = false; // attentions count their tiles
  Precision precision = Precision::f32;
  AttentionForm attention = AttentionForm::automatic;
};

/// Lowers every exported function; failures are reported at the operation.
mlir::FailureOr<Lowered> lowerModule(mlir::ModuleOp planned, const Target &target, const LowerOptions &options);

} // namespace attn
#endif
