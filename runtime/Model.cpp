// A model: code, weights, threads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Model.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Error.h"

using namespace attn;

bool attn_model::open(const char *path, uint32_t flags) {
  if (flags & ~static_cast<uint32_t>(ATTN_STRICT))
    return fail("the flags %u of attn_model_create_with are not known", flags);
  if (!metadata.read(program) || !checkFeatures(metadata.features, notes) || !files.open(path, metadata, notes) ||
      !binding.bind(metadata, files.weights, flags & ATTN_STRICT, notes))
    return false;
  for (size_t f = 0; f < metadata.functions.size(); ++f)
    if (!binding.missing[f].empty())
      metadata.functions[f].signature.missing = binding.missing[f].c_str();
  counts.start(metadata.counts.size());
  return weights.pack(program, metadata, binding, pool);
}

void attn_model::release() {
  if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete this;
}

attn_model *attn::createModel(const attn_program &program, const char *path, uint32_t flags) {
  Owned<attn_model> model(new attn_model(program));
  return model->open(path, flags) ? model.release() : nullptr;
}

void attn_model_free(attn_model *model) {
  if (model)
    model->release();
}

int32_t attn_model_threads(attn_model *model, int32_t threads) {
  return model->pool.setThreads(threads);
}

const char *attn_model_note(const attn_model *model, int32_t index) {
  bool inside = index >= 0 && static_cast<size_t>(index) < model->notes.size();
  return inside ? model->notes[static_cast<size_t>(index)].c_str() : nullptr;
}

const char *attn_model_name(const attn_model *model) {
  return model->metadata.model.data();
}

const attn_function *attn_model_function(const attn_model *model, int32_t index) {
  bool inside = index >= 0 && static_cast<size_t>(index) < model->metadata.functions.size();
  return inside ? &model->metadata.functions[static_cast<size_t>(index)].signature : nullptr;
}

int32_t attn_model_count(const attn_model *model, int32_t index, attn_count *count) {
  if (index < 0 || static_cast<size_t>(index) >= model->counts.size())
    return 1;
  size_t place = static_cast<size_t>(index);
  auto sum = [&](int which) { return model->counts.sum(place, which); };
  *count = {model->metadata.counts[place].data(), sum(0), sum(1), sum(2), sum(3)};
  return 0;
}

int32_t attn_function_find(const attn_model *model, const char *name) {
  int32_t index = 0;
  while (const attn_function *function = attn_model_function(model, index)) {
    if (View(function->name) == name)
      return index;
    ++index;
  }
  fail("model `%s` has no function `%s`", attn_model_name(model), name);
  return -1;
}
