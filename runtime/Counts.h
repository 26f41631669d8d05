// What the attentions of a model did, in a library made to count.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_COUNTS_H
#define ATTN_RUNTIME_COUNTS_H
#include "runtime/Memory.h"
#include "runtime/abi.h"

namespace attn {

// Sums that any number of threads add to.
class Counts {
public:
  // So many attentions, all counts 0.
  void start(size_t attentions) { places.resize(attentions); }
  size_t size() const { return places.size(); }
  void add(size_t place, const int64_t *numbers) {
    for (int i = 0; i < ATTN_COUNTS; ++i)
      __atomic_fetch_add(&places[place].sums[i], numbers[i], __ATOMIC_RELAXED);
  }
  int64_t sum(size_t place, int which) const { return __atomic_load_n(&places[place].sums[which], __ATOMIC_RELAXED); }

private:
  struct Place {
    int64_t sums[ATTN_COUNTS] = {};
  };
  Array<Place> places;
};

} // namespace attn
#endif
