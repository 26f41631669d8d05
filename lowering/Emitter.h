// The state of lowering one exported function: its entry function, where each value lies, its tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lowered module holds, for each export, `llvm.func @attn_entry_NAME(%call: !llvm.ptr) -> i32`: the arena's size
// and the tables of units, then the operations in order, each a launch of a kernel (lowering/Kernel.h) or nothing
// (views). One function an operation lowers it; `lowering/Lower….cpp` define them.
//
// An operation's inputs and results are had by place, named as the operation names them:
//
//     LogicalResult lowerLinear(Emitter &emitter, LinearOp op) {
//       View x = emitter.input(op, 0), out = emitter.output(op, 0);
//       Value weight = emitter.weight(op.getWeight(), op.getTurns(), Emitter::Packed);
#ifndef ATTN_LOWERING_EMITTER_H
#define ATTN_LOWERING_EMITTER_H

#include "dialect/AttnOps.h"
#include "dialect/Shapes.h"
#include "lowering/Ir.h"
#include "lowering/View.h"
#include "lowering/targets/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

namespace attn {
class Program;

class Emitter {
public:
  enum WeightForm { Plain, Packed };

  Emitter(Program &program, mlir::func::FuncOp function);
  mlir::LogicalResult run();

  Program &program;
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
  /// tensor<n..xKxf32> with N = product of n is [ceil(N / panel)][K][panel], columns beyond N zero. `turns` are i32
  /// values of the source; the pointer is the entry's.
  mlir::Value weight(llvm::StringRef symbol, mlir::ValueRange turns, WeightForm form);
  WeightOp weightOp(llvm::StringRef symbol);

  /// Whether that is the sequence dimension along which the function caches.
  bool isCached(llvm::StringRef sequence) const { return !cached.empty() && sequence == cached; }
  /// int64[n]: rows cached before this call; rows that the sessions may hold.
  mlir::Value past();
  mlir::Value capacity();

  /// A scalar of the source outside regions (a repeat's turn, or arithmetic on it), in the entry.
  mlir::Value scalar(mlir::Value source);

  /// The number of sequences, i64.
  mlir::Value sequences();
  /// int64[n + 1]: units of the sequences before each (see Layout). A null Value for no dimension: sequence s is unit
  /// s.
  mlir::Value table(llvm::ArrayRef<llvm::StringRef> units);
  /// Units of all sequences together, i64.
  mlir::Value total(llvm::ArrayRef<llvm::StringRef> units);
  /// int64[n + 1]: blocks of `size` rows along a sequence dimension in the sequences before each, and their number in
  /// all.
  mlir::Value blockTable(llvm::StringRef sequence, int64_t size);
  mlir::Value blockTotal(llvm::StringRef sequence, int64_t size);

  /// int64[n]: room for a number of each sequence (one at least).
  mlir::Value perSequence() { return tablePlace(); }
  /// Whether this call divides the attention's keys between threads (i1, of the entry); null: no call does.
  mlir::Value splits(AttendOp op) { return splitting.lookup(op); }
  /// Memory for what an operation's kernels leave for its next one; all operations have the same, one after the other.
  mlir::Value scratch();

  /// For Kernel: room for the arguments of launches, `count` numbers of 8 bytes.
  mlir::Value argumentBlock(size_t count);

private:
  struct Table {
    mlir::Value pointer, total;
  };
  static View named(View view, DimsAttr dims);
  mlir::Value field(size_t offset, mlir::Type type, Ir &ir);
  mlir::Value perCall(size_t offset);
  mlir::Value slotNumber(int64_t first, mlir::ValueRange turns, llvm::ArrayRef<int64_t> counts);
  StateOp stateOf(mlir::Operation *op);
  mlir::Value state(mlir::Operation *op);
  int64_t keptPlace(llvm::StringRef sequence);
  void prepareLength(llvm::StringRef sequence);
  mlir::Value length(Ir &ir, llvm::StringRef sequence, mlir::Value s);
  mlir::Value longest(llvm::StringRef sequence);
  mlir::Value longest(Ir &ir, llvm::StringRef sequence);
  mlir::Value threads();
  mlir::Value decideSplit(AttendOp op);
  mlir::Value scratchBytes();
  mlir::Value caller(size_t offset, int64_t index);
  void beginEntry();
  void endEntry();
  void bindParameters();
  void layOutArena();
  Table &product(llvm::ArrayRef<llvm::StringRef> units);
  mlir::Value tablePlace();
  mlir::Value sumUnits(Ir &ir, llvm::ArrayRef<llvm::StringRef> units, mlir::Value table);
  mlir::Value slotPointer(mlir::DictionaryAttr memory);
  void place(mlir::Operation *op);
  bool bindGiven(mlir::Operation *op);
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerRepeat(RepeatOp op);
  mlir::LogicalResult lowerScan(ScanOp op);
  void enterTurn(ScanOp op, mlir::Value turn);
  void leaveTurn(ScanOp op, mlir::Value turn);
  void moveInto(View from, mlir::Value to);
  mlir::LogicalResult lowerTap(TapOp op);
  mlir::LogicalResult lowerReturn(mlir::Operation *op);

