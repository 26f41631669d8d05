/* read.c - how fast memory is read: `read THREADS` prints GB/s.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Each thread sums its part of 512 MB in large pages, in order; the best of twenty rounds. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { lanes = 8, vectors = 8, bytes = 512 << 20, rounds = 20, mostThreads = 64 };
typedef float Vector __attribute__((vector_size(4 * lanes)));

static Vector *memory;
static int threads;
static volatile float sink;
static pthread_barrier_t barrier;

static void readPart(long part) {
  size_t all = bytes / sizeof(Vector) / threads / vectors * vectors;
  const Vector *from = memory + part * all;
  Vector sums[vectors] = {0};
  for (size_t i = 0; i < all; i += vectors) {
    __builtin_prefetch(from + i + 16);
    __builtin_prefetch(from + i + 18);
    __builtin_prefetch(from + i + 20);
    __builtin_prefetch(from + i + 22);
    for (int v = 0; v < vectors; ++v)
      sums[v] += from[i + v];
  }
  for (int v = 1; v < vectors; ++v)
    sums[0] += sums[v];
  sink = sums[0][0];
}

static void *helper(void *part) {
  for (;;) {
    pthread_barrier_wait(&barrier);
    readPart((long)part);
    pthread_barrier_wait(&barrier);
  }
  return part;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char **words) {
  threads = count > 1 ? atoi(words[1]) : 1;
  if (threads < 1 || threads > mostThreads)
    return 1;
  memory = aligned_alloc(2 << 20, bytes);
  if (!memory)
    return 1;
  madvise(memory, bytes, MADV_HUGEPAGE);
  for (size_t i = 0; i < bytes / sizeof(Vector); ++i)
    memory[i] = (Vector){(float)i};
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (long part = 1; part < threads; ++part) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, helper, (void *)part))
      return 1;
  }
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    pthread_barrier_wait(&barrier);
    double start = now();
    readPart(0);
    pthread_barrier_wait(&barrier);
    double took = now() - start;
    best = took < best ? took : best;
  }
  printf("%.2f\n", bytes / best * 1e-9);
  return 0;
}
