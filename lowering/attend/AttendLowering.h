// Attention being lowered: what one task is, and the pieces of its loop over the keys.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strategy.cpp    the form and the sizes of tiles
// Task.cpp        the task and its tensors
// Regions.cpp     the text's score, mask and sink inside tile.map
// Step.cpp        one tile of keys, and what comes before the first and behind the last
// Visit.cpp       which keys are visited, and where no mask is needed; PlanCode.cpp writes a plan's expressions for it
// Count.cpp       counters of tiles and bytes, under --count
#ifndef ATTN_LOWERING_ATTEND_ATTENDLOWERING_H
#define ATTN_LOWERING_ATTEND_ATTENDLOWERING_H

#include "lowering/Emitter.h"
#include "lowering/Kernel.h"
#include "lowering/Program.h"
#include "lowering/attend/PlanCode.h"
#include "lowering/attend/Strategy.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/masks/MaskPlan.h"
#include <limits>

namespace attn {

constexpr double infinity = std::numeric_limits<double>::infinity();
// The lowest score of a visible key, and below its logarithm of two the maximum over none: differences stay numbers.
constexpr double lowestScore = -2e38, noMaximum = -3.2e38;
constexpr double log2OfE = 1.4426950408889634074;

/// Arithmetic on scalars inside map regions.
struct Scalars {
  Ir ir;
  bool ofTile = true; // one for each element of a tile
  mlir::Value add(mlir::Value a, mlir::Value b) { return mlir::arith::AddFOp::create(ir, ir.loc, a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return mlir::arith::SubFOp::create(ir, ir.loc, a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return mlir::arith::MulFOp::create(ir, ir.loc, a, b); }
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) {
    return mlir::math::FmaOp::create(ir, ir.loc, a, b, c);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) { return mlir::arith::DivFOp::create(ir, ir.loc, a, b); }
  mlir::Value max(mlir::Value a, mlir::Value b) { return mlir::arith::MaximumFOp::create(ir, ir.loc, a, b); }
  mlir::Value min(mlir::Value a, mlir::Value b) { return mlir::arith::MinimumFOp::create(ir, ir.loc, a, b); }
  /// The larger, `b` if it is NaN: one instruction.
  mlir::Value atLeast(mlir::Value bound, mlir::Value b) {
    return choose(mlir::arith::CmpFOp::create(ir, ir.loc, mlir::arith::CmpFPredicate::OGT, bound, b), bound, b);
  }
  mlir::Value equals(mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpFOp::create(ir, ir.loc, mlir::arith::CmpFPredicate::OEQ, a, b);
  }
  mlir::Value choose(mlir::Value c, mlir::Value a, mlir::Value b) {
    return mlir::arith::SelectOp::create(ir, ir.loc, c, a, b);
  }
  mlir::Value number(double n) { return ir.number(n); }
  /// A whole number at least log2(e^score).
  mlir::Value above(mlir::Value score) { return mlir::math::CeilOp::create(ir, ir.loc, mul(score, number(log2OfE))); }
  /// e^score / 2^m
  mlir::Value weight(mlir::Value score, mlir::Value m, bool rough = false) {
    return tile::ExpOp::create(ir, ir.loc, ir.f32(), score, m, rough);
  }
};

/// A tile.map whose region `element` writes.
mlir::Value mapTile(Ir &ir, tile::TileType type, mlir::ValueRange inputs, llvm::ArrayRef<int64_t> along,
                    llvm::ArrayRef<mlir::OpFoldResult> valid,
                    std::function<mlir::Value(Scalars &, mlir::ValueRange indices, mlir::ValueRange elements)> element);

/// What decides which keys an attention with a mask visits, once for all its kernels.
struct KeyPlan {
  MaskPlan mask;
  llvm::DenseMap<int64_t, mlir::Value>
      sorted; // int64[n] of the entry: whether a captured table of a sequence is in order
};
/// Looks, where the entry stands now, which tables are in order; of those alone that the plan asks for. Visit.cpp
std::optional<KeyPlan> planKeys(Emitter &emitter, AttendOp op);

class AttendLowering {
public:
  /// What a kernel computes: all of it, or one half of a split attention: its scores, or what is made of them.
  enum class Part { Whole, Scores, Values };

