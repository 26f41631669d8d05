// Runs what a verify.json says through the interpreter and compares with the reference's values.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/verify.md says what the file holds. Every tensor of io.safetensors must be consumed or compared.
#ifndef ATTN_TOOLS_INTERPRET_VERIFYMODEL_H
#define ATTN_TOOLS_INTERPRET_VERIFYMODEL_H
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>

namespace attn::interpreter {

struct VerifyOptions {
  double tolerance;
  /// Greedy decoding forgets what is cached after every step, and should be wrong.
  bool forget = false;
};

/// Prints a line for each tensor compared; false if one is off by more than the tolerance of its largest value (five
/// times as much for `padded.*`, which were computed in float32).
llvm::Expected<bool> verifyModel(mlir::ModuleOp module, const std::string &folder, const VerifyOptions &options);

} // namespace attn::interpreter
#endif
