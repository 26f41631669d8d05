/* pool.c - what attnc would write for scaled_dot.attn, written by hand and slowly: the tools' tests need no compiler
 * for it. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception SCALE is there to be made wrong. */
#include "runtime/abi.h"
#include <math.h>

#ifndef SCALE
#define SCALE 2.449489743
#endif
enum { D = 6, N = 4 };

static void pool(const float *q, const float *k, const float *v, int64_t keys, float *y, float *weights) {
  double sum = 0;
  for (int64_t j = 0; j < keys; ++j) {
    double score = 0;
    for (int d = 0; d < D; ++d)
      score += q[d] * k[j * D + d];
    weights[j] = exp(score / SCALE);
    sum += weights[j];
  }
  for (int n = 0; n < N; ++n)
    y[n] = 0;
  for (int64_t j = 0; j < keys; ++j) {
    weights[j] /= sum;
    for (int n = 0; n < N; ++n)
      y[n] += weights[j] * v[j * N + n];
  }
}

static int32_t entry(attn_call *call) {
  if (!call->arena) {
    call->arena_bytes = 0;
    return 0;
  }
  const float *q = call->inputs[0], *k = call->inputs[1], *v = call->inputs[2];
  float *y = call->outputs[0], *weights = call->outputs[1];
  for (int64_t b = 0; b < call->sequences; ++b) {
    int64_t keys = call->offsets[1][b + 1] - call->offsets[1][b];
    for (int64_t i = call->offsets[0][b]; i < call->offsets[0][b + 1]; ++i) {
      pool(q + i * D, k + call->offsets[1][b] * D, v + call->offsets[1][b] * N, keys, y + i * N, weights);
      weights += keys;
    }
  }
  return 0;
}

static attn_entry *const entries[] = {entry};
static const char metadata[] =
    "{\"model\": \"scaled_dot\", \"mcpu\": \"\", \"features\": [], \"config\": {\"query_size\": 6, \"value_size\": 4},"
    " \"weights\": [], \"functions\": [{\"name\": \"pool\", \"sequences\": [\"T\", \"S\"],"
    " \"params\": [{\"name\": \"q\", \"type\": \"f32\", \"dims\": [\"T\", 6]},"
    " {\"name\": \"k\", \"type\": \"f32\", \"dims\": [\"S\", 6]}, {\"name\": \"v\", \"type\": \"f32\", \"dims\": "
    "[\"S\", 4]}],"
    " \"results\": [{\"name\": \"y\", \"type\": \"f32\", \"dims\": [\"T\", 4]},"
    " {\"name\": \"weights\", \"type\": \"f32\", \"dims\": [\"T\", \"S\"]}]}]}";
const attn_program attn_this_program = {ATTN_ABI_VERSION, 1, metadata, entries, 0};
