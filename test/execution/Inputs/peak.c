/* peak.c - how much memory one attention takes beyond its inputs and outputs, and whether its rows are right.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *     peak FUNCTION T       prints the KB by which the peak of the call exceeds what was resident before it
 * The kernel is asked for its own counters: VmRSS before, VmHWM (the highest ever) after. All that the call reads and
 * writes has been touched before. A row is checked against the same sum in double. */
#include "model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 64 };

static long memory(const char *field) {
  char line[256];
  long kb = -1;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, field, strlen(field)))
      kb = atol(line + strlen(field));
  fclose(status);
  return kb;
}

static double errorOfRow(int additive, const float *q, const float *k, const float *v, const float *y, int64_t n,
                         int64_t row) {
  double *w = malloc(n * sizeof *w), sum = 0, most = -INFINITY, error = 0;
  for (int64_t j = 0; j < n; ++j) {
    w[j] = 0;
    for (int d = 0; d < D; ++d)
      w[j] += (additive ? tanh(q[row * D + d] + k[j * D + d]) : (double)q[row * D + d] * k[j * D + d]) / 8;
    most = fmax(most, w[j]);
  }
  for (int64_t j = 0; j < n; ++j)
    sum += w[j] = exp(w[j] - most);
  for (int d = 0; d < D; ++d) {
    double want = 0;
    for (int64_t j = 0; j < n; ++j)
      want += w[j] / sum * v[j * D + d];
    error = fmax(error, fabs(want - y[row * D + d]));
  }
  free(w);
  return error;
}

int main(int argc, char **argv) {
  int additive = !strcmp(argv[1], "additive");
  int64_t n = atoll(argv[2]), offsets[2] = {0, n};
  float *q = malloc(n * D * 4), *k = malloc(n * D * 4), *v = malloc(n * D * 4), *y = malloc(n * D * 4);
  uint32_t random = 1;
  for (int64_t i = 0; i < n * D; ++i) {
    q[i] = (float)(random = random * 1664525u + 1013904223u) * 0x1p-31f - 1;
    k[i] = (float)(random = random * 1664525u + 1013904223u) * 0x1p-31f - 1;
    v[i] = (float)(random = random * 1664525u + 1013904223u) * 0x1p-31f - 1;
    y[i] = 7;
  }
  attn_model *model = attn_model_create(NULL);
  attn_session *session = model ? attn_session_create(model, n) : NULL;
  const int64_t *lengths[2] = {offsets, offsets};
  const void *inputs[3] = {q, k, v};
  void *outputs[1] = {y};
  long before = memory("VmRSS:");
  if (!session || attn_run(&session, 1, attn_function_find(model, argv[1]), inputs, lengths, outputs)) {
    fprintf(stderr, "peak: %s\n", attn_last_error());
    return 1;
  }
  long after = memory("VmHWM:");
  double error = fmax(errorOfRow(additive, q, k, v, y, n, 0), errorOfRow(additive, q, k, v, y, n, n - 1));
  printf("%s: %ld KB beyond inputs and outputs, error %.1e\n", argv[1], after - before, error);
  return after - before >= 8192 || !(error < 1e-5);
}
