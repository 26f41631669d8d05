// The weights as the kernels want them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A weight with a pack function is laid out by it, once, into memory of its own. One without is float32 as the text has
// it: used straight from the mapped file where that holds exactly this, else converted, joined or turned around into a
// copy.
#ifndef ATTN_RUNTIME_PACKED_WEIGHTS_H
#define ATTN_RUNTIME_PACKED_WEIGHTS_H
#include "runtime/ThreadPool.h"
#include "runtime/WeightBinding.h"

namespace attn {

class PackedWeights {
public:
  PackedWeights() = default;
  PackedWeights(const PackedWeights &) = delete;
  PackedWeights &operator=(const PackedWeights &) = delete;
  ~PackedWeights();

  bool pack(const attn_program &program, const Metadata &metadata, const WeightBinding &binding, ThreadPool &pool);
  // What attn_call.weights holds: one pointer a slot, null for slots that no callable function needs.
  const void *const *pointers() const { return slots.data(); }

private:
  Array<const void *> slots;
  void *memory = nullptr; // of all slots that don't lie in the file as they are used
};

} // namespace attn
#endif
