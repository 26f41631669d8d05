// EmitObject.h: from a module of the LLVM dialect to LLVM IR, assembly or an object file, in memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_EMITOBJECT_H
#define ATTN_LOWERING_EMITOBJECT_H

#include "lowering/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace attn {

enum class ObjectKind { llvm, assembly, object };
enum class Sanitizer { none, address, thread };

struct ObjectOptions {
  ObjectKind kind = ObjectKind::object;
  Sanitizer sanitizer = Sanitizer::none;
};

/// Translates, optimises lightly and writes into `result`. The code is position independent, throws nothing and calls
/// only what the module declares (and memcpy, memmove, memset). Failures are reported on the module.
mlir::LogicalResult emitObject(mlir::ModuleOp module, const Target &target, const ObjectOptions &options,
                               llvm::SmallVectorImpl<char> &result);

} // namespace attn

#endif // ATTN_LOWERING_EMITOBJECT_H
