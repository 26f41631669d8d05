// How an attention is computed: its form and the sizes of its tiles, decided in one place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     online   a task is a tile of queries of one head; it goes over the keys once
//     split    where every sequence of a call has one query: first the scores, a task for a part of the keys, into the
//              arena; then weights and sums, a task for a part of the value's row
//
// Both forms make each number by the same operations in the same order, so that the bits are the same: whether to split
// is decided in each call, from the number of its sequences, of the threads and of the keys.
#ifndef ATTN_LOWERING_ATTEND_STRATEGY_H
#define ATTN_LOWERING_ATTEND_STRATEGY_H

#include "dialect/AttnOps.h"
#include "lowering/Lower.h"

namespace attn {

constexpr int64_t keysOfTile = 64;

struct Strategy {
  int64_t queries;     // rows of a tile
  int64_t keys;        // of a tile
  bool splits = false; // may split, by decision of the call
  bool always = false; // and does so wherever that can be done: it was asked for
  std::string why;     // of the form
  int64_t heads = 1;   // of the query, in all,
  int64_t tasks = 1;   // and those that are a task of an online decoding call: heads of keys
  int64_t parts = 1;   // split: tasks that the keys of a head are divided between,
  int64_t columns = 0; // and how much of a value's row a task sums

  /// `online, tiles of 96 queries x 64 keys` and why.
  std::string words() const;
};

/// How many of q's heads share a head of keys and values, and which of its dimensions that is (-1: none is shared).
struct SharedHeads {
  int dimension = -1;
  int64_t size = 1, step = 1; // how many, and how far apart they are numbered
};
SharedHeads sharedHeads(AttendOp op);

Strategy chooseStrategy(AttendOp op, const Target &target, const LowerOptions &options);

} // namespace attn
#endif
