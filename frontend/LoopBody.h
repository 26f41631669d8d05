// LoopBody.h: an attempt to elaborate the body of a repeat once, for all of its turns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_FRONTEND_LOOPBODY_H
#define ATTN_FRONTEND_LOOPBODY_H

#include "frontend/Elaborator.h"
#include "frontend/Labels.h"

namespace attn {

/// A name of the function that the body assigns, or (without a name) the number of the next row.
struct Carried {
  StringRef name;
  Value original;
  Tensor before, inside, after;
};

/// A number or truth value as a tensor without dimensions; a whole one as int32 unless `isReal`.
Tensor tensorOf(const Value &number, bool isReal);

/// What an attempt learns about the values before the first turn: a number that goes on as a real one is real, and what
/// becomes walked along something is so from the start.
struct LoopStart {
  bool numbersAreReal = false;
  llvm::StringMap<Dims> walked;
};

struct LoopBody {
  Elaborator &e;
  const RepeatExpr &repeat;
  TurnInForce turn;
  LoopStart &start;
  bool again = false; ///< it can be tried again with what was learnt
  llvm::SmallVector<Carried, 0> carried;
  std::vector<std::vector<Value>> yields;
  mlir::Region region;

  LoopBody(Elaborator &elaborator, const RepeatExpr &expr, TurnInForce inForce, LoopStart &begin)
      : e(elaborator), repeat(expr), turn(inForce), start(begin) {}

  /// Finds what is carried; false where a number or something else that is no tensor is, unless `numbersToo`.
  bool collect(bool numbersToo);
  /// Carries the number of the next row, first of all.
  void carryNumber();
  /// The block with its first argument; `addCarried` adds the others.
  mlir::Value begin(mlir::Type first);
  void addCarried();
  /// Elaborates the body with the repeat's name bound to `element`.
  void run(Value element);
  /// Brings what the body left into the shape of what it found; the reason where that cannot be.
  std::string settle(DimRef along);

  /// What the operation needs, once the block is closed.
  struct Ends {
    llvm::SmallVector<mlir::Value> inputs;
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<Labels::List> in, out;
    llvm::SmallVector<Tensor> stacked;
  };
  Ends close(DimRef along);
  /// Binds the carried names to the operation's results; the value of the repeat.
  Value finish(mlir::Operation *op, const Ends &ends);
  /// Takes the attempt back: names are what they were, or poison after an error.
  void restore(bool failed = false);

private:
  bool isBound(StringRef name) const;
  bool add(StringRef name, bool numbersToo);
  std::string settleOne(Carried &c);
  void dropUnchanged();
};

} // namespace attn

#endif // ATTN_FRONTEND_LOOPBODY_H
