/* tiles.c - the instructions of tile registers in C, and a judge of attention that uses them; see tiles.test.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *     tiles GROUPS HEADS WIDTH LENGTH
 * The instructions follow Intel's SDM, volume 2: TDPBF16PS sums the even and the odd halves of pairs each by
 * themselves, then both, then adds that to the result; numbers too small to be normal are 0. */
#include "runtime/abi.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

void tile_load(char *tile, short rows, short bytes, const char *from, long stride) {
  memset(tile, 0, 1024);
  for (int r = 0; r < rows; ++r)
    memcpy(tile + 64 * r, from + stride * r, bytes);
}

void tile_store(const char *tile, short rows, short bytes, char *to, long stride) {
  for (int r = 0; r < rows; ++r)
    memcpy(to + stride * r, tile + 64 * r, bytes);
}

static float wide(uint16_t half) {
  uint32_t bits = (uint32_t)half << 16;
  float number;
  memcpy(&number, &bits, 4);
  return number;
}

void tile_multiply(float *result, short m, short n, short k, const float *c, const uint16_t *a, const uint16_t *b) {
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040); /* flush to zero, denormals are zero */
  float sums[16][16];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n / 4; ++j) {
      volatile float even = 0, odd = 0;
      for (int p = 0; p < k / 4; ++p) {
        even = fmaf(wide(a[i * 32 + 2 * p]), wide(b[p * 32 + 2 * j]), even);
        odd = fmaf(wide(a[i * 32 + 2 * p + 1]), wide(b[p * 32 + 2 * j + 1]), odd);
      }
      volatile float both = even + odd;
      sums[i][j] = c[i * 16 + j] + both;
    }
  memcpy(result, sums, sizeof sums);
  _mm_setcsr(before);
}

extern const attn_program attn_this_program;
enum { Before, All, Kept, Product };
enum { Columns = 70 };

void attn_rt_parallel_for(attn_call *call, attn_kernel *kernel, const void *args, int64_t tasks) {
  for (int64_t i = 0; i < tasks; ++i)
    kernel(call, args, i);
}

int64_t attn_rt_threads(attn_call *call) {
  (void)call;
  return 1;
}

static long groups, heads, width, length; /* heads: of all groups */

static float *numbers(long count, unsigned seed) {
  float *all = calloc(count, 4);
  for (long i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    all[i] = (seed >> 8) / 4194304.f - 2;
  }
  return all;
}

/* One call, its scratch memory full of NaN. */
static void run(int function, const float *q, const float *k, const float *v, float *y, long queries, long keys,
                long past, char *const *const *state) {
  int64_t rows[] = {0, queries}, others[] = {0, keys}, before[] = {past}, room[] = {length};
  const int64_t *offsets[] = {rows, others};
  const void *inputs[] = {q, k, v};
  void *outputs[] = {y};
  attn_call call = {.sequences = 1,
                    .offsets = offsets,
                    .inputs = inputs,
                    .outputs = outputs,
                    .past = before,
                    .capacity = room,
                    .state = state};
  attn_this_program.entries[function](&call);
  call.arena = aligned_alloc(64, (call.arena_bytes + 127) / 64 * 64);
  memset(call.arena, 255, call.arena_bytes);
  attn_this_program.entries[function](&call);
  free(call.arena);
}

static double errorOf(const float *q, const float *k, const float *v, const float *y) {
  double worst = 0, largest = 0, *w = calloc(length, sizeof *w);
  for (long i = 0; i < length; ++i)
    for (long h = 0; h < heads; ++h) {
      long g = h / (heads / groups);
      double sum = 0, most = -INFINITY;
      for (long j = 0; j <= i; ++j) {
        w[j] = 0;
        for (long d = 0; d < width; ++d)
          w[j] += (double)q[(i * heads + h) * width + d] * k[(j * groups + g) * width + d] / sqrt(width);
        most = fmax(most, w[j]);
      }
      for (long j = 0; j <= i; ++j)
        sum += w[j] = exp(w[j] - most);
      for (long d = 0; d < width; ++d) {
        double want = 0;
        for (long j = 0; j <= i; ++j)
          want += w[j] / sum * v[(j * groups + g) * width + d];
        largest = fmax(largest, fabs(want));
        worst = fmax(worst, fabs(want - y[(i * heads + h) * width + d]));
      }
    }
  return worst / largest;
}

