/* similarity.c - how alike two sentences are, by the library that attnc made of minilm.attn.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *     similarity FOLDER "a sentence" "another"      FOLDER holds config.json, model.safetensors, tokenizer.json */
#include "model.h"
#include <stdio.h>
#include <string.h>

enum { TOKENS = 512, WIDTH = 4096 };
static int32_t ids[2 * TOKENS];
static float vectors[2 * WIDTH];

static int complain(void) {
  fprintf(stderr, "similarity: %s\n", attn_last_error());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return fprintf(stderr, "usage: similarity FOLDER TEXT TEXT\n"), 2;
  attn_model *model = attn_model_create(argv[1]);
  const attn_tokenizer *tokenizer = model ? attn_model_tokenizer(model) : NULL;
  if (!tokenizer)
    return complain();
  int64_t offsets[3] = {0}; /* the second sentence lies right behind the first: there is no padding */
  for (int i = 0; i < 2; ++i) {
    int64_t n = attn_tokenize(tokenizer, argv[2 + i], strlen(argv[2 + i]), ATTN_SPECIAL, ids + offsets[i], TOKENS);
    if (n < 0 || n > TOKENS)
      return n < 0 ? complain() : (fprintf(stderr, "similarity: more than %d tokens\n", TOKENS), 1);
    offsets[i + 1] = offsets[i] + n;
  }
  attn_session *sessions[2] = {attn_session_create(model, TOKENS), attn_session_create(model, TOKENS)};
  int64_t width = attn_output_size(model, MINILM_EMBED, 0, 2, (const int64_t *[]){offsets}) / 2;
  if (width < 1 || width > WIDTH || minilm_embed(sessions, 2, offsets, ids, NULL, vectors)) /* NULL: no segments */
    return complain();
  double similarity = 0; /* the vectors have length 1 */
  for (int64_t i = 0; i < width; ++i)
    similarity += vectors[i] * vectors[width + i];
  printf("%.4f\n", similarity);
  return 0;
}
