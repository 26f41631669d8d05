// States.h: what a session keeps for a model: the places that `cache` and `once` fill, as symbols of the module.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A place is a `cache` or `once` of the text, reached under a path of `at` in certain turns of the repeats around it.
// Exports that reach the same one share it. A repeat that is one loop makes one symbol for all of its turns.
#ifndef ATTN_FRONTEND_STATES_H
#define ATTN_FRONTEND_STATES_H

#include "dialect/AttnDialect.h"
#include "frontend/Diagnostics.h"
#include "frontend/Values.h"
#include "mlir/IR/BuiltinOps.h"
#include <set>

namespace attn {

/// A turn that is being walked of a repeat: of one loop (`open`), a certain one, or that of a row at run time.
struct TurnInForce {
  const Turn *open = nullptr;
  int64_t number = 0;
  bool isRow = false;
};

/// Calls that led somewhere, outermost first.
using Calls = llvm::SmallVector<SMRange>;

class States {
public:
  States(Diagnostics &d, std::function<bool(StringRef)> isTaken) : diags(d), takenElsewhere(std::move(isTaken)) {}

  struct State {
    std::string symbol, pattern, shown; ///< `h.{0}.attn`, and for messages `h.{l}.attn`
    StateKind kind = StateKind::cache;
    SMRange where;
    llvm::SmallVector<int64_t> turns;   ///< how many, of loops
    llvm::SmallVector<int64_t> certain; ///< numbers of turns that are written out
    Dims row;
    Elem elem = Elem::f32;
  };
  struct Found {
    const State *state;
    llvm::SmallVector<const Turn *> turns;
    const Calls *before; ///< this export was there already, by these calls
    bool fits;           ///< its rows are of the shape asked for
  };
  /// The place of the `cache` or `once` that `state` describes, made if it is new. `label` ends its symbol.
  Found find(State state, const Text &path, llvm::ArrayRef<TurnInForce> turns, StringRef label, Calls calls);

  /// For trying an elaboration and taking it back.
  struct Mark {
    size_t states, reached;
  };
  Mark mark() const { return {states.size(), reached.size()}; }
  void reset(Mark mark);

  void beginModule() { exports.clear(); }
  void beginExport() { reached.clear(); }
  /// Whether the export filled a cache so far.
  bool caches() const;
  /// The export is done; all that cache must fill the same caches.
  void endExport(StringRef name, SMRange where);
  bool checkExports();
  /// Adds where a place was reached in one loop and turn by turn; whether there is one that `found` lacks.
  bool findSplit(std::set<const char *> &found) const;
  /// Whether a place at one of these was reached since.
  bool reachedOneOf(const std::set<const char *> &places, Mark since) const;

  bool isTaken(StringRef symbol) const;
  /// Writes the symbols at the head of the module.
  void emit(mlir::ModuleOp module);

private:
  struct Reached {
    size_t state;
    Calls calls;
  };
  struct Export {
    std::string name;
    SMRange where;
    std::set<size_t> caches;
  };
  std::string freshSymbol(StringRef pattern, StringRef label) const;

  Diagnostics &diags;
  std::function<bool(StringRef)> takenElsewhere;
  std::deque<State> states;
  std::deque<Reached> reached; ///< by the export at hand
  std::vector<Export> exports;
};

} // namespace attn

#endif // ATTN_FRONTEND_STATES_H
