// Tensors in double and the loop over them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/interpreter/Tensor.h"
#include "dialect/AttnDialect.h"

using namespace llvm;

namespace attn::interpreter {

int64_t countElements(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

Tensor::Tensor(ArrayRef<int64_t> ofSizes, double number)
    : sizes(ofSizes), numbers(static_cast<size_t>(countElements(ofSizes)), number) {}

Sizes computeStrides(ArrayRef<int64_t> sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

Sizes alignStrides(const Tensor &tensor, DimsAttr dims, DimsAttr along) {
  Sizes own = computeStrides(tensor.sizes), aligned;
  for (size_t i = 0; i < along.size(); ++i) {
    int place = dims.find(along.dim(i));
    aligned.push_back(place < 0 ? 0 : own[place]);
  }
  return aligned;
}

void walk(ArrayRef<int64_t> sizes, ArrayRef<Sizes> strides, function_ref<void(ArrayRef<int64_t>)> body) {
  if (countElements(sizes) == 0)
    return;
  Sizes index(sizes.size(), 0), offsets(strides.size(), 0);
  for (;;) {
    body(offsets);
    size_t d = sizes.size();
    while (d > 0) {
      --d;
      bool carry = ++index[d] == sizes[d];
      for (size_t t = 0; t < strides.size(); ++t)
        offsets[t] += carry ? strides[t][d] * (1 - sizes[d]) : strides[t][d];
      if (!carry)
        break;
      index[d] = 0;
      if (d == 0)
        return;
    }
    if (sizes.empty())
      return;
  }
}

} // namespace attn::interpreter
