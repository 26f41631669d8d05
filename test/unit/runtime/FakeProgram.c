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
    "  {\"symbol\": \"b\", \"parts\": [\"ln.weight\"], \"shape\": [2], \"functions\": [0, 2, 3, 4, 5]},"
    "  {\"symbol\": \"g\", \"parts\": [\"/g\"], \"shape\": [2], \"functions\": [1]}],"
    " \"state\": ["
    "  {\"symbol\": \"seen\", \"kind\": \"cache\", \"turns\": [2], \"row\": [2], \"type\": \"f32\", \"functions\": [2, 3]},"
    "  {\"symbol\": \"source\", \"kind\": \"once\", \"turns\": [], \"row\": [], \"type\": \"i32\", \"functions\": [3, 4]},"
    "  {\"symbol\": \"twice\", \"kind\": \"once\", \"turns\": [2], \"row\": [3], \"type\": \"f32\", \"functions\": [3, 5]}],"
    " \"functions\": ["
    "  {\"name\": \"embed\", \"sequences\": [\"T\"], \"longest\": [100], \"taps\": [\"rows.{0}\"],"
    "   \"params\": [{\"name\": \"ids\", \"type\": \"i32\", \"dims\": [\"T\"], \"limit\": 3}, {\"name\": \"shift\", \"type\": \"f32\", \"dims\": [\"T\"], \"default\": 1}],"
    "   \"results\": [{\"name\": \"y\", \"type\": \"f32\", \"dims\": [\"T\", 2], \"dim_names\": [\"T\", \"E\"]}]},"
    "  {\"name\": \"mean\", \"sequences\": [\"T\"],"
    "   \"params\": [{\"name\": \"x\", \"type\": \"f32\", \"dims\": [\"T\", 2]}],"
    "   \"results\": [{\"name\": \"\", \"type\": \"f32\", \"dims\": [2]}]},"
    "  {\"name\": \"recall\", \"sequences\": [\"T\"], \"longest\": [8], \"cached\": \"T\","
    "   \"params\": [{\"name\": \"x\", \"type\": \"f32\", \"dims\": [\"T\", 2]}],"
    "   \"results\": [{\"name\": \"y\", \"type\": \"f32\", \"dims\": [\"T\", 2]}]},"
    "  {\"name\": \"answer\", \"sequences\": [\"T\", \"S\", \"U\"], \"cached\": \"T\", \"kept\": [{\"sequence\": \"S\", \"state\": [1, 2]}],"
    "   \"params\": [{\"name\": \"x\", \"type\": \"f32\", \"dims\": [\"T\", 2]}, {\"name\": \"source\", \"type\": \"i32\", \"dims\": [\"S\"]}, {\"name\": \"u\", \"type\": \"f32\", \"dims\": [\"U\"], \"default\": 0}],"
    "   \"results\": [{\"name\": \"y\", \"type\": \"f32\", \"dims\": [\"T\", 2]}, {\"name\": \"session\", \"type\": \"f32\", \"dims\": [3]}]},"
    "  {\"name\": \"note\", \"sequences\": [\"S\"], \"kept\": [{\"sequence\": \"S\", \"state\": [1]}],"
    "   \"params\": [{\"name\": \"source\", \"type\": \"i32\", \"dims\": [\"S\"]}],"
    "   \"results\": [{\"name\": \"session\", \"type\": \"f32\", \"dims\": [3]}]},"
    "  {\"name\": \"double\", \"sequences\": [\"S\"], \"kept\": [{\"sequence\": \"S\", \"state\": [2]}],"
    "   \"params\": [{\"name\": \"source\", \"type\": \"i32\", \"dims\": [\"S\"]}],"
    "   \"results\": [{\"name\": \"session\", \"type\": \"f32\", \"dims\": [3]}]}]}";
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

enum { seenSlot = 0, sourceSlot = 2, twiceSlot = 3 };

/* seen[0] gets x, seen[1] 2 x; y[i] = the sum of both over the rows up to past + i, `kept` added */
static void addUp(const attn_call *call, int64_t b, float kept) {
  const int64_t *begins = call->offsets[0], past = call->past[b];
  const float *x = (const float *)call->inputs[0] + begins[b] * fakeWidth;
  float *y = (float *)call->outputs[0] + begins[b] * fakeWidth, sum[fakeWidth] = {kept, kept};
  float *seen = (float *)call->state[seenSlot][b], *two = (float *)call->state[seenSlot + 1][b];
  for (int64_t row = 0; row < past + begins[b + 1] - begins[b]; ++row)
    for (int e = 0; e < fakeWidth; ++e) {
      int64_t at = row * fakeWidth + e, new = at - past * fakeWidth;
      if (new >= 0)
        seen[at] = x[new], two[at] = 2 * x[new];
      sum[e] += seen[at] + two[at];
      if (new >= 0)
        y[new] = sum[e];
    }
}

static int32_t recall(attn_call *call) {
  for (int64_t b = 0; b < call->sequences && call->arena; ++b)
    addUp(call, b, 0);
  return call->arena ? fakeRunStatus : 0;
}

/* What the session says: rows cached, room for rows, rows kept. */
static void showSession(const attn_call *call, float *out, int64_t b) {
  out[3 * b] = (float)call->past[b];
  out[3 * b + 1] = (float)call->capacity[b];
  out[3 * b + 2] = (float)call->kept[0][b];
}

/* source gets what is given along the sequence, twice[0] and twice[1] rows of three of it; gives the sum of all */
static float keep(const attn_call *call, const int64_t *begins, const int32_t *given, int64_t b, int source,
                  int twice) {
  float sum = 0;
  int64_t length = begins[b + 1] - begins[b];
  for (int64_t row = 0; row < call->kept[0][b]; ++row) {
    if (source) {
      int32_t *place = (int32_t *)call->state[sourceSlot][b];
      if (length)
        place[row] = given[begins[b] + row];
      sum += (float)place[row];
    }
    for (int slot = twiceSlot; twice && slot < twiceSlot + 2; ++slot)
      for (int e = 0; e < 3; ++e) {
        float *place = (float *)call->state[slot][b] + row * 3;
        if (length)
          place[e] = (float)given[begins[b] + row];
        sum += place[e];
      }
  }
  return sum;
}

static int32_t answer(attn_call *call) {
  for (int64_t b = 0; b < call->sequences && call->arena; ++b) {
    addUp(call, b, keep(call, call->offsets[1], call->inputs[1], b, 1, 1));
    showSession(call, call->outputs[1], b);
  }
  return call->arena ? fakeRunStatus : 0;
}

static int32_t note(attn_call *call) {
  for (int64_t b = 0; b < call->sequences && call->arena; ++b) {
    keep(call, call->offsets[0], call->inputs[0], b, 1, 0);
    showSession(call, call->outputs[0], b);
  }
  return call->arena ? fakeRunStatus : 0;
}

static int32_t doubled(attn_call *call) {
  for (int64_t b = 0; b < call->sequences && call->arena; ++b) {
    keep(call, call->offsets[0], call->inputs[0], b, 0, 1);
    showSession(call, call->outputs[0], b);
  }
  return call->arena ? fakeRunStatus : 0;
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

attn_entry *const fakeEntries[] = {embed, mean, recall, answer, note, doubled};
attn_pack *const fakePacks[] = {NULL, packW, NULL, NULL};

const attn_program attn_this_program = {ATTN_ABI_VERSION, 6, fakeMetadata, fakeEntries, fakePacks};
