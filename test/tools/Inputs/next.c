/* next.c - a toy that continues what it knows, written by hand as attnc would write a model with caches.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *     export fn logits(ids[T]) -> [T,V]                    the next token of the song whose beginning the session holds
 *     export fn encode(ids[S]) -> (none[L], [S,E])         [id, -id] of each
 *     export fn decode(ids[T], memory[S,E]) -> [T,V]       the source backwards, then the end
 *
 * Tokens are bytes, 256 and 257 are ends, 258 begins. What is in the session is compared from its first row on: with
 * any row lost or changed the toy says 0. FUNCTIONS can be other exports, for what cannot be generated from. */
#include "runtime/abi.h"
#include <string.h>

enum { V = 259, END = 256, OTHER_END = 257, START = 258 };

static const char *const songs[] = {
    "Ax", "Bvwxy", "Ccaf\xc3\xa9 \xf0\x9f\x98\x80!", "Dabcdefghijklmnopqrstuvw", "Etwo ends", "Fbroken \xc3"};

/* What follows n tokens. */
static int next(const int32_t *seen, int64_t n) {
  for (unsigned s = 0; s < sizeof songs / sizeof *songs; ++s) {
    const char *song = songs[s];
    int64_t length = (int64_t)strlen(song), i = 0;
    while (i < n && i < length && seen[i] == (unsigned char)song[i])
      ++i;
    if (i == n)
      return n < length ? (unsigned char)song[n] : s % 2 ? OTHER_END : END;
  }
  return 0;
}

/* The same for n tokens behind START, with the source that was given once. */
static int backwards(const int32_t *seen, int64_t n, const float *memory, int64_t rows) {
  for (int64_t i = 0; i < n; ++i)
    if (seen[i] != (i ? (int32_t)memory[2 * (rows - i)] : START))
      return 0;
  return n <= rows ? (int)memory[2 * (rows - n)] : END;
}

static int32_t feed(attn_call *call, int source) {
  const int64_t *begins = call->offsets[0];
  for (int64_t b = 0; b < call->sequences && call->arena; ++b) {
    int32_t *seen = (int32_t *)call->state[0][b];
    float *memory = source ? (float *)call->state[1][b] : 0;
    int64_t length = begins[b + 1] - begins[b], past = call->past[b];
    memcpy(seen + past, (const int32_t *)call->inputs[0] + begins[b], (size_t)length * 4);
    if (source && call->offsets[1][b + 1] > call->offsets[1][b])
      memcpy(memory, (const float *)call->inputs[1] + 2 * call->offsets[1][b],
             (size_t)(call->offsets[1][b + 1] - call->offsets[1][b]) * 8);
    for (int64_t i = 0; i < length; ++i) {
      float *row = (float *)call->outputs[0] + (begins[b] + i) * V;
      memset(row, 0, V * sizeof *row);
      row[source ? backwards(seen, past + i + 1, memory, call->kept[0][b]) : next(seen, past + i + 1)] = 1;
    }
  }
  return 0;
}

static int32_t logits(attn_call *call) {
  return feed(call, 0);
}
static int32_t decode(attn_call *call) {
  return feed(call, 1);
}

static int32_t encode(attn_call *call) {
  for (int64_t i = 0; i < call->offsets[0][call->sequences] && call->arena; ++i) {
    ((float *)call->outputs[1])[2 * i] = (float)((const int32_t *)call->inputs[0])[i];
    ((float *)call->outputs[1])[2 * i + 1] = -(float)((const int32_t *)call->inputs[0])[i];
  }
  return 0;
}

#define CACHED "\"sequences\": [\"T\"], \"longest\": [20], \"cached\": \"T\""
#define IDS(T) "{\"name\": \"ids\", \"type\": \"i32\", \"dims\": [\"" T "\"], \"limit\": 259}"
#define FLOATS(NAME, DIMS) "{\"name\": \"" NAME "\", \"type\": \"f32\", \"dims\": [" DIMS "]}"
#define ONCE                                                                                                           \
  "\"sequences\": [\"T\", \"S\"], \"longest\": [20], \"cached\": \"T\", \"kept\": [{\"sequence\": \"S\", \"state\": "  \
  "[1]}]"
