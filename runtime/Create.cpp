// Makes a model of the program that this library was generated with.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Alone in its file: nothing else of the runtime names the generated code, so that the rest links without any.
#include "runtime/Model.h"

attn_model *attn_model_create(const char *path) {
  return attn::createModel(attn_this_program, path, 0);
}

attn_model *attn_model_create_with(const char *path, uint32_t flags) {
  return attn::createModel(attn_this_program, path, flags);
}
