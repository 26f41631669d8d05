// What a session keeps from call to call, and what one call sees of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_INTERPRETER_SESSION_H
#define ATTN_DIALECT_INTERPRETER_SESSION_H
#include "dialect/AttnDialect.h"
#include "dialect/interpreter/Tensor.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>

namespace mlir::func {
class FuncOp;
}

namespace attn {
class CacheOp;
class OnceOp;

namespace interpreter {

/// A value: a copy is a fork, a new one is a session reset.
struct Session {
  /// A place: the state's symbol and the turns of the repeats around.
  using Place = std::pair<std::string, std::vector<int64_t>>;

  int64_t past = 0;           ///< rows that every cache holds
  int64_t capacity = 1 << 20; ///< rows that a cache may hold
  std::map<Place, Tensor> rows;
};

/// One call in a session, which changes only when the call has succeeded.
class SessionCall {
public:
  explicit SessionCall(Session &of) : session(of) {}

  /// Reads what the function keeps; adds the lengths `all.T` and `kept.S` to those of its parameters. Says why if the
  /// session cannot take the call.
  mlir::LogicalResult begin(mlir::func::FuncOp function, std::map<std::string, int64_t> &lengths);

  /// The number of the first row along a sequence: `past` along the one that the function caches, else 0.
  int64_t firstRow(llvm::StringRef sequence) const { return caches && sequence == cached ? session.past : 0; }
  int64_t number(SessionNumber which) const;

  /// All rows of the place, those of this call included.
  const Tensor &cache(CacheOp op, llvm::ArrayRef<int64_t> turns, const Tensor &given);
  /// The rows kept.
  const Tensor &once(OnceOp op, llvm::ArrayRef<int64_t> turns, const Tensor &given);

  /// The call has succeeded.
  void finish();

private:
  mlir::LogicalResult beginCached(mlir::func::FuncOp function, std::map<std::string, int64_t> &lengths);
  mlir::LogicalResult beginOnce(OnceOp op, std::map<std::string, int64_t> &lengths);
  /// The rows of some turn of a place; null if it has none.
  const Tensor *find(llvm::StringRef symbol) const;

  Session &session;
  bool caches = false;
  std::string cached; // the sequence along which the function caches
  int64_t added = 0;  // rows of this call along it
  std::map<Session::Place, Tensor> changed;
};

} // namespace interpreter
} // namespace attn
#endif
