// The weights as the kernels want them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/PackedWeights.h"
#include "runtime/Error.h"
#include "runtime/Floats.h"

namespace attn {
namespace {

int32_t typeCode(View type) {
  return type == "F16" ? ATTN_F16 : type == "BF16" ? ATTN_BF16 : ATTN_F32;
}
size_t typeSize(int32_t type) {
  return type == ATTN_F32 ? 4 : 2;
}

bool isAligned(const FileTensor &tensor) {
  return reinterpret_cast<uintptr_t>(tensor.bytes.data()) % typeSize(typeCode(tensor.type)) == 0;
}

template <class Bits> Bits load(const char *bytes, size_t i) {
  Bits bits;
  memcpy(&bits, bytes + sizeof bits * i, sizeof bits);
  return bits;
}

// out[o, i] = the number at i * outer + o, or, if the file lies as the text, the number at the same place.
template <class Number> void copy(float *out, bool inOut, size_t outer, size_t inner, Number number) {
  if (!inOut)
    for (size_t i = 0; i < outer * inner; ++i)
      out[i] = number(i);
  else
    for (size_t o = 0; o < outer; ++o)
      for (size_t i = 0; i < inner; ++i)
        out[o * inner + i] = number(i * outer + o);
}

// Writes a tensor of the file as float32 in the order of the text; `inner` is the size of the text's last dimension.
void convert(float *out, const FileTensor &tensor, bool inOut, size_t inner) {
  const char *bytes = tensor.bytes.data();
  size_t outer = inner ? static_cast<size_t>(tensor.elements()) / inner : 0;
  switch (typeCode(tensor.type)) {
  case ATTN_F16:
    return copy(out, inOut, outer, inner, [=](size_t i) { return floatOfFloat16(load<uint16_t>(bytes, i)); });
  case ATTN_BF16:
    return copy(out, inOut, outer, inner, [=](size_t i) { return floatOfBfloat16(load<uint16_t>(bytes, i)); });
  default:
    return copy(out, inOut, outer, inner, [=](size_t i) { return floatOfBits(load<uint32_t>(bytes, i)); });
  }
}

struct Job {
  const attn_program &program;
  const Metadata &metadata;
  const WeightBinding &binding;
  Array<const void *> &slots;
  char *memory = nullptr;
  Array<size_t> places = {}; // where a slot's own numbers begin in it
};

bool isUsedFromFile(const Job &job, const BoundSlot &slot) {
  const WeightSpec &weight = job.metadata.weights[slot.weight];
  const FileTensor &tensor = *slot.parts[0];
  return slot.parts.size() == 1 && tensor.type == "F32" && !weight.inOut && isAligned(tensor);
}

attn_pack *packOf(const Job &job, const BoundSlot &slot) {
  return job.program.packs ? job.program.packs[slot.weight] : nullptr;
}

void makePlain(const BoundSlot &slot, const WeightSpec &weight, void *memory) {
  float *out = static_cast<float *>(memory);
  for (const FileTensor *tensor : slot.parts) {
    convert(out, *tensor, weight.inOut, weight.shape.empty() ? 1 : static_cast<size_t>(weight.shape.back()));
    out += tensor->elements();
  }
}

// The pack function wants aligned parts of one type: those that are not become float32 copies first. Copies keep the
// layout of the file. False if there is no memory for them.
bool callPack(attn_pack *pack, const BoundSlot &slot, void *memory) {
  bool direct = true;
  for (const FileTensor *tensor : slot.parts)
    direct = direct && tensor->type == slot.parts[0]->type && isAligned(*tensor);
  Array<const void *> parts;
  Array<void *> copies;
  bool enough = true;
  for (const FileTensor *tensor : slot.parts) {
    void *copy = direct ? nullptr : allocateLarge(static_cast<size_t>(tensor->elements()) * 4);
    enough = enough && (direct || copy);
    if (copy)
      convert(static_cast<float *>(copy), *tensor, false, 1);
    parts.push(direct ? static_cast<const void *>(tensor->bytes.data()) : copy);
    copies.push(copy);
  }
  if (enough)
    pack(memory, parts.data(), direct ? typeCode(slot.parts[0]->type) : ATTN_F32);
  for (void *copy : copies)
    free(copy);
  return enough;
}

// How much memory of its own a slot needs.
size_t ownBytes(const Job &job, const BoundSlot &slot) {
  bool pack = packOf(job, slot);
  if (!slot.needed || (!pack && isUsedFromFile(job, slot)))
    return 0;
  if (pack)
    return static_cast<size_t>(job.metadata.weights[slot.weight].packedBytes);
  size_t bytes = 0;
  for (const FileTensor *tensor : slot.parts)
    bytes += static_cast<size_t>(tensor->elements()) * 4;
  return bytes;
}

// One slot; leaves null where memory is short.
void packSlot(void *context, int64_t index) {
  Job &job = *static_cast<Job *>(context);
  size_t i = static_cast<size_t>(index);
  const BoundSlot &slot = job.binding.slots[i];
  if (!slot.needed)
    return;
  attn_pack *pack = packOf(job, slot);
  if (!pack && isUsedFromFile(job, slot)) {
    job.slots[i] = slot.parts[0]->bytes.data();
    return;
  }
  void *memory = job.memory + job.places[i];
  if (!pack)
    makePlain(slot, job.metadata.weights[slot.weight], memory);
  if (!pack || callPack(pack, slot, memory))
    job.slots[i] = memory;
  for (const FileTensor *tensor : slot.parts)
    forgetPages(tensor->bytes);
}

} // namespace

PackedWeights::~PackedWeights() {
  free(memory);
}

bool PackedWeights::pack(const attn_program &program, const Metadata &metadata, const WeightBinding &binding,
                         ThreadPool &pool) {
  slots.resize(binding.slots.size());
  Job job = {program, metadata, binding, slots};
  size_t bytes = 0;
  for (const BoundSlot &slot : binding.slots) {
    job.places.push(bytes);
    size_t most = PTRDIFF_MAX, own = ownBytes(job, slot);
    bytes = own < most - 63 - bytes ? bytes + (own + 63) / 64 * 64 : most - 63;
  }
  // Every call reads all of it: in large pages that takes a fifth less time.
  memory = allocateLarge(bytes, LargePages);
  job.memory = static_cast<char *>(memory);
  if (memory)
    pool.run(packSlot, &job, static_cast<int64_t>(slots.size()));
  for (size_t i = 0; i < slots.size(); ++i)
    if (binding.slots[i].needed && !slots[i])
      return fail("out of memory: the weights need %lld bytes", static_cast<long long>(bytes));
  return true;
}

} // namespace attn
