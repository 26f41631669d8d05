// Numbers by name: a hash table that only grows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_NAME_TABLE_H
#define ATTN_RUNTIME_NAME_TABLE_H
#include "runtime/Memory.h"

namespace attn {

class NameTable {
public:
  // The number under that name, or -1.
  int64_t find(View name) const;
  // Adds a name that must stay alive as long as the table. If it is already there: false, and nothing changes.
  bool add(View name, int64_t number);
  size_t size() const { return used; }

private:
  struct Slot {
    View name;
    uint64_t hash = 0;
    int64_t number = -1;
  };
  size_t place(View name, uint64_t hash) const;
  void grow();

  Array<Slot> slots;
  size_t used = 0;
};

} // namespace attn
#endif
