// Merges by the pair of tokens that they merge: a hash table that only grows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_TOKENIZER_PAIR_TABLE_H
#define ATTN_RUNTIME_TOKENIZER_PAIR_TABLE_H
#include "runtime/Memory.h"

namespace attn {

class PairTable {
public:
  struct Merge {
    int32_t rank = -1; // the lowest goes first
    int32_t id = -1;   // what the pair becomes
  };

  // For so many pairs.
  explicit PairTable(size_t pairs = 0) {
    size_t room = 16;
    while (room < 2 * pairs)
      room *= 2;
    slots.resize(room);
  }
  // The last one that is set counts.
  void set(int32_t left, int32_t right, Merge merge) { slots[place(keyOf(left, right))] = {keyOf(left, right), merge}; }
  // Null if they are not merged.
  const Merge *find(int32_t left, int32_t right) const {
    const Slot &slot = slots[place(keyOf(left, right))];
    return slot.merge.rank < 0 ? nullptr : &slot.merge;
  }

private:
  struct Slot {
    uint64_t key = 0;
    Merge merge;
  };
  static uint64_t keyOf(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t place(uint64_t key) const {
    size_t mask = slots.size() - 1, i = (key * 0x9e3779b97f4a7c15u >> 32) & mask; // the golden ratio, as Knuth hashes
    while (slots[i].merge.rank >= 0 && slots[i].key != key)
      i = (i + 1) & mask;
    return i;
  }

  Array<Slot> slots;
};

} // namespace attn
#endif
