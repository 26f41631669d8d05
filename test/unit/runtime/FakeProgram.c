/* Generated code, written by hand.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "FakeProgram.h"
#include <stddef.h>

/* clang-format off */
const char fakeMetadata[] =
    "{\"model\": \"fake\", \"mcpu\": \"any\", \"features\": [], \"config\": {\"hidden_size\": 2, \"rope.theta\": 10000, \"tie\": null},"
    " \"prefixes\": [\"\", \"bert.\"], \"renames\": [[\"gamma\", \"weight\"]], \"ignores\": [\"*.position_ids\"], \"tokenizer\": \"tokenizer.json\","
    " \"weights\": ["
    "  {\"symbol\": \"table\", \"parts\": [\"emb.weight\"], \"rows\": [3], \"turns\": [], \"shape\": [3, 2], \"stored\": \"out_in\", \"packed_bytes\": 0, \"functions\": [0]},"
    "  {\"symbol\": \"w\", \"parts\": [\"layer.{0}.q\", \"layer.{0}.k\"], \"rows\": [1, 1], \"turns\": [2], \"shape\": [2, 2], \"stored\": \"out_in\", \"packed_bytes\": 16, \"functions\": [0]},"
    "  {\"symbol\": \"b\", \"parts\": [\"ln.weight\"], \"shape\": [2], \"functions\": [0]},"
    "  {\"symbol\": \"g\", \"parts\": [\"/g\"], \"shape\": [2], \"functions\": [1]}],"
    " \"functions\": ["
    "  {\"name\": \"embed\", \"sequences\": [\"T\"], \"longest\": [100], \"taps\": [\"rows.{0}\"],"
    "   \"params\": [{\"name\": \"ids\", \"type\": \"i32\", \"dims\": [\"T\"], \"limit\": 3}, {\"name\": \"shift\", \"type\": \"f32\", \"dims\": [\"T\"], \"default\": 1}],"
    "   \"results\": [{\"name\": \"y\", \"type\": \"f32\", \"dims\": [\"T\", 2], \"dim_names\": [\"T\", \"E\"]}]},"
    "  {\"name\": \"mean\", \"sequences\": [\"T\"],"
    "   \"params\": [{\"name\": \"x\", \"type\": \"f32\", \"dims\": [\"T\", 2]}],"
    "   \"results\": [{\"name\": \"\", \"type\": \"f32\", \"dims\": [2]}]}]}";
/* clang-format on */

int32_t fakeSizingStatus, fakeRunStatus;
int64_t fakeExtraScratch;

/* arena: the looked-up rows */
static void lookUp(attn_call *call, const void *args, int64_t row) {
  const float *table = call->weights[0];
  float *rows = (float *)call->arena;
  for (int e = 0; e < fakeWidth; ++e)
    rows[row * fakeWidth + e] = table[((const int32_t *)call->inputs[0])[row] * fakeWidth + e];
}

/* y[n] = sum_k x[k] w[n, k] + b[n] + shift; the packed weight lies [k][n] */
static void multiply(attn_call *call, const void *args, int64_t row) {
  const float *w = call->weights[2], *b = call->weights[3], *x = (float *)call->arena + row * fakeWidth;
  float *y = (float *)call->outputs[0] + row * fakeWidth;
  for (int n = 0; n < fakeWidth; ++n) {
    float sum = 0;
    for (int k = 0; k < fakeWidth; ++k)
      sum += x[k] * w[k * fakeWidth + n];
    y[n] = sum + b[n] + ((const float *)call->inputs[1])[row];
  }
}

static int32_t embed(attn_call *call) {
  static const int64_t dims[2] = {-1, fakeWidth}, turns[1] = {7};
  int64_t rows = call->offsets[0][call->sequences];
  if (!call->arena) {
    call->arena_bytes = rows * fakeWidth * 4 + fakeExtraScratch;
    return fakeSizingStatus;
  }
  attn_rt_parallel_for(call, lookUp, NULL, rows);
  if (call->probe)
    attn_rt_tap(call, "rows.{0}", 2, dims, turns, call->arena);
  attn_rt_parallel_for(call, multiply, NULL, rows);
  return fakeRunStatus;
}

static int32_t mean(attn_call *call) {
  const int64_t *begins = call->offsets[0];
  if (!call->arena)
    return 0;
  for (int64_t b = 0; b < call->sequences; ++b)
    for (int e = 0; e < fakeWidth; ++e) {
      float sum = 0;
      for (int64_t row = begins[b]; row < begins[b + 1]; ++row)
        sum += ((const float *)call->inputs[0])[row * fakeWidth + e];
      ((float *)call->outputs[0])[b * fakeWidth + e] = sum * ((const float *)call->weights[4])[e];
    }
  return 0;
}

/* two rows [1, 2] side by side, turned around */
static void packW(void *packed, const void *const *parts, int32_t dtype) {
  float *out = packed;
  for (int n = 0; n < 2; ++n)
    for (int k = 0; k < 2; ++k) {
      uint32_t bits =
          dtype == ATTN_F32 ? ((const uint32_t *)parts[n])[k] : (uint32_t)((const uint16_t *)parts[n])[k] << 16;
      union {
        uint32_t bits;
        float number;
      } value = {bits};
      out[k * 2 + n] = value.number;
    }
}

attn_entry *const fakeEntries[] = {embed, mean};
attn_pack *const fakePacks[] = {NULL, packW, NULL, NULL};

const attn_program attn_this_program = {ATTN_ABI_VERSION, 2, fakeMetadata, fakeEntries, fakePacks};
