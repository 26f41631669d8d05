// Which keys the mask of attn.attend can show to a tile of queries, found in the mask's expression.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     j <= i and i - j < 100         queries 64 … 127 see nothing below key -35 and nothing from key 128 on,
//                                    and every one of them sees all keys from 28 up to, but without, 65
//
// For a tile of queries first … last (the numbers that the mask calls i):
//
//     visited   an interval outside of which no query of the tile sees a key: those keys need not be visited
//     full      an interval inside of which every query of the tile sees every key: no mask is needed there
//
// An end of an interval is an expression over the tile's first or last query: `lower` is the first key inside, `upper`
// the first behind. MaskBounds.cpp proves what it derives. What it cannot analyse leaves `visited` without ends and
// `full` empty, which is always true.
#ifndef ATTN_PASSES_MASKBOUNDS_H
#define ATTN_PASSES_MASKBOUNDS_H

#include "mlir/IR/Block.h"
#include <vector>

namespace attn {

/// One end of an interval of keys.
struct KeyEnd {
  enum Kind {
    None,     // the interval has no end here
    Constant, // `number`
    First,    // the tile's first query + `number`
    Last,     // the tile's last query + `number`
    Min,      // the smallest of `parts`
    Max       // the largest of `parts`
  };
  Kind kind = None;
  int64_t number = 0;
  std::vector<KeyEnd> parts = {};

  /// The end for a tile, unless there is None.
  int64_t at(int64_t first, int64_t last) const;
};

struct KeyInterval {
  KeyEnd lower, upper; // keys lower … upper - 1
};

struct MaskBounds {
  KeyInterval visited, full;

  /// No key is known to be seen by all queries, whichever they are.
  bool nothingFull() const { return full.upper.kind == KeyEnd::Constant && full.upper.number <= 0; }
};

/// Numbers of rows from here on are not promised anything: sums of them could wrap.
constexpr int64_t rowsOfMaskBounds = int64_t(1) << 30;

/// Of a mask region's block: its first two arguments are i and j.
MaskBounds findMaskBounds(mlir::Block &mask);

} // namespace attn
#endif
