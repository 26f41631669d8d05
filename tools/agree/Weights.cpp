// The memory of a compiled module's weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/agree/Weights.h"
#include "dialect/AttnOps.h"
#include "tools/interpret/Random.h"
#include <cstring>

using namespace mlir;
using namespace attn::interpreter;

namespace attn::agree {

/// `part` as a file lays it out: its last dimension first where it is stored so.
static Bytes layOut(const Tensor &part, bool inOut) {
  Tensor laid = part;
  int64_t width = part.sizes.back(), rows = width ? static_cast<int64_t>(part.numbers.size()) / width : 0;
  for (int64_t r = 0; inOut && r < rows; ++r)
    for (int64_t k = 0; k < width; ++k)
      laid.numbers[k * rows + r] = part.numbers[r * width + k];
  Bytes bytes;
  append(bytes, laid, false);
  return bytes;
}

/// What the generated function makes of parts of one type; nothing if it wrote elsewhere.
ATTN_CALLS_GENERATED static Bytes packParts(attn_pack *pack, const std::vector<Bytes> &parts, int32_t type,
                                            int64_t packedBytes) {
  std::vector<const void *> pointers;
  pointers.reserve(parts.size());
  for (const Bytes &part : parts)
    pointers.push_back(part.data());
  Fenced packed(packedBytes);
  pack(packed.data(), pointers.data(), type);
  return packed.isIntact() ? packed.contents() : Bytes();
}

/// Calls `visit` for each weight slot in order.
static void forEachSlot(ModuleOp planned, const CompiledModule &compiled,
                        llvm::function_ref<void(WeightOp, ArrayRef<int64_t>, attn_pack *, int64_t)> visit) {
  for (auto [i, entry] : llvm::enumerate(*compiled.metadata().getArray("weights"))) {
    const llvm::json::Object &weight = *entry.getAsObject();
    auto op = planned.lookupSymbol<WeightOp>(*weight.getString("symbol"));
    Sizes counts(op.getTurns()), index(counts.size(), 0);
    for (int64_t turn = 0; turn < countElements(counts); ++turn) {
      int64_t rest = turn;
      for (size_t d = counts.size(); d-- > 0; rest /= counts[d])
        index[d] = rest % counts[d];
      visit(op, index, compiled.program().packs[i], *weight.getInteger("packed_bytes"));
    }
  }
}

std::vector<Bytes> packWeights(ModuleOp planned, const CompiledModule &compiled, uint64_t seed) {
  std::vector<Bytes> slots;
  forEachSlot(planned, compiled, [&](WeightOp op, ArrayRef<int64_t> turns, attn_pack *pack, int64_t bytes) {
    std::vector<Bytes> parts;
    for (size_t p = 0; p < op.getParts().size(); ++p)
      parts.push_back(layOut(drawPart(op, p, turns, seed), pack && op.getStored() == "in_out"));
    Bytes whole;
    for (const Bytes &part : parts)
      whole.insert(whole.end(), part.begin(), part.end());
    slots.push_back(pack ? packParts(pack, parts, ATTN_F32, bytes) : whole);
  });
  return slots;
}

/// The numbers of a part cut to 16 bits, and the same as float32. `half`: float16, of numbers that both can hold.
static std::pair<Bytes, Bytes> cutTo16(const Bytes &part, bool half) {
  Bytes cut, same;
  for (size_t at = 0; at < part.size(); at += 4) {
    uint32_t bits;
    std::memcpy(&bits, part.data() + at, 4);
    bits &= 0xffff0000; // 7 bits of fraction, which bfloat16 holds, and float16 too
    uint32_t exponent = (bits >> 23) & 255;
    if (half && (exponent < 113 || exponent > 142))
      bits = exponent = 0; // neither normal in float16 nor wanted here
    uint16_t small =
        half ? (bits >> 16 & 0x8000) | (exponent ? (exponent - 112) << 10 | (bits >> 13 & 0x3ff) : 0) : bits >> 16;
    same.insert(same.end(), reinterpret_cast<char *>(&bits), reinterpret_cast<char *>(&bits) + 4);
    cut.insert(cut.end(), reinterpret_cast<char *>(&small), reinterpret_cast<char *>(&small) + 2);
  }
  return {cut, same};
}

bool packsEveryType(ModuleOp planned, const CompiledModule &compiled, uint64_t seed) {
  bool right = true;
  forEachSlot(planned, compiled, [&](WeightOp op, ArrayRef<int64_t> turns, attn_pack *pack, int64_t bytes) {
    for (bool half : {false, true}) {
      std::vector<Bytes> small, same;
      for (size_t p = 0; pack && p < op.getParts().size(); ++p) {
        auto [cut, full] = cutTo16(layOut(drawPart(op, p, turns, seed), op.getStored() == "in_out"), half);
        small.push_back(cut);
        same.push_back(full);
      }
      if (pack) {
        Bytes packed = packParts(pack, small, half ? ATTN_F16 : ATTN_BF16, bytes);
        right &= !packed.empty() && packed == packParts(pack, same, ATTN_F32, bytes);
      }
    }
  });
  return right;
}

} // namespace attn::agree
