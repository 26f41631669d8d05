// The tensors of the file that each weight slot is made of.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds every part of every weight, checks its shape and type, says which functions cannot be called because a tensor
// is absent, and which tensors nobody uses.
#ifndef ATTN_RUNTIME_WEIGHT_BINDING_H
#define ATTN_RUNTIME_WEIGHT_BINDING_H
#include "runtime/Notes.h"
#include "runtime/WeightNames.h"

namespace attn {

// One slot of attn_call.weights.
struct BoundSlot {
  size_t weight;                   // which WeightSpec
  Array<const FileTensor *> parts; // null: not in the file
  bool needed = false;             // by a function that can be called
};

struct WeightBinding {
  Array<BoundSlot> slots;
  Array<Text> missing; // one a function: why it cannot be called, or ""

  bool bind(const Metadata &metadata, const Safetensors &file, bool strict, Notes &notes);

private:
  bool bindSlot(const Metadata &metadata, const WeightNames &names, size_t weight, const Array<int64_t> &turns);
  bool reportMissing(const Metadata &metadata, Notes &notes) const;
};

// Whether a tensor of the file may stand for a weight: one dimension of the file may be several neighbouring ones of
// the text, and ones may be missing on either side. With `inOut` the file has the last dimension first.
bool fitsShape(const Array<int64_t> &file, const Array<int64_t> &text, bool inOut);

} // namespace attn
#endif
