// Two sessions of one model in two threads, for the thread sanitizer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   runtime-threads FOLDER          everything that several threads may do at once; prints "clean"
//   runtime-threads FOLDER race     both write the same output: the sanitizer must say so
//   runtime-threads FOLDER share    both use one session: one of them is refused, and that is no race
//
// Built twice: with the runtime under the sanitizer (runtime-threads), and with only the generated code and this
// program under it (runtime-threads-plain), as attnc --sanitize=thread has it.
#include "FakeProgram.h"
#include "runtime/attn.h"
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

constexpr int rows = 64, rounds = 200;

struct Caller {
  attn_session *session;
  float *output;
  int32_t refused = 0, wrong = 0;

  // Everything that a session can be asked to do with its rows; false if another thread came between.
  bool holdRows() {
    const float x[] = {1, 0, 2, 0};
    float y[4] = {};
    const int64_t offsets[] = {0, 2}, *all[] = {offsets}, second[] = {1};
    const void *inputs[] = {x};
    void *outputs[] = {y};
    bool done = attn_run(&session, 1, 2, inputs, all, outputs) == 0 && y[2] == 9;
    done = attn_session_keep(session, second, 1) == 0 && attn_session_length(session) == 1 && done;
    attn_session *copy = attn_session_fork(session);
    done = attn_session_truncate(session, 0) == 0 && copy && done;
    attn_session_free(copy);
    return attn_session_reset(session) == 0 && done;
  }

  void work() {
    int32_t ids[rows];
    for (int i = 0; i < rows; ++i)
      ids[i] = i % fakeVocabulary;
    const int64_t offsets[] = {0, rows}, *all[] = {offsets};
    const void *inputs[] = {ids, nullptr};
    void *outputs[] = {output};
    for (int round = 0; round < rounds; ++round) {
      refused += !holdRows();
      if (attn_run(&session, 1, 0, inputs, all, outputs) == 0) {
        wrong += output[1] != 32 || output[2 * rows - 1] != 32;
        continue;
      }
      refused += strcmp(attn_last_error(), "session 0 of the call is in use by another call") == 0;
      wrong += strcmp(attn_last_error(), "session 0 of the call is in use by another call") != 0;
    }
  }
};

} // namespace

int main(int argc, char **argv) {
  const char *folder = argc > 1 ? argv[1] : "", *mode = argc > 2 ? argv[2] : "";
  attn_model *model = attn_model_create(folder);
  if (!model) {
    fprintf(stderr, "error: %s\n", attn_last_error());
    return 1;
  }
  attn_model_threads(model, 3);
  attn_session *sessions[] = {attn_session_create(model, rows), attn_session_create(model, rows)};
  static float outputs[2][2 * rows];
  bool race = strcmp(mode, "race") == 0, share = strcmp(mode, "share") == 0;
  Caller callers[] = {{sessions[0], outputs[0]}, {sessions[!share], outputs[!race]}};
  std::thread other([&] { callers[1].work(); });
  callers[0].work();
  other.join();
  attn_session_free(sessions[0]);
  attn_model_free(model);
  attn_session_free(sessions[1]);
  int32_t refused = callers[0].refused + callers[1].refused, wrong = callers[0].wrong + callers[1].wrong;
  puts(wrong || (refused && !share) ? "wrong" : "clean");
  return wrong != 0;
}
