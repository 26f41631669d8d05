// What one call sees and changes of the rows that its sessions hold.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/CallState.h"
#include "runtime/Error.h"

namespace attn {

CallState::~CallState() {
  for (const Filled &place : filled)
    place.rows->forget(place.state);
}

bool CallState::check() const {
  for (int64_t b = 0; b < shape.n; ++b) {
    if (function.cached >= 0 && !checkCached(b))
      return false;
    for (const KeptSpec &place : function.kept)
      if (!checkKept(b, place))
        return false;
  }
  return true;
}

bool CallState::checkCached(int64_t b) const {
  size_t sequence = static_cast<size_t>(function.cached);
  const char *callee = function.signature.name, *name = function.sequences[sequence];
  long long number = b, held = sessions[b]->rows.length(), more = given(b, sequence), room = sessions[b]->capacity;
  if (more > room - held)
    return fail(
        "function `%s`: session %lld holds %lld rows and gets %lld more along `%s`, its capacity is %lld: create "
        "it with a larger one, or forget rows with attn_session_truncate or attn_session_reset",
        callee, number, held, more, name, room);
  long long longest = function.longest[sequence];
  if (longest && more > longest - held)
    return fail(
        "function `%s`: session %lld holds %lld rows and gets %lld more along `%s`, the model allows %lld: forget "
        "rows with attn_session_truncate or attn_session_reset",
        callee, number, held, more, name, longest);
  return true;
}

bool CallState::checkKept(int64_t b, const KeptSpec &place) const {
  const SessionRows &rows = sessions[b]->rows;
  const char *callee = function.signature.name, *name = function.sequences[place.sequence];
  long long number = b, more = given(b, place.sequence);
  long long first = rows.kept(static_cast<size_t>(place.state[0]));
  for (int64_t state : place.state) {
    long long held = rows.kept(static_cast<size_t>(state));
    if (more && held)
      return fail("function `%s`: session %lld keeps %lld rows of `%s` already and is given %lld: give none, or forget "
                  "them with attn_session_reset",
                  callee, number, held, name, more);
    if (!more && !held)
      return fail("function `%s`: session %lld keeps no rows of `%s` and is given none: its first call gives them",
                  callee, number, name);
    if (held != first)
      return fail("function `%s`: session %lld keeps %lld rows of `%s` in one place and %lld in another: it was given "
                  "them by functions that do not go together",
                  callee, number, first, name, held);
  }
  return true;
}

bool CallState::fillGiven() {
  for (int64_t b = 0; b < shape.n; ++b)
    for (const KeptSpec &place : function.kept)
      for (int64_t state : place.state) {
        int64_t more = given(b, place.sequence);
        SessionRows &rows = sessions[b]->rows;
        if (more == 0)
          continue;
        if (!rows.fill(static_cast<size_t>(state), more))
          return false;
        filled.push({&rows, static_cast<size_t>(state)});
      }
  return true;
}

bool CallState::show(attn_call &call) {
  if (!fillGiven())
    return false;
  for (int64_t b = 0; b < shape.n; ++b) {
    past.push(function.cached >= 0 ? sessions[b]->rows.length() : 0);
    capacity.push(sessions[b]->capacity);
  }
  for (const KeptSpec &place : function.kept) {
    Array<int64_t> rows;
    for (int64_t b = 0; b < shape.n; ++b)
      rows.push(sessions[b]->rows.kept(static_cast<size_t>(place.state[0])));
    keptLists.push(rows.data());
    kept.push(std::move(rows));
  }
  for (size_t slot = 0; slot < static_cast<size_t>(metadata.stateSlots()); ++slot) {
    Array<char *> places;
    for (int64_t b = 0; b < shape.n; ++b)
      places.push(sessions[b]->rows.slot(slot));
    slotLists.push(places.data());
    slots.push(std::move(places));
  }
  call.past = past.data();
  call.capacity = capacity.data();
  call.kept = keptLists.data();
  call.state = slotLists.data();
  return true;
}

void CallState::commit() {
  filled.clear();
  for (int64_t b = 0; b < shape.n && function.cached >= 0; ++b)
    sessions[b]->rows.append(given(b, static_cast<size_t>(function.cached)));
}

} // namespace attn
