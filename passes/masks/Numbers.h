// Whole-number expressions over a tile of queries and a tile of keys: what a mask plan is made of.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     max(firstKey, firstQuery - 511) <= lastQuery
//
// The same expression is computed by the compiler (evaluate: for --explain, --draw and tests) and by generated code
// (lowering/attend). Equal expressions are one node; constants fold, and so does what the ranges of the leaves decide.
// Truth values are 0 and 1. Arithmetic is int64's: leaves lie within +-2^31 and expressions are made of few of them,
// so nothing wraps; `huge` stands for no bound.
#ifndef ATTN_PASSES_MASKS_NUMBERS_H
#define ATTN_PASSES_MASKS_NUMBERS_H

#include "mlir/IR/Value.h"
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace attn::masks {

/// Beyond every number that a mask can compute, and far from where int64 wraps.
constexpr int64_t huge = int64_t(1) << 44;
/// Numbers of rows from here on are not promised anything.
constexpr int64_t rowLimit = int64_t(1) << 30;

enum class NumberKind {
  Constant,
  // Leaves.
  FirstQuery, // of the tile, as the mask counts them
  LastQuery,
  FirstKey, // of the keys looked at
  LastKey,
  FinalKey, // the last key that there is
  FirstHead,
  LastHead,
  Scalar, // a number of the surrounding program, `value`; where it is unknown the least (id 0) or most (id 1) it can be
  // Arithmetic.
  Add,
  Sub,
  Mul,
  FloorDiv, // by a positive constant
  Min,
  Max,
  Select,
  LessEqual,
  And,
  Or,
  // Of table number `id`, one row of whole numbers.
  TableLength,
  TableSorted, // whether it never descends
  TableAt,     // the number at a place of a sorted table
  TableMin,    // the smallest of places a .. b of any table
  TableMax,
  TableBelow, // how many of a sorted table are smaller than a number
};

/// One node; made by Numbers alone and compared by address.
struct NumberNode {
  NumberKind kind;
  int64_t id = 0; // a constant's number, a table's number
  mlir::Value value;
  const NumberNode *args[3] = {};
  int64_t least, most; // what it surely lies between
  bool ofKeys = false; // depends on FirstKey or LastKey
  unsigned order = 0;  // of creation: operands before users
};
using Number = const NumberNode *;

class Numbers {
public:
  Number constant(int64_t number);
  Number leaf(NumberKind kind);
  Number scalar(mlir::Value value, bool high, int64_t least, int64_t most);
  Number yes() { return constant(1); }
  Number no() { return constant(0); }

  Number add(Number a, Number b);
  Number sub(Number a, Number b);
  Number mul(Number a, int64_t factor);
  Number floorDiv(Number a, int64_t divisor);
  Number ceilDiv(Number a, int64_t divisor);
  Number min(Number a, Number b) { return extreme(NumberKind::Min, a, b); }
  Number max(Number a, Number b) { return extreme(NumberKind::Max, a, b); }
  Number select(Number condition, Number a, Number b);
  Number lessEqual(Number a, Number b);
  Number both(Number a, Number b);
  Number either(Number a, Number b);
  Number flip(Number a) { return lessEqual(a, constant(0)); }

  Number tableLength(int64_t table);
  Number tableSorted(int64_t table);
  Number tableAt(int64_t table, Number place);
  Number tableMin(int64_t table, Number first, Number last);
  Number tableMax(int64_t table, Number first, Number last);
  Number tableBelow(int64_t table, Number number);

private:
  Number extreme(NumberKind kind, Number a, Number b);
  bool surelyAtMost(Number a, Number b, int depth = 4);
  using Key = std::tuple<NumberKind, int64_t, const void *, Number, Number, Number>;
  Number make(NumberKind kind, int64_t id, mlir::Value value, Number a, Number b, Number c, int64_t least,
              int64_t most);
  Number make(NumberKind kind, Number a, Number b, int64_t least, int64_t most);

  std::deque<NumberNode> nodes;
  std::map<Key, Number> known;
};

/// A tile, and the numbers around it.
struct Tile {
  int64_t firstQuery, lastQuery; // as the mask counts them: past included
  int64_t firstKey, lastKey;
  int64_t keys; // how many there are in all
  int64_t firstHead = 0, lastHead = 0;
};

/// What the compiler knows of the numbers that only a run has.
class Data {
public:
  virtual ~Data() = default;
  /// Null: any order and any numbers.
  virtual const std::vector<int32_t> *table(int64_t table) const = 0;
  /// Nothing: any number.
  virtual std::optional<int64_t> scalar(mlir::Value value) const = 0;
};

/// The expression's value for a tile.
class Evaluation {
public:
  Evaluation(const Tile &where, const Data &numbers) : tile(where), data(numbers) {}
  int64_t operator()(Number number);

private:
  int64_t compute(Number number);
  const Tile &tile;
  const Data &data;
  std::vector<std::optional<int64_t>> done; // by NumberNode::order
};

} // namespace attn::masks
#endif
