// Which places of a padded batch are real.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/interpret/Places.h"
#include <numeric>

using namespace mlir;

namespace attn::interpreter {

Places placesOfMask(const Tensor &mask) {
  Places all(mask.sizes[0]);
  int64_t length = mask.sizes[1];
  for (size_t b = 0; b < all.size(); ++b)
    for (int64_t t = 0; t < length; ++t)
      if (mask.numbers[b * length + t] != 0)
        all[b].push_back(t);
  return all;
}

static std::vector<int64_t> firstPlaces(int64_t count) {
  std::vector<int64_t> places(count);
  std::iota(places.begin(), places.end(), 0);
  return places;
}

Places placesOfLengths(const Tensor &lengths) {
  Places all;
  for (double length : lengths.numbers)
    all.push_back(firstPlaces(static_cast<int64_t>(length)));
  return all;
}

/// For each dimension of a tensor of sequence `b`, the places of a padded one that are real.
static std::vector<std::vector<int64_t>> realPlaces(const PlacesByName &places, DimsAttr dims, RankedTensorType type,
                                                    ArrayRef<int64_t> padded, size_t b) {
  std::vector<std::vector<int64_t>> all;
  for (size_t i = 0; i < padded.size(); ++i) {
    auto given = type.isDynamicDim(i) ? places.find(dims.sequence(i).str()) : places.end();
    all.push_back(given == places.end() ? firstPlaces(padded[i]) : given->second[b]);
  }
  return all;
}

Tensor takeReal(const Tensor &batch, const PlacesByName &places, DimsAttr dims, RankedTensorType type, size_t b) {
  Sizes padded(ArrayRef(batch.sizes).drop_front());
  auto real = realPlaces(places, dims, type, padded, b);
  Sizes sizes, strides = computeStrides(padded);
  for (const auto &own : real)
    sizes.push_back(static_cast<int64_t>(own.size()));
  Tensor tensor(sizes);
  Sizes own = computeStrides(sizes);
  for (size_t n = 0; n < tensor.numbers.size(); ++n) {
    size_t at = b * countElements(padded), rest = n;
    for (size_t i = 0; i < sizes.size(); ++i) {
      at += real[i][rest / own[i]] * strides[i];
      rest %= own[i];
    }
    tensor.numbers[n] = batch.numbers[at];
  }
  return tensor;
}

} // namespace attn::interpreter
