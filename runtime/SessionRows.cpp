// The rows that a session holds from call to call.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/SessionRows.h"
#include "runtime/Error.h"
#include <sys/mman.h>

namespace attn {
namespace {

constexpr int64_t mostBytes = INT64_MAX / 2;

// The bytes of all slots of a place with so many rows each; more than mostBytes if that cannot be.
int64_t bytesOf(const StateSpec &place, int64_t rows) {
  int64_t bytes;
  bool fits = !__builtin_mul_overflow(place.rowBytes, rows, &bytes) && bytes <= mostBytes &&
              !__builtin_mul_overflow(aligned(bytes), place.slots(), &bytes) && bytes <= mostBytes;
  return fits ? bytes : mostBytes + 1;
}

} // namespace

SessionRows::~SessionRows() {
  reset();
  if (mapping)
    munmap(mapping, mappedBytes);
}

bool SessionRows::reserve() {
  if (metadata.state.empty())
    return true;
  int64_t bytes = 0;
  for (const StateSpec &place : metadata.state)
    if (!place.once && bytes <= mostBytes)
      bytes += bytesOf(place, capacity);
  slots.resize(static_cast<size_t>(metadata.stateSlots()));
  once.resize(metadata.state.size());
  if (bytes == 0)
    bytes = aligned(1); // places without numbers lie somewhere too
  void *memory = MAP_FAILED;
  if (bytes <= mostBytes)
    memory = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return fail("out of memory: a session of `%s` with the capacity %lld cannot have that much room",
                metadata.model.data(), static_cast<long long>(capacity));
  mapping = static_cast<char *>(memory);
  mappedBytes = static_cast<size_t>(bytes);
  char *next = mapping;
  for (const StateSpec &place : metadata.state)
    for (int64_t i = 0; i < place.slots() && !place.once; ++i) {
      slots[static_cast<size_t>(place.firstSlot + i)] = next;
      next += aligned(place.rowBytes * capacity);
    }
  return true;
}

bool SessionRows::copy(const SessionRows &other) {
  for (size_t s = 0; s < metadata.state.size(); ++s) {
    const StateSpec &place = metadata.state[s];
    if (place.once && other.kept(s) && !fill(s, other.kept(s)))
      return false;
    int64_t rows = place.once ? other.kept(s) : other.cached;
    for (int64_t i = place.firstSlot; i < place.firstSlot + place.slots() && rows; ++i)
      memcpy(slots[static_cast<size_t>(i)], other.slots[static_cast<size_t>(i)],
             static_cast<size_t>(rows * place.rowBytes));
  }
  cached = other.cached;
  appended = other.appended;
  return true;
}

void SessionRows::append(int64_t rows) {
  cached += rows;
  appended = rows;
}

bool SessionRows::fill(size_t state, int64_t rows) {
  const StateSpec &place = metadata.state[state];
  int64_t bytes = bytesOf(place, rows);
  char *memory = bytes <= mostBytes ? static_cast<char *>(allocateLarge(static_cast<size_t>(bytes))) : nullptr;
  if (!memory)
    return fail("out of memory: %lld rows cannot be kept", static_cast<long long>(rows));
  once[state].memory = memory;
  once[state].rows = rows;
  for (int64_t i = 0; i < place.slots(); ++i)
    slots[static_cast<size_t>(place.firstSlot + i)] = memory + i * aligned(rows * place.rowBytes);
  return true;
}

void SessionRows::forget(size_t state) {
  const StateSpec &place = metadata.state[state];
  free(once[state].memory);
  once[state] = Once();
  for (int64_t i = 0; i < place.slots(); ++i)
    slots[static_cast<size_t>(place.firstSlot + i)] = nullptr;
}

void SessionRows::reset() {
  truncate(0);
  for (size_t s = 0; s < once.size(); ++s)
    if (metadata.state[s].once)
      forget(s);
}

void SessionRows::truncate(int64_t length) {
  cached = length;
  appended = -1;
}

void SessionRows::choose(const int64_t *rows, int64_t n) {
  int64_t first = cached - appended;
  for (const StateSpec &place : metadata.state)
    for (int64_t i = 0; i < place.slots() && !place.once; ++i) {
      char *base = slots[static_cast<size_t>(place.firstSlot + i)];
      for (int64_t row = 0; row < n; ++row)
        memmove(base + (first + row) * place.rowBytes, base + (first + rows[row]) * place.rowBytes,
                static_cast<size_t>(place.rowBytes));
    }
  truncate(first + n);
}

} // namespace attn
