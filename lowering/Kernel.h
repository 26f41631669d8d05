// One parallel loop: a kernel function and its launch from the entry function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     Kernel kernel(emitter, "normalise");
//     Ir &ir = kernel.ir;                                    builds inside the kernel
//     auto [s, block] = kernel.sequenceBlock("T", 32);       which sequence and which 32 rows of it this task is
//     Local x = kernel.local(view, s);
//     …
//     kernel.launch();                                       one task a block
//
// A kernel is `llvm.func internal @name(%call: !llvm.ptr, %args: !llvm.ptr, %task: i64)` holding scf, arith, math, tile
// and llvm operations. Values of the entry function come inside with `get`: the entry stores them in the argument block
// of the launch, the kernel loads them. A kernel equal to an earlier one is dropped and the earlier one launched.
#ifndef ATTN_LOWERING_KERNEL_H
#define ATTN_LOWERING_KERNEL_H

#include "lowering/Ir.h"
#include "lowering/View.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"

namespace attn {
class Emitter;

class Kernel {
public:
  Kernel(Emitter &emitter, llvm::StringRef name);
  Kernel(const Kernel &) = delete;

  /// Builds inside the kernel.
  Ir ir;
  mlir::Value call; // !llvm.ptr to attn_call
  mlir::Value task; // i64

  /// A value of the entry function (pointer, i64, i32, f32), inside the kernel. Constants are copied, not passed.
  mlir::Value get(mlir::Value entryValue);

  /// The number of sequences in the call, i64.
  mlir::Value sequences();
  /// Units of all sequences before number `s`, from the table of these sequence dimensions (see Layout); i64.
  mlir::Value unitsBefore(llvm::ArrayRef<llvm::StringRef> units, mlir::Value s);
  /// The length of sequence `s` along a sequence dimension, i64.
  mlir::Value length(llvm::StringRef sequence, mlir::Value s);
  mlir::Value evaluate(const Monomial &monomial, mlir::Value s);
  /// How many rows of a sequence dimension were cached before this call, i64; 0 along those that are not cached.
  mlir::Value past(llvm::StringRef sequence, mlir::Value s);

  /// The tensor of sequence `s`. Uniform views may be had with s = null.
  Local local(const View &view, mlir::Value s);
  /// The rows of the whole batch as one tensor: dimension 0 runs over all rows. Only for uniform views (as they are)
  /// and views whose layout isRows().
  Local rows(const View &view, llvm::StringRef sequence);
  /// The address of element `indices` (i64, one a dimension).
  mlir::Value address(const Local &tensor, mlir::ValueRange indices);

  /// Three ways to say what a task is; each sets the number of tasks that launch() asks for.
  struct Block {
    mlir::Value sequence; // which sequence (null for rowBlock)
    mlir::Value begin;    // its first row
    mlir::Value count;    // how many rows, 1 … size
    mlir::Value inner;    // which of the `inner` tasks of this block (0 if inner is 1)
  };
  /// `size` rows of one sequence along a sequence dimension, times `inner` (static) tasks. Neighbouring tasks share the
  /// block.
  Block sequenceBlock(llvm::StringRef sequence, int64_t size, int64_t inner = 1);
  /// `size` rows of the whole batch along a sequence dimension (for Kernel::rows), times `inner`.
  Block rowBlock(llvm::StringRef sequence, int64_t size, int64_t inner = 1);
  /// One sequence, times `inner`.
  Block sequence(int64_t inner = 1);
  /// As many tasks as that; `task` is their number. An i64 of the entry.
  void tasks(mlir::Value entryCount);

  /// Ends the kernel and launches it at the entry's insertion point.
  void launch();

  /// The kernel's function, for allocas in its first block.
  mlir::LLVM::LLVMFuncOp function() { return func; }
  Emitter &emitter() { return owner; }

private:
  static bool isConstant(mlir::Value entryValue);
  std::pair<mlir::Value, mlir::Value> split(int64_t inner);
  mlir::Value unitTable(llvm::ArrayRef<llvm::StringRef> units);

  Emitter &owner;
  mlir::LLVM::LLVMFuncOp func;
  mlir::Value arguments;
  mlir::Value entryTasks;
  llvm::MapVector<mlir::Value, mlir::Value> passed; // entry value -> inside value
};

/// Scalars of the entry that an operation's region uses (the number of a repeat's turn, say), inside the kernel.
void bindOutsideScalars(mlir::Region &region, Emitter &emitter, Kernel &kernel, mlir::IRMapping &map);

} // namespace attn
#endif
