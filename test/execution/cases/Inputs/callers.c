/* callers.c: callers WEIGHTS: eight threads make 1,000 calls each on one model, with inputs of their own, and every
 * result has the bits of the same call made alone before. Then they share one session: a call is served or refused.
 * Case F06. */
#include "model.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 8, calls = 1000, inputs = 40, width = 12, longest = 24 };

static attn_model *model;
static float given[inputs][longest * width], wanted[2][inputs][longest * width];
static atomic_int different, refused, strange, served;

static int length(int input) {
  return 1 + input * 7 % longest;
}

static int run(attn_session *session, int function, int input, float *result) {
  const int64_t offsets[] = {0, length(input)}, *all[] = {offsets};
  const void *values[] = {given[input]};
  void *results[] = {result};
  return attn_run(&session, 1, function, values, all, results);
}

static int same(const float *result, int function, int input) {
  return memcmp(result, wanted[function][input], sizeof(float) * width * (size_t)length(input)) == 0;
}

/* Every other call goes to the function that caches, in a session that is emptied or cut back to nothing before. */
static void *work(void *argument) {
  attn_session *session = attn_session_create(model, longest);
  unsigned state = 1 + (unsigned)(size_t)argument;
  float result[longest * width];
  for (int n = 0; n < calls; ++n) {
    state = state * 1664525 + 1013904223;
    int input = (int)(state >> 16) % inputs, function = n % 2;
    if (n % 4 == 1 ? attn_session_reset(session) : attn_session_truncate(session, 0))
      ++different;
    if (run(session, function, input, result) || !same(result, function, input))
      ++different;
  }
  attn_session_free(session);
  return NULL;
}

/* One session of all: whoever comes while it is busy is told so, and nobody gets a wrong number. */
static void *misuse(void *session) {
  float result[longest * width];
  for (int n = 0; n < calls; ++n) {
    int input = n % inputs;
    if (run(session, 0, input, result) == 0) {
      ++served;
      different += !same(result, 0, input);
    } else if (strstr(attn_last_error(), "is in use by another call")) {
      ++refused;
    } else if (strange++ == 0) {
      fprintf(stderr, "error: %s\n", attn_last_error());
    }
  }
  return NULL;
}

static void all(void *(*action)(void *), void *session) {
  pthread_t thread[threads];
  for (size_t t = 0; t < threads; ++t)
    pthread_create(&thread[t], NULL, action, session ? session : (void *)t);
  for (int t = 0; t < threads; ++t)
    pthread_join(thread[t], NULL);
}

int main(int argc, char **argv) {
  model = argc > 1 ? attn_model_create(argv[1]) : NULL;
  if (!model)
    return fprintf(stderr, "error: %s\n", attn_last_error()), 1;
  attn_session *session = attn_session_create(model, longest);
  for (int input = 0; input < inputs; ++input) {
    for (int n = 0; n < longest * width; ++n)
      given[input][n] = (float)((n * 37 + input * 101) % 64 - 32) / 16;
    for (int function = 0; function < 2; ++function)
      if (attn_session_reset(session) || run(session, function, input, wanted[function][input]))
        return fprintf(stderr, "error: %s\n", attn_last_error()), 1;
  }
  all(work, NULL);
  printf("%d calls, %d different\n", threads * calls, different);
  for (int round = 0; round < 100 && refused == 0; ++round)
    all(misuse, session);
  printf("one session: %s, %s, %d different, %d strange\n", served ? "some served" : "none served",
         refused ? "some refused" : "none refused", different, strange);
  attn_session_free(session);
  attn_model_free(model);
  return different || strange;
}
