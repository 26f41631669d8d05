/* Calls the function of docs/c-api.md that writes tokens. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "model.h"
#include <stdio.h>

int generate(attn_session *session, int32_t *ids, int64_t n, int64_t length, float *rows, int64_t tokens);

int main(void) {
  attn_model *model = attn_model_create(NULL);
  attn_session *session = attn_session_create(model, 100);
  static int32_t ids[100] = {'D', 'a', 'b'};
  static float rows[3 * 259];
  if (generate(session, ids, 3, 16, rows, 259))
    return 1;
  for (int i = 0; i < 16; ++i)
    putchar(ids[i]);
  puts("");
  attn_session_reset(session);
  if (generate(session, ids, 3, 22, rows, 259) == 0)
    return 1;
  puts(attn_session_error(session));
  attn_session_free(session);
  attn_model_free(model);
  return 0;
}
