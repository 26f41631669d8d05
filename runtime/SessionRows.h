// The rows that a session holds from call to call: those of its caches, and what was given once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Caches lie in one mapping of the session, each place with room for `capacity` rows: memory that nobody has written
// costs nothing. What is given once gets its memory when it is given. Every place is 64-byte aligned.
#ifndef ATTN_RUNTIME_SESSION_ROWS_H
#define ATTN_RUNTIME_SESSION_ROWS_H
#include "runtime/Metadata.h"

namespace attn {

class SessionRows {
public:
  SessionRows(const Metadata &model, int64_t room) : metadata(model), capacity(room) {}
  SessionRows(const SessionRows &) = delete;
  SessionRows &operator=(const SessionRows &) = delete;
  ~SessionRows();

  // Finds the room; fails if there is not that much.
  bool reserve();
  // Makes this, which is as new, a copy of another session's rows of the same model and capacity.
  bool copy(const SessionRows &other);

  // Rows in the caches.
  int64_t length() const { return cached; }
  // Rows in a place of the kind `once`; 0: it is empty.
  int64_t kept(size_t state) const { return once[state].rows; }
  // Where the rows of a slot of attn_call.state begin; null for one that is empty and is given once.
  char *slot(size_t number) const { return slots[number]; }

  // Adds the rows that a call has written behind the others.
  void append(int64_t rows);
  // Memory for what this call gives once, which forget() takes back; false if there is not that much.
  bool fill(size_t state, int64_t rows);
  void forget(size_t state);

  void reset();
  void truncate(int64_t length);
  // How many rows the last append added; -1 if none could be chosen from any more.
  int64_t choosable() const { return appended; }
  // Of the rows of the last append keeps these, ascending numbers among them.
  void choose(const int64_t *rows, int64_t n);

private:
  struct Once {
    char *memory = nullptr;
    int64_t rows = 0;
  };

  const Metadata &metadata;
  const int64_t capacity;
  Array<char *> slots; // one a slot of attn_call.state
  Array<Once> once;    // one a symbol; those of caches are not used
  char *mapping = nullptr;
  size_t mappedBytes = 0;
  int64_t cached = 0, appended = -1;
};

} // namespace attn
#endif
