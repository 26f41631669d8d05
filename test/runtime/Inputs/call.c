/* A user's program in C99: creates the hand-written model, asks for its signature, calls it twice.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/attn.h"
#include <stdio.h>

int main(int argc, char **argv) {
  attn_model *model = argc > 1 ? attn_model_create(argv[1]) : NULL;
  if (!model) {
    fprintf(stderr, "error: %s\n", attn_last_error());
    return 1;
  }
  attn_session *session = attn_session_create(model, 16);
  const attn_function *function = attn_model_function(model, 0);
  printf("abi %u\n%s %s %s\n", (unsigned)attn_abi_version(), attn_model_name(model), function->name,
         function->param[0].name);
  int32_t ids[] = {0, 1, 2}, wrong[] = {0, 3, 0};
  int64_t offsets[] = {0, 3};
  const int64_t *all[] = {offsets};
  const void *inputs[] = {ids, NULL}, *wrong_inputs[] = {wrong, NULL};
  float y[6];
  void *outputs[] = {y};
  if (attn_output_size(model, 0, 0, 1, all) != 6 || attn_run(&session, 1, 0, inputs, all, outputs) != 0)
    return 1;
  printf("%g %g %g %g %g %g\n", y[0], y[1], y[2], y[3], y[4], y[5]);
  if (attn_run(&session, 1, 0, wrong_inputs, all, outputs) == 0)
    return 1;
  printf("%s\n", attn_session_error(session));
  attn_session_free(session);
  attn_model_free(model);
  return 0;
}
