// What one call sees and changes of the rows that its sessions hold.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// check() says no before anything has happened; show() finds the memory of what is given once and fills the fields of
// the attn_call; commit() makes the change. A call that ends without it has changed nothing.
#ifndef ATTN_RUNTIME_CALL_STATE_H
#define ATTN_RUNTIME_CALL_STATE_H
#include "runtime/CallShape.h"
#include "runtime/Session.h"

namespace attn {

class CallState {
public:
  CallState(const CallShape &sizes, attn_session *const *all)
      : shape(sizes), function(sizes.function), sessions(all), metadata(all[0]->model->metadata) {}
  CallState(const CallState &) = delete;
  CallState &operator=(const CallState &) = delete;
  ~CallState();

  bool check() const;
  bool show(attn_call &call);
  void commit();

private:
  bool checkCached(int64_t b) const;
  bool checkKept(int64_t b, const KeptSpec &kept) const;
  bool fillGiven();
  int64_t given(int64_t b, size_t sequence) const { return shape.rows(static_cast<int32_t>(sequence), b); }

  // A place that this call gives rows to.
  struct Filled {
    SessionRows *rows;
    size_t state;
  };

  const CallShape &shape;
  const FunctionSpec &function;
  attn_session *const *sessions;
  const Metadata &metadata;
  Array<Filled> filled;
  Array<int64_t> past, capacity;
  Array<Array<int64_t>> kept;
  Array<const int64_t *> keptLists;
  Array<Array<char *>> slots;
  Array<char *const *> slotLists;
};

} // namespace attn
#endif
