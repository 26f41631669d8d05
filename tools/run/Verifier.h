// Verifier.h - executes a model's verify.json and compares with what PyTorch computed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_RUN_VERIFIER_H
#define ATTN_TOOLS_RUN_VERIFIER_H

#include "tools/run/Batch.h"
#include "tools/run/Commands.h"
#include "tools/run/Json.h"
#include <map>
#include <memory>
#include <set>

namespace attn::run {

/// One compared tensor.
struct Row {
  std::string call;
  std::string tensor;
  int64_t values = 0;
  double error = 0; // of the largest value
  double allowed = 0;
};

/// A result kept for later calls.
struct Kept {
  Tensor packed;
  std::vector<std::optional<Extent>> extents; // one a dimension: those of a sequence have one
  int64_t sequences = 0;
};

/// What greedy decoding goes through.
struct GreedySteps {
  int32_t function = 0;
  int32_t ids = 0;                // the parameter that it feeds
  int32_t along = 0;              // and the sequence dimension of that
  const Tensor *tokens = nullptr; // the prompt, then what has to come
  const Tensor *logits = nullptr; // what has to be said of each that comes
  int64_t prompt = 0;
  std::vector<std::pair<int32_t, std::string>> others; // parameters and the names of what goes into them
};

class Verifier {
public:
  Verifier(const Source &source, const VerifyOptions &options)
      : model(source), io(readTensors(source.model + "/io.safetensors")), tolerance(options.tolerance),
        forget(options.forget) {}

  void execute(json_t *call);
  /// The table, what is left over, the count; the exit code.
  int report();
  /// Under --count.
  void showCounts(const Source &source) { printCounts(source, model); }

private:
  const Tensor &use(const std::string &name);
  int64_t sequencesOf(json_t *inputs);
  void setExtents(Batch &batch, json_t *call);
  using Input = std::pair<int32_t, std::string>;
  static int32_t paramOf(const attn_function &function, const std::string &name);
  std::vector<Input> inputsOf(const attn_function &function, json_t *inputs);
  void setInputs(Batch &batch, const std::vector<Input> &inputs);
  void setInput(Batch &batch, int32_t param, const std::string &tensor);
  void inferExtents(Batch &batch, int32_t param, const std::string &name);
  void compareOutputs(const Batch &batch, json_t *outputs);
  void compare(const std::string &name, const Tensor &want, const std::vector<float> &got,
               std::span<const int64_t> dims, const std::vector<Extent> &extents, int64_t sequences);
  void keepOutputs(const Batch &batch, json_t *names);

  void decode(json_t *call);
  GreedySteps greedySteps(json_t *call);
  std::vector<float> decodeStep(const GreedySteps &steps, Sessions &sessions, int64_t from, int64_t to);

  static void onTap(void *user, const char *name, int32_t rank, const int64_t *dims, int64_t n,
                    const int64_t *const *offsets, const float *data);
  void compareTap(const std::string &name, std::span<const int64_t> dims, const int64_t *const *offsets,
                  const float *data);

  Model model;
  Tensors io;
  double tolerance;
  bool forget;
  std::set<std::string> used;
  std::map<std::string, Kept> kept;
  std::vector<Row> rows;
  std::unique_ptr<Sessions> sessions;
  bool keepSessions = false;
  std::string calling; // the function of the current call
  std::string probePrefix;
  std::set<std::string> tapped;
  std::string tapFailure; // no exception may cross the library's frames
};

/// A text of verify.json; `key` names it in messages.
std::string textOf(json_t *value, const char *key);

} // namespace attn::run

#endif
