/* generate.c - continues a text token by token, by the library that attnc made of gpt2.attn.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *     generate FOLDER "a text" [TOKENS]      FOLDER holds config.json, model.safetensors, tokenizer.json */
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(void) {
  fprintf(stderr, "generate: %s\n", attn_last_error());
  return 1;
}

/* Prints what is new of the text, unless it ends in the middle of a character (U+FFFD). */
static void show(const attn_tokenizer *tokenizer, const int32_t *ids, int64_t n) {
  static char text[1 << 20];
  static int64_t shown = 0;
  int64_t bytes = attn_detokenize(tokenizer, ids, n, 0, text, sizeof text);
  if (bytes < 3 || bytes > (int64_t)sizeof text || memcmp(text + bytes - 3, "\xef\xbf\xbd", 3) == 0)
    return;
  fwrite(text + shown, 1, bytes - shown, stdout);
  fflush(stdout);
  shown = bytes;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return fprintf(stderr, "usage: generate FOLDER TEXT [TOKENS]\n"), 2;
  attn_model *model = attn_model_create(argv[1]);
  const attn_tokenizer *tokenizer = model ? attn_model_tokenizer(model) : NULL;
  int64_t n = tokenizer ? attn_tokenize(tokenizer, argv[2], strlen(argv[2]), ATTN_SPECIAL, NULL, 0) : -1;
  if (n < 1)
    return n < 0 ? complain() : (fprintf(stderr, "generate: the text has no tokens\n"), 1);
  int64_t tokens = attn_model_function(model, GPT2_LOGITS)->result[0].dims[1].size;
  int64_t length = n + (argc > 3 ? atoi(argv[3]) : 20); /* of the text, in the end */
  int32_t *ids = malloc((length + 1) * sizeof *ids), end = attn_token_id(tokenizer, "<|endoftext|>");
  float *logits = malloc(n * tokens * sizeof *logits);
  attn_session *session = attn_session_create(model, length);
  if (!ids || !logits || !session)
    return complain();
  attn_tokenize(tokenizer, argv[2], strlen(argv[2]), ATTN_SPECIAL, ids, n);
  for (int64_t done = 0; n < length; done = n++) { /* first the whole text, then one token after the other */
    int64_t offsets[] = {0, n - done};
    if (gpt2_logits(&session, 1, offsets, ids + done, logits))
      return complain();
    const float *last = logits + (n - done - 1) * tokens;
    ids[n] = 0;
    for (int32_t id = 1; id < tokens; ++id)
      if (last[id] > last[ids[n]])
        ids[n] = id;
    if (ids[n] == end)
      break;
    show(tokenizer, ids, n + 1);
  }
  puts("");
  return 0;
}