  AttendLowering(Emitter &owner, AttendOp attend, const Strategy &strategy, const KeyPlan *plan, Part part);
  void run();

private:
  enum Counter { QueryTiles, FullTiles, PartialTiles, Bytes }; // in the order of attn_rt_count
  struct Running {
    mlir::Value y, m, l; // tiles: weighted sums, integer maxima, sums of weights
  };

  Local readable(Local table);
  void chooseTask();
  void chooseSplitTask();
  void findTensors();
  void runSplit();
  mlir::Value rowStride(const Local &tensor);
  Local atHead(Local tensor, const Local &query);
  mlir::Value inside(mlir::Region &region, Scalars &in, llvm::ArrayRef<mlir::Value> arguments, mlir::Value queryTile,
                     mlir::Value keyTile);
  mlir::Value element(AtOp at, mlir::IRMapping &map, Scalars &in);
  mlir::Value cloneBlock(mlir::Block &block, Scalars &in, mlir::IRMapping &map);
  void enterCaptures(mlir::Region &region, size_t first, mlir::IRMapping &map);

  void attempts();
  void oneQuery();
  mlir::Value attempt(mlir::Value guard);
  mlir::Value packQueries();
  mlir::Value forProduct(mlir::Value tile, int64_t along, llvm::ArrayRef<mlir::OpFoldResult> valid);
  mlir::Value headOf(Scalars &in, mlir::Value headNumber, mlir::Value row);
  Running begin();
  PlanCode planCode();
  Running overKeys(Running start, mlir::Value guard);
  Running overKeys(Running start, mlir::Value from, mlir::Value to, bool masked, mlir::Value guard);
  Running step(Running before, mlir::Value key, bool masked, mlir::Value guard);
  mlir::Value scoresBetween(mlir::Value key);
  mlir::Value scores(mlir::Value key, mlir::OpFoldResult keys, bool masked = true);
  mlir::Value weigh(mlir::Value score, mlir::Value m, mlir::OpFoldResult keys);
  mlir::Value inverse(const Running &last);
  void storeWeights(const Running &last);
  mlir::Value finish(Running last);
  void tellTiling();
  void tallyQueries();
  void startCounting();
  void tally(Counter counter, mlir::Value amount);
  void tallyRows(const View &tensor, mlir::Value read, int64_t numbers);
  void endCounting();
  bool canHide() { return !op.getMask().empty() || !op.getScore().empty(); }
  int64_t keyWidth() { return mlir::cast<mlir::RankedTensorType>(op.key().getType()).getShape().back(); }
  bool usesMaximum() { return op.getWeigh() == Weigh::softmax || op.getWeigh() == Weigh::softmax1; }
  bool usesDot() { return op.getScore().empty() || !op.getScore().front().getArgument(0).use_empty(); }
  bool rounds() { return emitter.program.options.precision == Precision::bf16; }
  tile::TileType type(llvm::ArrayRef<int64_t> shape, mlir::Type element = {}) {
    return tile::TileType::get(ir.getContext(), shape, element ? element : ir.f32());
  }

  Emitter &emitter;
  AttendOp op;
  const Strategy &strategy;
  const KeyPlan *plan; // null: every key is visited
  Part part;
  Kernel kernel;
  Ir &ir;
  View q, k, v, y;
  int64_t rows, width, valueWidth, heads = 1; // of a tile; of q's and v's rows
  SharedHeads shared;                         // heads of q that share keys
  bool few = false;                           // whether the tile's rows are the shared heads of one query
  Local qAt, kAt, vAt, yAt, weightsAt, lseAt;
  llvm::SmallVector<Local, 2> captured;
  llvm::DenseMap<int64_t, mlir::Value> sortedTables; // of this sequence, i1
  mlir::Value sequence, first, queries, head;        // first query of the block, how many; number of the (first) head
  mlir::Value count;                                 // rows of the tile that count
  mlir::Value past;                                  // the number of the sequence's first query
  mlir::Value keys;                                  // of this sequence
  mlir::Value partBegin, partEnd;                    // the keys whose scores this task makes
  mlir::Value between;                               // where scores lie between the two kernels: rows of all keys
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Local> capturedTensors; // by block argument
  mlir::Value queryTile, packedQueries, keyTile;
  mlir::Value queryArgument, keyArgument; // of the region being cloned
  mlir::Value counts;                     // int64[ATTN_COUNTS] of this task; null: it does not count
};

} // namespace attn
#endif