  mlir::func::FuncOp source;
  mlir::LLVM::LLVMFuncOp function;
  Ir sizes;                              // before the arena is there: numbers that its size needs
  Ir prologue;                           // when it is there: tables and pointers, before the operations
  mlir::Operation *tableCount = nullptr; // the constant that is patched at the end
  mlir::Value tableBytes, arena;
  int64_t tablesMade = 0;
  llvm::SmallVector<llvm::StringRef> sequenceNames;
  llvm::SmallVector<llvm::StringRef> keptNames; // in the order of attn_call.kept
  llvm::StringRef cached;                       // the sequence along which the function caches; empty if it does not
  llvm::DenseMap<mlir::Operation *, mlir::Value> splitting;
  llvm::DenseMap<mlir::Value, View> views;
  mlir::IRMapping scalars;
  llvm::StringMap<Table> tables;
  llvm::StringMap<std::pair<mlir::Value, mlir::Value>> regions; // of the arena: where a class begins, its units
  llvm::StringMap<mlir::Value> pointers;                        // made in the prologue
};

mlir::LogicalResult lowerLinear(Emitter &emitter, LinearOp op); // lowering/LowerLinear.cpp
mlir::LogicalResult lowerAttend(Emitter &emitter, AttendOp op); // lowering/attend/Task.cpp
mlir::LogicalResult lowerMap(Emitter &emitter, MapOp op);       // lowering/LowerMap.cpp
mlir::LogicalResult lowerPos(Emitter &emitter, PosOp op);
mlir::LogicalResult lowerReduce(Emitter &emitter, ReduceOp op);       // lowering/LowerRows.cpp
mlir::LogicalResult lowerSoftmax(Emitter &emitter, SoftmaxOp op);     // lowering/LowerRows.cpp
mlir::LogicalResult lowerNormalise(Emitter &emitter, NormaliseOp op); // lowering/LowerRows.cpp
mlir::LogicalResult lowerContract(Emitter &emitter, ContractOp op);   // lowering/LowerContract.cpp
mlir::LogicalResult lowerGather(Emitter &emitter, GatherOp op);       // lowering/LowerMoves.cpp
mlir::LogicalResult lowerReshape(Emitter &emitter, ReshapeOp op);     // lowering/LowerMoves.cpp
mlir::LogicalResult lowerSlice(Emitter &emitter, SliceOp op);         // lowering/LowerMoves.cpp
mlir::LogicalResult lowerConcat(Emitter &emitter, ConcatOp op);       // lowering/LowerMoves.cpp
mlir::LogicalResult lowerPatches(Emitter &emitter, PatchesOp op);     // lowering/LowerMoves.cpp
mlir::LogicalResult lowerSession(Emitter &emitter, SessionOp op);     // lowering/LowerSession.cpp
mlir::LogicalResult lowerCache(Emitter &emitter, CacheOp op);         // lowering/LowerSession.cpp
mlir::LogicalResult lowerOnce(Emitter &emitter, OnceOp op);           // lowering/LowerSession.cpp
/// Copies a tensor, dimensions matched by name; `to` may be a part of something larger. lowering/LowerMoves.cpp
void lowerCopy(Emitter &emitter, const View &from, const View &to);
/// The same for the sequences that are longer than `turn` along `sequence`; the others get zeros, or keep what is
/// there.
enum class Otherwise { Zeros, Nothing };
void lowerCopyOfTurn(Emitter &emitter, const View &from, const View &to, llvm::StringRef sequence, mlir::Value turn,
                     Otherwise otherwise);

} // namespace attn
#endif
