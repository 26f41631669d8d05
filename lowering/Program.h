// What all exported functions of a model share while they are lowered: kernels, weight slots, declarations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_PROGRAM_H
#define ATTN_LOWERING_PROGRAM_H

#include "dialect/AttnOps.h"
#include "lowering/Lower.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSet.h"

namespace attn {

/// A weight symbol in one of its forms; it has one slot for each turn of its repeats, side by side.
struct WeightUse {
  WeightOp op;
  bool packed;
  int64_t slot;
  llvm::SmallVector<int64_t> functions; // the numbers of the exports that read it, ascending
};

/// A place of the session; it has one slot for each turn of its repeats, side by side.
struct StateUse {
  StateOp op;
  int64_t slot;
  llvm::SmallVector<int64_t> functions; // as of WeightUse
};

class Program {
public:
  Program(mlir::ModuleOp source, mlir::ModuleOp lowered, const Target &target, const LowerOptions &options);

  mlir::ModuleOp source;
  mlir::ModuleOp lowered;
  const Target &target;
  const LowerOptions &options;
  int64_t currentFunction = 0;
  /// The attentions that count, by number; docs/metadata.md.
  llvm::SmallVector<std::string> counts;
  std::vector<AttendTiling> attends;

  /// The weight's first slot for the current function.
  int64_t slot(WeightOp weight, bool packed);
  const llvm::MapVector<std::pair<mlir::Operation *, unsigned>, WeightUse> &weights() const { return uses; }
  int64_t slots() const { return nextSlot; }
  /// The place's first slot for the current function.
  int64_t slot(StateOp state);
  const llvm::MapVector<mlir::Operation *, StateUse> &states() const { return stateUses; }
  /// Whether the place's rows are bfloat16: those that attention rounds anyway, in every function, and nothing else
  /// reads.
  bool keepsRounded(StateOp state) const { return roundedStates.contains(state.getSymName()); }

  /// A function of runtime/abi.h, declared at first use.
  mlir::LLVM::LLVMFuncOp runtime(llvm::StringRef name, mlir::LLVM::LLVMFunctionType type);
  /// A new internal function at the end of the module; the name gets a number if it is taken.
  mlir::LLVM::LLVMFuncOp function(mlir::Location loc, llvm::StringRef name, mlir::LLVM::LLVMFunctionType type);
  /// `made`, or an earlier kernel that does the same; then `made` is erased.
  mlir::LLVM::LLVMFuncOp share(mlir::LLVM::LLVMFuncOp made);
  /// `i64 attn_find(table, n, number)`: the largest s < n with table[s] <= number.
  mlir::LLVM::LLVMFuncOp finder();
  /// A constant tensor, row-major, truth values as bytes; one copy of each.
  mlir::LLVM::GlobalOp constant(mlir::DenseElementsAttr numbers);
  /// A zero-terminated constant string; its address can be had with llvm.mlir.addressof.
  mlir::LLVM::GlobalOp text(llvm::StringRef name, llvm::StringRef value);

private:
  void findRoundedStates();

  llvm::MapVector<std::pair<mlir::Operation *, unsigned>, WeightUse> uses;
  int64_t nextSlot = 0;
  llvm::MapVector<mlir::Operation *, StateUse> stateUses;
  int64_t nextState = 0;
  llvm::StringSet<> roundedStates;
  llvm::SmallVector<mlir::LLVM::LLVMFuncOp> kernels;
  llvm::DenseMap<mlir::Attribute, mlir::LLVM::GlobalOp> constants;
  mlir::SymbolTable symbols;
};

/// How many tensors of the model file, or places of the session, a symbol with these turns stands for.
int64_t countTurns(llvm::ArrayRef<int64_t> turns);

} // namespace attn
#endif
