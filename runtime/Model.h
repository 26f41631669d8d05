// A model: code, weights, threads; immutable once made and shared by its sessions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_MODEL_H
#define ATTN_RUNTIME_MODEL_H
#include "runtime/Counts.h"
#include "runtime/ModelFiles.h"
#include "runtime/PackedWeights.h"
#include "runtime/ThreadPool.h"
#include "runtime/WeightBinding.h"
#include "runtime/tokenizer/LazyTokenizer.h"

struct attn_model : attn::Heap {
  explicit attn_model(const attn_program &generated) : program(generated) {}
  bool open(const char *path, uint32_t flags);
  // Its creator and every session hold it; the last to let go frees it.
  void hold() { holders.fetch_add(1, std::memory_order_relaxed); }
  void release();

  const attn_program &program;
  attn::Metadata metadata;
  attn::ModelFiles files;
  attn::WeightBinding binding;
  attn::PackedWeights weights;
  attn::ThreadPool pool;
  attn::Notes notes;
  attn::LazyTokenizer tokenizer;
  attn::Counts counts;

private:
  std::atomic<int64_t> holders{1};
};

namespace attn {
// Holds a model as long as it lives itself.
class ModelHold {
public:
  explicit ModelHold(attn_model *held) : model(held) { model->hold(); }
  ModelHold(const ModelHold &) = delete;
  ModelHold &operator=(const ModelHold &) = delete;
  ~ModelHold() { model->release(); }

private:
  attn_model *const model;
};

// What attn_model_create does, for any program.
attn_model *createModel(const attn_program &program, const char *path, uint32_t flags);
} // namespace attn
#endif
