// The state of lowering one exported function: its entry function, where each value lies, the kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lowered module holds, for each export, `llvm.func @attn_entry_NAME(%call: !llvm.ptr) -> i32`: the tables of
// units, the arena's size, then the operations in order, each a launch of a kernel (lowering/Kernel.h) or nothing
// (views). One function an operation below lowers it; `lowering/Lower….cpp` define them.
//
// An operation's inputs and results are had by place, named as the operation names them:
//
//     LogicalResult lowerLinear(Emitter &emitter, LinearOp op) {
//       View x = emitter.input(op, 0), out = emitter.output(op, 0);
//       Value weight = emitter.weight(op.getWeight(), op.getTurns(), Emitter::Packed);
#ifndef ATTN_LOWERING_EMITTER_H
#define ATTN_LOWERING_EMITTER_H

#include "dialect/AttnOps.h"
#include "lowering/Ir.h"
#include "lowering/View.h"
#include "lowering/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::LLVM {
class LLVMFuncOp;
}

namespace attn {

class Emitter {
public:
  enum WeightForm { Plain, Packed };

  mlir::ModuleOp source;  // attn, planned
  mlir::ModuleOp lowered; // what is being made
  const Target &target;
  /// Builds in the entry function at the current place.
  Ir entry;
  mlir::Value call; // !llvm.ptr to attn_call, in the entry

  /// Where input `i` and result `i` of a tensor operation lie, with the operation's names for the dimensions.
  template <typename Op> View input(Op op, size_t i) { return named(find(op.getInputs()[i]), op.inDims(i)); }
  template <typename Op> View output(Op op, size_t i = 0) { return named(find(op->getResult(i)), op.outDims(i)); }
  /// A tensor that regions capture (an operand of attn.at): its view with no particular names.
  View find(mlir::Value tensor);

  /// The pointer of a weight's slot: as float32 row-major (Plain), or as panels for lowerLinear (Packed): a weight
  /// tensor<n..xKxf32> with N = product of n is [ceil(N / panel)][K][panel], rows beyond N zero. `turns` are i32 values
  /// of the source; the pointer is the entry's.
  mlir::Value weight(llvm::StringRef symbol, mlir::ValueRange turns, WeightForm form);
  WeightOp weightOp(llvm::StringRef symbol);

  /// A scalar i32 of the source outside regions (a repeat's turn), in the entry as i32.
  mlir::Value scalar(mlir::Value turn);

  /// The number of sequences, i64.
  mlir::Value sequences();
  /// int64[n + 1]: units of the sequences before each (see Layout). Null pointer value for no dimension: unit s is s.
  mlir::Value table(llvm::ArrayRef<llvm::StringRef> units);
  /// Units of all sequences together, i64.
  mlir::Value total(llvm::ArrayRef<llvm::StringRef> units);
  /// int64[n + 1]: blocks of `size` rows along a sequence dimension in the sequences before each, and their number in
  /// all.
  mlir::Value blockTable(llvm::StringRef sequence, int64_t size);
  mlir::Value blockTotal(llvm::StringRef sequence, int64_t size);
};

mlir::LogicalResult lowerLinear(Emitter &emitter, LinearOp op); // lowering/LowerLinear.cpp
mlir::LogicalResult lowerAttend(Emitter &emitter, AttendOp op); // lowering/LowerAttend.cpp

} // namespace attn
#endif
