/* app.c - links an archive made of scaled_dot.attn and answers: two keys, the second three times as heavy as the first.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "model.h"
#include <stdio.h>

int main(void) {
  attn_model *model = attn_model_create(NULL);
  attn_session *session = model ? attn_session_create(model, 8) : NULL;
  float q[6] = {2.449489743f}, k[12] = {0, 0, 0, 0, 0, 0, 1.098612289f}, v[8] = {0, 1, 0, 0, 4, 1, 0, 0}, y[4],
        weights[2];
  int64_t one[2] = {0, 1}, two[2] = {0, 2};
  if (!session || scaled_dot_pool(&session, 1, one, two, q, k, v, y, weights)) {
    fprintf(stderr, "app: %s\n", attn_last_error());
    return 1;
  }
  printf("%.4f %.4f  %.4f %.4f\n", y[0], y[1], weights[0], weights[1]);
  attn_session_free(session);
  attn_model_free(model);
  return 0;
}
