// What the compiler knows of a machine: plain numbers from a table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_TARGETS_TARGET_H
#define ATTN_LOWERING_TARGETS_TARGET_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>

namespace attn {

struct Target {
  std::string name; // as --mcpu spells it
  std::string triple;
  std::string cpu;          // LLVM's name of the processor
  std::string features;     // LLVM's feature string
  int64_t lanes = 8;        // float32 numbers in a vector register
  int64_t registers = 16;   // vector registers
  int64_t panelVectors = 2; // vectors side by side in the matrix product's block of accumulators
  int64_t panelRows = 6;    // rows of that block
  int64_t l1 = 32 << 10;    // bytes of the first cache
  int64_t l2 = 512 << 10;
  bool fma = true;     // fused multiply-add is one instruction
  bool avx512 = false; // masks for every vector operation, vscalefps
  bool bf16 = false;   // vdpbf16ps: products of pairs of bfloat16, summed in float32
  bool amx = false;    // tdpbf16ps: the same of 16 rows by 16 lanes by 16 pairs

  /// Columns of a packed weight's panel: [ceil(N / panel)][K][panel].
  int64_t panel() const { return lanes * panelVectors; }
  /// Whether rows that many bytes apart fall on each other in the first cache, so that no few dozen of them stay there:
  /// its sets repeat after a page, and eight rows on one set still fit.
  static bool collide(int64_t bytes) { return bytes != 0 && std::gcd(bytes, int64_t(4096)) > 512; }
};

/// The machine called so (`native`: this one), or nothing.
std::optional<Target> findTarget(llvm::StringRef name);

} // namespace attn
#endif