#define ROWS FLOATS("", "\"T\", 259")

#if defined ENCODER
enum { functions = 2 };
static attn_entry *const entries[] = {encode, decode};
#define FUNCTIONS                                                                                                      \
  "{\"name\": \"encode\", \"sequences\": [\"S\"], \"params\": [" IDS(                                                  \
      "S") "],"                                                                                                        \
           " \"results\": [" FLOATS("", "\"S\"") ", " FLOATS(                                                          \
               "", "\"S\", 2") "]},"                                                                                   \
                               "{\"name\": \"decode\", " ONCE                                                          \
                               ", \"params\": [" IDS("T") ", " FLOATS("memory", "\"S\", 2") "],"                       \
                                                                                            " \"results\": [" ROWS     \
                                                                                            "]}"
#elif defined STRANGE
enum { functions = 7 };
static attn_entry *const entries[] = {encode, decode, decode, decode, decode, decode, decode};
#define FUNCTIONS                                                                                                      \
  "{\"name\": \"encode\", \"sequences\": [\"S\"], \"params\": [" IDS("S") FIRST                                        \
      "],"                                                                                                             \
      " \"results\": [" FLOATS(                                                                                        \
          "",                                                                                                          \
          "\"S\", 5") "]},"                                                                                            \
                      "{\"name\": \"whole\", \"sequences\": [\"T\"], \"params\": [" IDS(                               \
                          "T") "], \"results\": [" ROWS "]},"                                                          \
                               "{\"name\": \"flat\", " CACHED ", \"params\": [" IDS("T") "], \"results\": [" FLOATS(   \
                                   "",                                                                                 \
                                   "\"T\"") "]},"                                                                      \
                                            "{\"name\": \"none\", " CACHED ", \"params\": [" IDS(                      \
                                                "T") "], \"results\": []},"                                            \
                                                     "{\"name\": \"extra\", " CACHED                                   \
                                                     ", \"params\": [" IDS("T") ", " FLOATS(                           \
                                                         "ages",                                                       \
                                                         "\"T\"") "], \"results\": [" ROWS "]},"                       \
                                                                  "{\"name\": \"unfit\", " ONCE                        \
                                                                  ", \"params\": [" IDS("T") ", " FLOATS(              \
                                                                      "memory",                                        \
                                                                      "\"S\", 2") "],"                                 \
                                                                                  " \"results\": [" ROWS "]},"         \
                                                                                  "{\"name\": \"direct\", " ONCE       \
                                                                                  ", \"params\": [" IDS(               \
                                                                                      "T") ", {\"name\": \"source\", " \
                                                                                           "\"type\": \"i32\", "       \
                                                                                           "\"dims\":"                 \
                                                                                           " [\"S\"]}, " FLOATS(       \
                                                                                               "more",                 \
                                                                                               "\"S\", 5") "], "       \
                                                                                                           "\"results" \
                                                                                                           "\": "      \
                                                                                                           "[" ROWS    \
                                                                                                           "]}"
#else
enum { functions = 1 };
static attn_entry *const entries[] = {logits};
#define FUNCTIONS "{\"name\": \"logits\", " CACHED ", \"params\": [" IDS("T") "], \"results\": [" ROWS "]}"
#endif
#ifndef FIRST
#define FIRST
#endif

static const char metadata[] =
    "{\"model\": \"next\", \"tokenizer\": \"tokenizer.json\", \"weights\": [], \"state\": ["
    "{\"symbol\": \"seen\", \"kind\": \"cache\", \"row\": [], \"type\": \"i32\", \"functions\": []},"
    "{\"symbol\": \"source\", \"kind\": \"once\", \"row\": [2], \"type\": \"f32\", \"functions\": []}],"
    "\"functions\": [" FUNCTIONS "]}";
attn_entry *const unused[] = {logits, decode, encode};
const attn_program attn_this_program = {ATTN_ABI_VERSION, functions, metadata, entries, 0};
