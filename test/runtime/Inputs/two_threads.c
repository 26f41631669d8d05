/* two_threads.c: two sessions of one compiled model in two threads; with an argument both write one output, a race. */
#include "model.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows = 70, width = 8, rounds = 1500 };
static float q[rows * width], outputs[2][rows * width];

struct caller {
  attn_session *session;
  float *output;
};

static void *work(void *argument) {
  struct caller *caller = argument;
  const int64_t offsets[] = {0, rows}, *all[] = {offsets};
  const void *inputs[] = {q};
  void *results[] = {caller->output};
  for (int round = 0; round < rounds; ++round)
    if (attn_run(&caller->session, 1, 0, inputs, all, results)) {
      fprintf(stderr, "error: %s\n", attn_last_error());
      exit(1);
    }
  return NULL;
}

int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < rows * width; ++i)
    q[i] = (float)(i % 7);
  attn_model *model = attn_model_create(NULL);
  if (!model)
    return fprintf(stderr, "error: %s\n", attn_last_error()), 1;
  attn_model_threads(model, 2);
  struct caller callers[2];
  for (int i = 0; i < 2; ++i) {
    callers[i].session = attn_session_create(model, rows);
    callers[i].output = outputs[argc > 1 ? 0 : i];
  }
  pthread_t other;
  pthread_create(&other, NULL, work, &callers[1]);
  work(&callers[0]);
  pthread_join(other, NULL);
  for (int i = 0; i < rows * width && argc == 1; ++i)
    if (outputs[0][i] != outputs[1][i])
      return puts("the threads differ"), 1;
  puts("clean");
  return 0;
}
