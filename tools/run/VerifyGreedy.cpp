// VerifyGreedy.cpp - verify.json's greedy decoding: token by token with a session's caches, each step compared.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first step gives the prompt and what is given once, every other one token. Compared are the token that is the
// most likely after each step, the step's logits with the recorded ones, and the same logits with those of a fresh
// session that gets all tokens so far at once, without using what an earlier call left.
#include "tools/run/Decoder.h"
#include "tools/run/Failure.h"
#include "tools/run/Verifier.h"
#include <algorithm>
#include <cmath>

namespace attn::run {

/// Reads the call and checks it against the function.
GreedySteps Verifier::greedySteps(json_t *call) {
  GreedySteps steps;
  steps.function = model.find(calling);
  const attn_function &function = model.function(steps.function);
  steps.ids = paramOf(function, textOf(json_object_get(call, "greedy"), "greedy"));
  const attn_value &ids = function.param[steps.ids];
  bool fits = ids.rank == 1 && ids.type == ATTN_INT32 && ids.dims[0].size < 0;
  steps.along = fits ? int32_t(-1 - ids.dims[0].size) : 0;
  if (!fits || function.sequence_kinds[steps.along] != ATTN_CACHED)
    fail("`{}` of `{}` is not ids along a sequence that the function caches: nothing can be decoded greedily", ids.name,
         calling);
  steps.tokens = &use(textOf(json_object_get(call, "tokens"), "tokens"));
  steps.logits = &use(textOf(json_object_get(call, "logits"), "logits"));
  steps.prompt = json_integer_value(json_object_get(call, "prompt"));
  int64_t length = steps.tokens->size();
  if (!steps.tokens->integer || steps.prompt < 1 || steps.prompt >= length)
    fail("verify.json: a prompt of {} should begin a list of ids that is longer, not of {}", steps.prompt, length);
  const attn_value *result = function.results ? &function.result[0] : nullptr;
  if (!result || result->rank != 2 || steps.logits->shape != std::vector{length - steps.prompt, result->dims[1].size})
    fail("the recorded logits of `{}` are {}, which is not a row of its first result for each of {} tokens", calling,
         showShape(steps.logits->shape), length - steps.prompt);
  steps.others = inputsOf(function, json_object_get(call, "inputs"));
  return steps;
}

/// The logits of the last of the tokens from .. to-1; what is given once goes with token 0.
std::vector<float> Verifier::decodeStep(const GreedySteps &steps, Sessions &session, int64_t from, int64_t to) {
  Batch batch(model, steps.function, 1);
  const attn_function &function = batch.function();
  batch.extents[size_t(steps.along)] = Extent::whole(1, to - from);
  for (const auto &[param, name] : steps.others)
    inferExtents(batch, param, name);
  for (int32_t s = 0; s < function.sequences; ++s)
    if (from > 0 && function.sequence_kinds[s] == ATTN_KEPT)
      batch.extents[size_t(s)] = Extent::whole(1, 0);
  Tensor ids;
  ids.integer = true;
  ids.integers.assign(steps.tokens->integers.begin() + from, steps.tokens->integers.begin() + to);
  batch.setPacked(steps.ids, ids);
  for (const auto &[param, name] : steps.others) {
    const attn_value &value = function.param[param];
    bool once =
        value.rank > 0 && value.dims[0].size < 0 && function.sequence_kinds[-1 - value.dims[0].size] == ATTN_KEPT;
    if (from > 0 && once)
      batch.setPacked(param, {{}, value.type == ATTN_INT32, {}, {}});
    else
      setInput(batch, param, name);
  }
  batch.run(session.handles);
  size_t width = size_t(function.result[0].dims[1].size);
  return {batch.outputs[0].end() - int64_t(width), batch.outputs[0].end()};
}

void Verifier::decode(json_t *call) {
  GreedySteps steps = greedySteps(call);
  int64_t length = steps.tokens->size();
  Sessions cached(model, 1, length);
  Tensor uncached;
  std::vector<float> got;
  int64_t wrong = 0;
  for (int64_t end = steps.prompt; end < length; ++end) {
    if (forget && model.library.session_truncate(cached.handles[0], 0))
      fail("{}", model.library.last_error());
    std::vector<float> step = decodeStep(steps, cached, end == steps.prompt ? 0 : end - 1, end);
    Sessions fresh(model, 1, length);
    std::vector<float> whole = decodeStep(steps, fresh, 0, end);
    wrong += largest(step) != steps.tokens->integers[size_t(end)];
    got.insert(got.end(), step.begin(), step.end());
    uncached.floats.insert(uncached.floats.end(), whole.begin(), whole.end());
  }
  std::string name = textOf(json_object_get(call, "logits"), "logits");
  std::span<const int64_t> shape = steps.logits->shape;
  rows.push_back({calling, textOf(json_object_get(call, "tokens"), "tokens"), length - steps.prompt, double(wrong), 0});
  compare(name, *steps.logits, got, shape, {}, 1);
  compare(name + " uncached", uncached, got, shape, {}, 1);
}

} // namespace attn::run