static int wrong;

static void expect(const char *what, int right) {
  if (!right)
    printf("wrong: %s, groups %ld, heads %ld, width %ld, length %ld\n", what, groups, heads, width, length);
  wrong |= !right;
}

static void multiply(const float *x, const void *packed, float *y, long rows) {
  int64_t offsets[] = {0, rows};
  const int64_t *all[] = {offsets};
  const void *inputs[] = {x}, *weights[] = {packed};
  void *outputs[] = {y};
  attn_call call = {.sequences = 1, .offsets = all, .inputs = inputs, .outputs = outputs, .weights = weights};
  attn_this_program.entries[Product](&call);
  call.arena = aligned_alloc(64, (call.arena_bytes + 127) / 64 * 64);
  attn_this_program.entries[Product](&call);
  free(call.arena);
}

/* Rows times a packed weight: against sums in float64, and row by row. */
static void expectProducts(void) {
  float *x = numbers(length * width, 6), *w = numbers(Columns * width, 7), *y = numbers(length * Columns, 8);
  float *other = numbers(length * Columns, 9), *packed = aligned_alloc(64, 1 << 20);
  const void *parts[] = {w};
  memset(packed, 255, 1 << 20);
  attn_this_program.packs[0](packed, parts, ATTN_F32);
  multiply(x, packed, y, length);
  double worst = 0, largest = 0;
  for (long i = 0; i < length; ++i) {
    multiply(x + i * width, packed, other + i * Columns, 1);
    for (long n = 0; n < Columns; ++n) {
      double want = 0;
      for (long d = 0; d < width; ++d)
        want += (double)x[i * width + d] * w[n * width + d];
      largest = fmax(largest, fabs(want));
      worst = fmax(worst, fabs(want - y[i * Columns + n]));
    }
  }
  expect("products", worst <= 1e-2 * largest);
  expect("bits of one row's products", !memcmp(other, y, length * Columns * 4));
}

int main(int count, char **words) {
  if (count != 5)
    return 2;
  groups = atol(words[1]), heads = groups * atol(words[2]), width = atol(words[3]), length = atol(words[4]);
  long row = heads * width, keyRow = groups * width;
  float *q = numbers(length * row, 1), *k = numbers(length * keyRow, 2), *v = numbers(length * keyRow, 3);
  float *whole = numbers(length * row, 4), *other = numbers(length * row, 5);
  run(Before, q, k, v, whole, length, length, 0, NULL);
  expect("numbers", errorOf(q, k, v, whole) <= 1e-2);

  for (long i = 0; i < length; ++i)
    run(All, q + i * row, k, v, other + i * row, 1, i + 1, 0, NULL);
  expect("bits of one query", !memcmp(other, whole, length * row * 4));

  char *keys[] = {aligned_alloc(64, length * keyRow * 2 / 64 * 64 + 64)};
  char *values[] = {aligned_alloc(64, length * keyRow * 2 / 64 * 64 + 64)};
  char *const *const state[] = {keys, values};
  long chunks[] = {1, 1, 3, 33, length};
  for (long past = 0, n = 0; past < length; ++n) {
    long rows = chunks[n] < length - past ? chunks[n] : length - past;
    run(Kept, q + past * row, k + past * keyRow, v + past * keyRow, other + past * row, rows, rows, past, state);
    past += rows;
  }
  expect("bits of a session", !memcmp(other, whole, length * row * 4));

  long cut = length * 2 / 3;
  for (long i = cut * keyRow; i < length * keyRow; ++i)
    k[i] = i % 2 ? NAN : -INFINITY, v[i] = i % 3 ? NAN : INFINITY;
  run(Before, q, k, v, other, length, length, 0, NULL);
  expect("bits before NaN", !memcmp(other, whole, cut * row * 4));
  int finite = 0;
  for (long i = cut * row; i < length * row; ++i)
    finite += isfinite(other[i]) != 0;
  expect("numbers behind NaN", finite == 0);
  expectProducts();
  return wrong;
}
