/* similarity.c - how alike two sentences are, by the library that attnc made of minilm.attn.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *     similarity FOLDER "a sentence" "another"      FOLDER holds config.json, model.safetensors, tokenizer.json */
#include "model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TOKENS = 512, MAX_WIDTH = 4096 };

static int complain(const char *what) {
  fprintf(stderr, "similarity: %s: %s\n", what, attn_last_error());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return fprintf(stderr, "usage: %s FOLDER TEXT TEXT\n", argv[0]), 2;
  attn_model *model = attn_model_create(argv[1]);
  const attn_tokenizer *tokenizer = model ? attn_model_tokenizer(model) : NULL;
  if (!tokenizer)
    return complain("cannot open the model");
  static int32_t ids[2 * MAX_TOKENS];
  int64_t offsets[3] = {0, 0, 0};
  for (int i = 0; i < 2; ++i) { /* the second sentence lies right behind the first: no padding */
    int64_t n = attn_tokenize(tokenizer, argv[2 + i], strlen(argv[2 + i]), ATTN_SPECIAL, ids + offsets[i], MAX_TOKENS);
    if (n < 0 || n > MAX_TOKENS)
      return complain("cannot tokenize");
    offsets[i + 1] = offsets[i] + n;
  }
  int32_t embed = attn_function_find(model, "embed");
  attn_session *sessions[2] = {attn_session_create(model, MAX_TOKENS), attn_session_create(model, MAX_TOKENS)};
  static float vectors[2 * MAX_WIDTH];
  const int64_t *all[1] = {offsets};
  const void *inputs[1] = {ids};
  void *outputs[1] = {vectors};
  int64_t width = attn_output_size(model, embed, 0, 2, all) / 2;
  if (width < 0 || width > MAX_WIDTH || attn_run(sessions, 2, embed, inputs, all, outputs))
    return complain("cannot embed");
  double ab = 0, aa = 0, bb = 0;
  for (int64_t i = 0; i < width; ++i) {
    ab += vectors[i] * vectors[width + i], aa += vectors[i] * vectors[i], bb += vectors[width + i] * vectors[width + i];
  }
  printf("%.4f\n", ab / sqrt(aa * bb));
  attn_session_free(sessions[0]), attn_session_free(sessions[1]), attn_model_free(model);
  return 0;
}
