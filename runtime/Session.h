// A session: the state of one sequence and the scratch memory of its calls.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_SESSION_H
#define ATTN_RUNTIME_SESSION_H
#include "runtime/Model.h"
#include "runtime/SessionRows.h"

// What attn_call.probe points to while a function runs.
struct attn_tap_frame {
  attn_probe *probe;
  void *user;
  int64_t n;
  const int64_t *const *offsets;
};

struct attn_session : attn::Heap {
  attn_session(attn_model *owner, int64_t room)
      : model(owner), capacity(room), hold(owner), rows(owner->metadata, room) {}
  ~attn_session() { free(arena); }

  // Takes the session for one call; false if a call has it: then `by` says which.
  bool claim(const void *call, const void *&by) const;
  void leave() const { user.store(nullptr, std::memory_order_release); }
  // At least so many bytes, 64-byte aligned, kept for later calls; null if there is not that much.
  char *scratch(int64_t bytes);

  attn_model *const model;
  const int64_t capacity;
  const attn::ModelHold hold; // in front of the rows, which need the model to their end
  attn::SessionRows rows;
  attn::Text error;
  attn_probe *probe = nullptr;
  void *probeUser = nullptr;

private:
  mutable std::atomic<const void *> user{nullptr};
  char *arena = nullptr;
  int64_t arenaBytes = 0;
};
#endif
