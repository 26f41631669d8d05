// The tokenizer that lies in a model's folder, read when it is first asked for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Error.h"
#include "runtime/Model.h"

using namespace attn;

const attn_tokenizer *attn_model_tokenizer(attn_model *model) {
  if (model->metadata.tokenizer.empty()) {
    fail("model `%s` names no tokenizer", attn_model_name(model));
    return nullptr;
  }
  if (model->files.folder.empty()) {
    fail("model `%s` was created without a folder, in which its tokenizer could be", attn_model_name(model));
    return nullptr;
  }
  return model->tokenizer.get(model->files.folder.view(), model->metadata.tokenizer);
}
