// What an attention's kernel does at given lengths, tile by tile: the compiler's account of what --count counts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     1,024 queries under a window of 100: a tile of 48 queries visits 3 or 4 of the 16 tiles of keys
//
// It walks as the kernel does (Task.cpp, Visit.cpp) and asks the same plan of the mask; --explain, --draw and the tests
// of counters read it.
#ifndef ATTN_LOWERING_ATTEND_WORK_H
#define ATTN_LOWERING_ATTEND_WORK_H

#include "passes/AttendRegions.h"
#include "passes/Layout.h"
#include "passes/masks/MaskPlan.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace attn {

/// How a kernel cuts an attention: what lowering decided.
struct AttendTiling {
  AttendOp op;
  Monomial queries, keys;
  int64_t heads;
  int64_t rows, keysOfTile;                 // queries and keys of a tile
  int64_t sharing, headStep;                // heads that a tile of one query takes together, and how they are numbered
  int64_t queryBytes, keyBytes, valueBytes; // of a row that is read
};

/// How long sequences are, and what is known of the tables that masks look up.
struct Occasion {
  std::optional<int64_t> everyLength;
  std::map<std::string, int64_t> lengths;              // by the name of the sequence dimension
  int64_t past = 0;                                    // rows that the session holds
  std::map<std::string, std::vector<int32_t>> lookups; // by the name of the parameter

  /// The length along a sequence dimension, `all.T` and `kept.S` among them; nothing if it was not said.
  std::optional<int64_t> length(llvm::StringRef sequence) const;
  std::optional<int64_t> size(const Monomial &size) const;
};

/// "logits at gpt2.attn:12:7"
std::string attendName(AttendOp op);
/// What a captured tensor of a mask is called where it comes into the export; "" if it does not come from a parameter.
llvm::StringRef lookupName(AttendOp op, unsigned capture);

/// The numbers around a mask on an occasion.
class OccasionData : public masks::Data {
public:
  OccasionData(AttendOp attend, const Occasion &given);
  const std::vector<int32_t> *table(int64_t capture) const override;
  std::optional<int64_t> scalar(mlir::Value value) const override;

private:
  AttendOp op;
  const Occasion &occasion;
  std::map<int64_t, std::vector<int32_t>> constants;
};

/// Some queries of some heads by some keys.
struct VisitedTile {
  masks::Tile tile;  // `keys` is the number of all keys
  int64_t heads = 1; // that the tile takes together
  int64_t times = 1; // how often the same is done, for other heads
  TileClass kind;
  int64_t queries() const { return tile.lastQuery - tile.firstQuery + 1; }
  int64_t keys() const { return tile.lastKey - tile.firstKey + 1; }
};

struct AttendWork {
  int64_t queries = 0, keys = 0;
  int64_t queryTiles = 0, fullTiles = 0, partialTiles = 0, emptyTiles = 0;
  int64_t bytes = 0;      // read
  int64_t operations = 0; // additions, multiplications and what the score does
};

class TileWalk {
public:
  /// All lengths must be known.
  TileWalk(const AttendTiling &cut, const Occasion &when);

  /// Every tile, in the order of the keys, the empty ones too.
  void visit(llvm::function_ref<void(const VisitedTile &)> each) const;
  AttendWork work() const;
  /// The number of the first query, as the mask counts them.
  int64_t firstQuery() const { return past; }
  const MaskPlan *mask() const { return plan ? &*plan : nullptr; }
  /// Whether the mask asks for the head.
  bool differsByHead() const;

private:
  void visitQueries(int64_t first, int64_t count, llvm::function_ref<void(const VisitedTile &)> each) const;
  void visitKeys(VisitedTile at, llvm::function_ref<void(const VisitedTile &)> each) const;

  const AttendTiling &tiling;
  int64_t queries, keys, past;
  OccasionData data;
  std::optional<MaskPlan> plan;
};

} // namespace attn
#endif
