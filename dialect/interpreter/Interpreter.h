// The interpreter of the attn dialect: naive, in double, one sequence at a time; the judge of passes and of compiled
// code. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     Interpreter interpreter(module, weights);
//     FailureOr<std::vector<Tensor>> results = interpreter.run("hidden", {ids, types});
//     Session session;
//     interpreter.run("logits", {prompt}, {}, &session), interpreter.run("logits", {token}, {}, &session);
//
// It knows nothing of batches, buffers, threads, passes or lowering. Where it fails it has said why, at the operation.
#ifndef ATTN_DIALECT_INTERPRETER_INTERPRETER_H
#define ATTN_DIALECT_INTERPRETER_INTERPRETER_H
#include "dialect/interpreter/Session.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include <functional>

namespace attn {
class WeightOp;

namespace interpreter {

/// The numbers of a weight, of the sizes of its type, in the turns of the repeats around; says why if it fails.
using WeightProvider = std::function<mlir::FailureOr<Tensor>(WeightOp weight, llvm::ArrayRef<int64_t> turns)>;

/// Gets every tapped value under its name, turns filled in.
using TapHandler = std::function<void(llvm::StringRef name, const Tensor &value)>;

/// `"layer.{0}.{1}"` and 3, 4 is `"layer.3.4"`.
std::string fillTurns(llvm::StringRef pattern, llvm::ArrayRef<int64_t> turns);

class Interpreter {
public:
  Interpreter(mlir::ModuleOp ofModule, WeightProvider fromWeights) : module(ofModule), provider(fromWeights) {}

  void onTap(TapHandler handler) { tap = std::move(handler); }

  /// Runs a function on one sequence: one input a parameter, of its rank. Their sizes say how long the sequence
  /// dimensions are; `lengths` (sequence dimension to length) says so for those that no parameter has. A run without a
  /// session has one of its own; one that fails leaves its session as it was.
  mlir::FailureOr<std::vector<Tensor>> run(llvm::StringRef function, llvm::ArrayRef<Tensor> inputs,
                                           const std::map<std::string, int64_t> &lengths = {},
                                           Session *session = nullptr);

  /// The numbers of a weight, asked of the provider once.
  mlir::FailureOr<const Tensor *> weight(WeightOp op, llvm::ArrayRef<int64_t> turns);
  const TapHandler &tapHandler() const { return tap; }

private:
  mlir::ModuleOp module;
  WeightProvider provider;
  TapHandler tap;
  std::map<std::pair<mlir::Operation *, std::vector<int64_t>>, Tensor> loaded;
};

} // namespace interpreter
} // namespace attn
#endif
