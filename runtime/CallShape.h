// The sizes of one call: checked, and multiplied without overflow.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_CALL_SHAPE_H
#define ATTN_RUNTIME_CALL_SHAPE_H
#include "runtime/Metadata.h"

namespace attn {

struct CallShape {
  const FunctionSpec &function;
  int64_t n;
  const int64_t *const *offsets;

  // Offsets are there, begin with 0, ascend, and no sequence is longer than the model allows.
  bool check() const;
  // How many rows sequence b has of sequence dimension s.
  int64_t rows(int32_t s, int64_t b) const { return offsets[s][b + 1] - offsets[s][b]; }
  // How many numbers a packed value has; `what` is what messages call it.
  bool count(const attn_value &value, int64_t &numbers) const;
  // How many of them sequence b has; only after count().
  int64_t numbersOf(const attn_value &value, int64_t b) const;

private:
  bool checkSequence(int32_t s) const;
  int64_t size(const attn_dim &dim, int64_t b) const {
    return dim.size >= 0 ? dim.size : rows(static_cast<int32_t>(-1 - dim.size), b);
  }
};

} // namespace attn
#endif
