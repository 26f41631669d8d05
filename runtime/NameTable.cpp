// Numbers by name: open addressing, half full at most.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/NameTable.h"

namespace attn {
namespace {

// FNV-1a (Fowler, Noll, Vo), 64 bits, with its high bits mixed down because the table uses the low ones.
uint64_t hashOf(View name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char byte : name)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return hash ^ (hash >> 29);
}

} // namespace

// The slot that holds the name, or the empty one where it belongs.
size_t NameTable::place(View name, uint64_t hash) const {
  size_t mask = slots.size() - 1, i = hash & mask;
  while (slots[i].number != -1 && (slots[i].hash != hash || slots[i].name != name))
    i = (i + 1) & mask;
  return i;
}

int64_t NameTable::find(View name) const {
  return used ? slots[place(name, hashOf(name))].number : -1;
}

bool NameTable::add(View name, int64_t number) {
  if (2 * (used + 1) > slots.size())
    grow();
  uint64_t hash = hashOf(name);
  Slot &slot = slots[place(name, hash)];
  if (slot.number != -1)
    return false;
  slot = {name, hash, number};
  ++used;
  return true;
}

void NameTable::grow() {
  Array<Slot> old = std::move(slots);
  slots = Array<Slot>();
  slots.resize(old.empty() ? 16 : 2 * old.size());
  for (const Slot &slot : old)
    if (slot.number != -1)
      slots[place(slot.name, slot.hash)] = slot;
}

} // namespace attn
