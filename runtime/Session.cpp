// A session: the state of one sequence and the scratch memory of its calls.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Session.h"
#include "runtime/Error.h"

using namespace attn;

attn_session::~attn_session() {
  free(arena);
  model->release();
}

bool attn_session::claim(const void *call, const void *&by) {
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
  return new attn_session(model, capacity);
}

void attn_session_free(attn_session *session) {
  delete session;
}

const char *attn_session_error(const attn_session *session) {
  return session->error.c_str();
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
