// Batch.h - from padded tensors to the packed batch of one call, and back.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file holds a batch padded: [B, 13, 48], of which perhaps ten and thirteen rows are real. A library takes it packed:
// the real rows end to end, and where each sequence begins. An Extent says for one sequence dimension which places are
// real; walkPlaces visits the elements of a padded tensor in the order in which they lie packed.
#ifndef ATTN_TOOLS_RUN_BATCH_H
#define ATTN_TOOLS_RUN_BATCH_H

#include "runtime/attn.h"
#include "tools/run/Library.h"
#include "tools/run/Tensors.h"
#include <optional>
#include <span>

namespace attn::run {

/// The places of one sequence dimension that are real, for each sequence of the batch; `padded` is the axis' length.
struct Extent {
  int64_t padded = 0;
  std::vector<std::vector<int64_t>> places;

  static Extent whole(int64_t sequences, int64_t length);
  std::vector<int64_t> offsets() const;
};

/// The dimensions of a value: a static size, or -1 - s for the sequence dimension s.
std::vector<int64_t> dimsOf(const attn_value &value);

/// Visits, in packed order, the elements of sequence `b` of a padded tensor [B, dims…] by their row-major number there.
template <typename Visit>
void walkPlaces(const std::vector<Extent> &extents, std::span<const int64_t> dims, int64_t at, int64_t b,
                Visit &&visit) {
  if (dims.empty())
    return visit(at);
  if (dims[0] >= 0) {
    for (int64_t i = 0; i < dims[0]; ++i)
      walkPlaces(extents, dims.subspan(1), at * dims[0] + i, b, visit);
    return;
  }
  const Extent &extent = extents[size_t(-1 - dims[0])];
  for (int64_t place : extent.places[size_t(b)])
    walkPlaces(extents, dims.subspan(1), at * extent.padded + place, b, visit);
}

/// One call of a function of a model: inputs, where each sequence begins, and, after run, outputs.
class Batch {
public:
  Batch(const Model &model, int32_t function, int64_t sequences);

  const attn_function &function() const { return signature; }
  int64_t sequences() const { return count; }

  /// One a sequence dimension of the function; to be set before packing and running.
  std::vector<std::optional<Extent>> extents;
  /// All of them; fails, naming the dimension, if one was never given.
  std::vector<Extent> knownExtents() const;

  /// The input of a parameter, already packed.
  void setPacked(int32_t param, const Tensor &packed);
  /// The input of a parameter from a padded tensor [B, dims…]; `name` names it in messages.
  void setPadded(int32_t param, const Tensor &padded, const std::string &name);

  /// Runs, one session a sequence; the outputs are there afterwards.
  void run(std::span<attn_session *const> sessions);
  std::vector<std::vector<float>> outputs;

private:
  void checkNumber(const attn_value &param, int64_t value) const;

  const Model &model;
  int32_t index;
  const attn_function &signature;
  int64_t count;
  std::vector<std::vector<float>> floatInputs;
  std::vector<std::vector<int32_t>> integerInputs;
  std::vector<bool> given;
};

} // namespace attn::run

#endif
