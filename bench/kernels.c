/* kernels.c - one attention or one product of a compiled object by itself, on one or two threads, checked and timed.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *     kernels attend HEADS LENGTH WIDTH THREADS REPETITIONS TOLERANCE
 *     kernels linear ROWS INNER COLUMNS THREADS REPETITIONS TOLERANCE
 * Linked with an object of `attnc --emit=obj`; this file stands in for the runtime: it runs the tasks of a launch on
 * one or two threads. One thread is timed by its own processor time, which others on the machine disturb least; two by
 * the clock. Prints the minimum and the median in ms, GFLOP/s at the minimum, and the largest error of four rows
 * against sums in double; exits 1 if that is above the tolerance, of the largest result. */
#define _GNU_SOURCE
#include "runtime/abi.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const attn_program attn_this_program;

static int threads;
static struct {
  attn_call *call;
  attn_kernel *kernel;
  const void *args;
  long tasks;
} loop;
static atomic_long nextTask;
static atomic_int generation, finished;

static void work(void) {
  for (long task; (task = atomic_fetch_add(&nextTask, 1)) < loop.tasks;)
    loop.kernel(loop.call, loop.args, task);
}

static void *helper(void *unused) {
  for (int seen = 0;;) {
    while (atomic_load(&generation) == seen)
      ;
    ++seen;
    work();
    atomic_store(&finished, 1);
  }
  return unused;
}

void attn_rt_parallel_for(attn_call *call, attn_kernel *kernel, const void *args, int64_t tasks) {
  loop.call = call, loop.kernel = kernel, loop.args = args, loop.tasks = tasks;
  atomic_store(&nextTask, 0);
  if (threads > 1) {
    atomic_store(&finished, 0);
    atomic_fetch_add(&generation, 1);
  }
  work();
  while (threads > 1 && !atomic_load(&finished))
    ;
}

int64_t attn_rt_threads(attn_call *call) {
  (void)call;
  return threads;
}

static double now(void) {
  struct timespec t;
  clock_gettime(threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static float *numbers(long count, unsigned seed) {
  float *all = aligned_alloc(64, (count * 4 + 127) / 64 * 64);
  for (long i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    all[i] = (seed >> 8) / 8388608.f - 1;
  }
  return all;
}

static int ascending(const void *a, const void *b) {
  return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}

/* Runs the first export `times` times; the first run, which also fills the caches, does not count. */
static void measure(attn_call *call, int times, double operations, double *fastest, const char *what) {
  pthread_t second;
  if (threads > 1)
    pthread_create(&second, NULL, helper, NULL);
  attn_this_program.entries[0](call);
  call->arena = aligned_alloc(64, (call->arena_bytes + 127) / 64 * 64);
  attn_this_program.entries[0](call);
  double *ms = malloc(times * sizeof *ms);
  for (int i = 0; i < times; ++i) {
    double begin = now();
    attn_this_program.entries[0](call);
    ms[i] = (now() - begin) * 1e3;
  }
  qsort(ms, times, sizeof *ms, ascending);
  *fastest = ms[0];
  printf("%-28s %d thread%s %8.3f ms minimum %8.3f median %6.0f GFLOP/s", what, threads, threads > 1 ? "s" : " ", ms[0],
         ms[times / 2], operations / ms[0] / 1e6);
}

static double errorOfAttention(const float *q, const float *k, const float *v, const float *y, long heads, long n,
                               long width) {
  double worst = 0, *w = malloc(n * sizeof *w);
  long rows[] = {0, 1 % n, n / 3, n - 1};
  for (int r = 0; r < 4; ++r) {
    long head = (r + heads / 2) % heads;
    double sum = 0, most = -INFINITY;
    for (long j = 0; j < n; ++j) {
      w[j] = 0;
      for (long d = 0; d < width; ++d)
        w[j] += (double)q[(rows[r] * heads + head) * width + d] * k[(j * heads + head) * width + d] / sqrt(width);
      most = fmax(most, w[j]);
    }
    for (long j = 0; j < n; ++j)
      sum += w[j] = exp(w[j] - most);
    for (long d = 0; d < width; ++d) {
      double want = 0;
      for (long j = 0; j < n; ++j)
        want += w[j] / sum * v[(j * heads + head) * width + d];
      worst = fmax(worst, fabs(want - y[(rows[r] * heads + head) * width + d]));
    }
  }
  free(w);
  return worst;
}

static double attend(long heads, long n, long width, int times) {
  long count = heads * n * width;
  float *q = numbers(count, 1), *k = numbers(count, 2), *v = numbers(count, 3), *y = numbers(count, 4);
  int64_t offsets[] = {0, n};
  const int64_t *all[] = {offsets, offsets};
  const void *inputs[] = {q, k, v};
  void *outputs[] = {y};
  attn_call call = {1, all, inputs, outputs, NULL, NULL, 0, NULL, NULL};
  char what[64];
  double fastest;
  snprintf(what, sizeof what, "attend %ld x %ld x %ld", heads, n, width);
  measure(&call, times, 4.0 * heads * n * n * width, &fastest, what);
  return errorOfAttention(q, k, v, y, heads, n, width);
}

static double linear(long rows, long inner, long columns, int times) {
  float *x = numbers(rows * inner, 1), *weight = numbers(inner * columns, 2), *y = numbers(rows * columns, 3);
  float *packed = numbers((inner + 1) * (columns + 256), 4);
  const void *parts[] = {weight};
  attn_this_program.packs[0](packed, parts, ATTN_F32);
  int64_t offsets[] = {0, rows};
  const int64_t *all[] = {offsets};
  const void *inputs[] = {x}, *weights[] = {packed};
  void *outputs[] = {y};
  attn_call call = {1, all, inputs, outputs, weights, NULL, 0, NULL, NULL};
  char what[64];
  double fastest, worst = 0, largest = 0;
  snprintf(what, sizeof what, "linear %ld x %ld x %ld", rows, inner, columns);
  measure(&call, times, 2.0 * rows * inner * columns, &fastest, what);
  long tested[] = {0, rows / 3, rows / 2, rows - 1};
  for (int r = 0; r < 4; ++r)
    for (long n = 0; n < columns; ++n) {
      double want = 0;
      for (long i = 0; i < inner; ++i)
        want += (double)x[tested[r] * inner + i] * weight[n * inner + i];
      largest = fmax(largest, fabs(want));
      worst = fmax(worst, fabs(want - y[tested[r] * columns + n]));
    }
  return worst / largest;
}

int main(int count, char **words) {
  if (count != 8)
    return fprintf(stderr, "usage: kernels attend HEADS LENGTH WIDTH THREADS REPETITIONS TOLERANCE, or linear ROWS "
                           "INNER COLUMNS …\n"),
           2;
  long a = atol(words[2]), b = atol(words[3]), c = atol(words[4]);
  threads = atoi(words[5]);
  int times = atoi(words[6]);
  double error = strcmp(words[1], "attend") ? linear(a, b, c, times) : attend(a, b, c, times);
  printf("  error %.1e\n", error);
  return !(error < atof(words[7]));
}
