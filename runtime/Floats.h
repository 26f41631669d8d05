// 16-bit floats of weight files as float32.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_FLOATS_H
#define ATTN_RUNTIME_FLOATS_H
#include <cstdint>
#include <cstring>

namespace attn {

inline float floatOfBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

// bfloat16 is the upper half of float32.
inline float floatOfBfloat16(uint16_t half) {
  return floatOfBits(static_cast<uint32_t>(half) << 16);
}

// IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits.
inline float floatOfFloat16(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent == 31)
    return floatOfBits(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) // subnormal: fraction * 2^-24, exact in float32
    return floatOfBits(sign) + (sign ? -1.0f : 1.0f) * static_cast<float>(fraction) * 0x1p-24f;
  return floatOfBits(sign | (exponent + 112) << 23 | fraction << 13);
}

} // namespace attn
#endif
