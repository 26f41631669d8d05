// The state of lowering one function's tiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_CPU_TILELOWERING_H
#define ATTN_LOWERING_CPU_TILELOWERING_H

#include "lowering/cpu/Groups.h"
#include "lowering/targets/Target.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn::cpu {

class TileLowering {
public:
  TileLowering(mlir::FunctionOpInterface function, const Target &target);

  mlir::LogicalResult run();

private:
  // LowerTiles.cpp: blocks and what is in them, in order.
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult lowerWhile(mlir::scf::WhileOp loop);
  Place carry(mlir::Value init, mlir::Value argument, mlir::Operation *loop);
  llvm::SmallVector<mlir::Value> endTurn(mlir::Operation *yield, mlir::ValueRange arguments);
  void lowerLoad(tile::LoadOp load);
  bool lowerTurnedStore(tile::StoreOp store);
  void turn(const Place &from, const Place &to, int lanes, llvm::ArrayRef<mlir::OpFoldResult> valid,
            llvm::ArrayRef<mlir::Value> ahead);
  void flush(mlir::Operation *before);

  // Places of values.
  Place inMemory(mlir::Value tile);
  Place placeFor(mlir::Value result, llvm::ArrayRef<mlir::Value> candidates);
  bool diesBefore(mlir::Value tile, mlir::Operation *end);
  void copy(const Place &from, const Place &to, const Space &space);
  Space whole(mlir::Value tile);

  // EmitGroup.cpp: one loop for a group.
  void emitGroup(mlir::Operation *before);
  void placeResults(mlir::Operation *before);
  void emitRowsOutside();
  void emitColumnsOutside();
  int64_t spotsAbreast(int dimension);
  llvm::SmallVector<mlir::Value> emitSpots(llvm::ArrayRef<Spot> spots, mlir::ValueRange totals);
  void evaluate(tile::MapOp map, llvm::ArrayRef<Spot> spots);
  mlir::Value element(mlir::Value tile, llvm::ArrayRef<Spot> spots, size_t number, int64_t along);
  mlir::Value readElement(tile::AtOp at, llvm::ArrayRef<mlir::Value> indices, const Spot &spot,
                          mlir::Value laneNumbers);
  Spot spotAt(mlir::Value row, mlir::Value column);
  mlir::Value valid(int dimension);
  llvm::SmallVector<mlir::Value> neutrals(bool vector);
  bool lowerOrderedSum(tile::ReduceOp reduce);
  mlir::Value readNumber(const Place &place, mlir::Value row);
  void finish(mlir::ValueRange totals, mlir::Value row, mlir::Value column);

  // EmitDot.cpp
  void lowerDot(tile::DotOp dot);
  void emitTiles(tile::DotOp dot, llvm::ArrayRef<mlir::Value> operands);
  Place eachOperand(mlir::Value tile, llvm::ArrayRef<mlir::OpFoldResult> valid);
  llvm::SmallVector<mlir::Value> nothingAhead();
  llvm::SmallVector<mlir::Value> rowsAhead(tile::LoadOp load, mlir::Value first);
  llvm::SmallVector<mlir::Value> rowsBehind(tile::LoadOp load);
  llvm::SmallVector<mlir::Value> aheadOf(tile::DotOp dot);
  llvm::SmallVector<mlir::Value> aheadOf(tile::LoadOp keys);
  // Round.cpp
  void lowerRound(tile::RoundOp round);
  bool feedsTiles(tile::RoundOp round);
  mlir::Value countPairs(mlir::Value numbers);
  std::optional<Place> pairsInMemory(const Place &from, mlir::OpFoldResult numbers);
  Place wideOperand(mlir::Value tile, int lanes, bool readOnce, llvm::ArrayRef<mlir::OpFoldResult> valid);

  mlir::Value size(mlir::OpFoldResult value);

  mlir::FunctionOpInterface owner;
  const Target &machine;
  LaneChoice choice;
  Ir ir;
  Vectors vectors;
  Scratch scratch;
  Group group;
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Value, mlir::Block *> homes; // the block whose course decides when a tile dies
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> current; // tiles of the group at the spots being emitted
  llvm::SmallVector<tile::ReduceOp> reductions;                        // of the group
  llvm::SmallVector<mlir::Operation *> dead;
};

} // namespace attn::cpu
#endif
