// What the code multiplies in.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_PRECISION_H
#define ATTN_LOWERING_PRECISION_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace attn {

/// bf16: attention's queries, keys, values and weights, and the rows and weights of products with weights, are rounded
/// to bfloat16 before they are multiplied; sums, scores, exponentials and everything else stay float32.
enum class Precision { f32, bf16 };

inline std::optional<Precision> findPrecision(llvm::StringRef name) {
  if (name == "f32")
    return Precision::f32;
  if (name == "bf16")
    return Precision::bf16;
  return std::nullopt;
}

inline llvm::StringRef nameOf(Precision precision) {
  return precision == Precision::f32 ? "f32" : "bf16";
}

} // namespace attn
#endif
