// Elaborate.h: from syntax trees and a configuration to a module of the attn dialect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elaboration runs the program once with everything known that can be known when compiling: sizes, switches, names of
// weights, depths. What is left, tensors of sequences of unknown length, becomes operations. Functions are inlined,
// `if` takes one side, `repeat` becomes one loop wherever its turns differ only in the names of their weights.
#ifndef ATTN_FRONTEND_ELABORATE_H
#define ATTN_FRONTEND_ELABORATE_H

#include "frontend/Ast.h"
#include "frontend/Config.h"
#include "frontend/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>

namespace attn {

struct ElaborateOptions {
  std::string model;     ///< name of the module; the file's without its suffix where empty
  bool strict = false;   ///< a warning about unread keys is an error
  bool noConfig = false; ///< nobody said where config.json is
  /// Gives the parsed file of `use "…"`, or null after an error.
  std::function<const File *(llvm::StringRef path, llvm::SMRange where)> open;
};

/// Elaborates every export of `file`, with the functions of `library` visible behind its own. Null after an error.
/// The module is verified; all dialects it needs are loaded into `context`.
mlir::OwningOpRef<mlir::ModuleOp> elaborate(const File &file, llvm::ArrayRef<const File *> library, Config &config,
                                            Diagnostics &diags, mlir::MLIRContext &context,
                                            const ElaborateOptions &options = {});

} // namespace attn

#endif // ATTN_FRONTEND_ELABORATE_H
