// A module of the attn dialect compiled into this process, without the runtime of libraries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated code needs two functions of runtime/abi.h to run: parallel_for and tap. Here they are given by the judge
// itself: tasks run on as many threads as asked for, in an order that no result may depend on.
#ifndef ATTN_TOOLS_AGREE_COMPILEDMODULE_H
#define ATTN_TOOLS_AGREE_COMPILEDMODULE_H
#include "lowering/Lower.h"
#include "lowering/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/abi.h"
#include "tools/agree/Memory.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <string>

// For functions that call generated code: it has no description of its type in front of it that UBSan could compare,
// and where it is the first of a page there is nothing at all.
#define ATTN_CALLS_GENERATED __attribute__((no_sanitize("function")))

namespace attn::agree {

/// Where attn_rt_parallel_for of a call finds its threads.
struct Threads {
  int count = 1;
  /// Tasks of a loop are handed out from the last to the first.
  bool backwards = false;
};

/// One place of a session: an entry of the metadata's "state" in one of its turns.
struct StateSlot {
  bool cache = false; ///< else a `once`
  int64_t rowBytes = 0;
};

/// A sequence along which a function keeps rows in `once` places.
struct KeptSequence {
  std::string name;
  std::vector<size_t> slots;
};

/// What a function does to sessions.
struct FunctionState {
  std::string cached; ///< the sequence along which it caches, or ""
  std::vector<KeptSequence> kept;
};

class CompiledModule {
public:
  /// Lowers a planned module, makes an object, links it in `folder` and loads it. Failures have been reported.
  static mlir::FailureOr<std::unique_ptr<CompiledModule>> compile(mlir::ModuleOp planned, const Target &target,
                                                                  const LowerOptions &options, llvm::StringRef folder);
  ~CompiledModule();

  const attn_program &program() const { return *table; }
  /// The object under "functions" with that number.
  const llvm::json::Object &function(size_t i) const;
  size_t functions() const { return table->functions; }
  const llvm::json::Object &metadata() const { return *meta.getAsObject(); }
  const std::vector<StateSlot> &slots() const { return stateSlots; }
  const FunctionState &stateOf(size_t i) const { return functionStates[i]; }

private:
  CompiledModule() = default;
  void readState();

  std::vector<StateSlot> stateSlots;
  std::vector<FunctionState> functionStates;
  void *library = nullptr;
  const attn_program *table = nullptr;
  llvm::json::Value meta = nullptr;
};

} // namespace attn::agree
#endif
