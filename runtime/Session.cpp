// A session: the state of one sequence and the scratch memory of its calls.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Session.h"
#include "runtime/Error.h"

using namespace attn;

namespace {

// One session while a function of the interface, called `name`, has it.
class Claim {
public:
  Claim(const attn_session *wanted, const char *name) {
    const void *by;
    if (!wanted)
      fail("%s: the session is null", name);
    else if (!wanted->claim(this, by))
      fail("%s: the session is in use by a call", name);
    else
      session = wanted;
  }
  Claim(const Claim &) = delete;
  Claim &operator=(const Claim &) = delete;
  ~Claim() {
    if (session)
      session->leave();
  }
  explicit operator bool() const { return session; }

private:
  const attn_session *session = nullptr;
};

// What the session remembers of a call of it: nothing, or why it failed.
int32_t ended(attn_session *session, bool done) {
  session->error.clear();
  if (!done)
    session->error.append(lastError());
  return done ? 0 : 1;
}

bool checkKept(const SessionRows &held, const int64_t *rows, int64_t n) {
  int64_t count = held.choosable();
  if (count < 0)
    return fail(
        "attn_session_keep: no call has cached rows since the session was made, reset, truncated or chosen from");
  if (n > 0 && !rows)
    return fail("attn_session_keep: the rows are null");
  if (n < 0 || n > count)
    return fail("attn_session_keep: the last call cached %lld rows, %lld of them cannot be kept",
                static_cast<long long>(count), static_cast<long long>(n));
  for (int64_t i = 0; i < n; ++i)
    if (rows[i] >= count || rows[i] < 0 || (i && rows[i] <= rows[i - 1]))
      return fail("attn_session_keep: rows[%lld] is %lld, the numbers should ascend within 0 .. %lld",
                  static_cast<long long>(i), static_cast<long long>(rows[i]), static_cast<long long>(count - 1));
  return true;
}

} // namespace

bool attn_session::claim(const void *call, const void *&by) const {
  by = nullptr;
  return user.compare_exchange_strong(by, call, std::memory_order_acquire);
}

char *attn_session::scratch(int64_t bytes) {
  if (bytes > arenaBytes || !arena) {
    free(arena);
    arena = static_cast<char *>(allocateLarge(static_cast<size_t>(bytes)));
    arenaBytes = arena ? bytes : 0;
  }
  return arena;
}

attn_session *attn_session_create(attn_model *model, int64_t capacity) {
  if (!model) {
    fail("attn_session_create: the model is null");
    return nullptr;
  }
  if (capacity < 0) {
    fail("a session cannot have the capacity %lld", static_cast<long long>(capacity));
    return nullptr;
  }
  Owned<attn_session> session(new attn_session(model, capacity));
  return session->rows.reserve() ? session.release() : nullptr;
}

void attn_session_free(attn_session *session) {
  delete session;
}

const char *attn_session_error(const attn_session *session) {
  return session->error.c_str();
}

int64_t attn_session_length(const attn_session *session) {
  Claim claim(session, "attn_session_length");
  return claim ? session->rows.length() : -1;
}

int32_t attn_session_reset(attn_session *session) {
  Claim claim(session, "attn_session_reset");
  if (!claim)
    return 1;
  session->rows.reset();
  return ended(session, true);
}

int32_t attn_session_truncate(attn_session *session, int64_t length) {
  Claim claim(session, "attn_session_truncate");
  if (!claim)
    return 1;
  int64_t held = session->rows.length();
  bool inside = length >= 0 && length <= held;
  if (inside)
    session->rows.truncate(length);
  else
    fail("attn_session_truncate: the session holds %lld rows, it cannot be cut to %lld", static_cast<long long>(held),
         static_cast<long long>(length));
  return ended(session, inside);
}

attn_session *attn_session_fork(attn_session *session) {
  Claim claim(session, "attn_session_fork");
  if (!claim)
    return nullptr;
  Owned<attn_session> copy(new attn_session(session->model, session->capacity));
  bool done = copy->rows.reserve() && copy->rows.copy(session->rows);
  ended(session, done);
  return done ? copy.release() : nullptr;
}

int32_t attn_session_keep(attn_session *session, const int64_t *rows, int64_t n) {
  Claim claim(session, "attn_session_keep");
  if (!claim)
    return 1;
  bool fits = checkKept(session->rows, rows, n);
  if (fits)
    session->rows.choose(rows, n);
  return ended(session, fits);
}

int32_t attn_session_probe(attn_session *session, attn_probe *probe, void *user) {
  size_t taps = 0;
  for (const FunctionSpec &function : session->model->metadata.functions)
    taps += function.taps;
  if (probe && taps == 0) {
    fail("model `%s` was compiled without taps: attnc --probe keeps them", attn_model_name(session->model));
    return 1;
  }
  session->probe = probe;
  session->probeUser = user;
  return 0;
}
