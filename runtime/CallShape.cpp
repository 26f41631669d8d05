// The sizes of one call.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/CallShape.h"
#include "runtime/Error.h"

namespace attn {

bool CallShape::check() const {
  if (n < 1)
    return fail("a call has at least one sequence, not %lld", static_cast<long long>(n));
  if (!offsets && function.signature.sequences)
    return fail("function `%s`: the offsets are null", function.signature.name);
  for (int32_t s = 0; s < function.signature.sequences; ++s)
    if (!checkSequence(s))
      return false;
  return true;
}

bool CallShape::checkSequence(int32_t s) const {
  const char *callee = function.signature.name, *name = function.sequences[static_cast<size_t>(s)];
  const int64_t *begins = offsets[s];
  if (!begins)
    return fail("function `%s`: the offsets of `%s` are null", callee, name);
  if (begins[0] != 0)
    return fail("function `%s`: the offsets of `%s` should begin with 0, not %lld", callee, name,
                static_cast<long long>(begins[0]));
  int64_t longest = function.longest[static_cast<size_t>(s)];
  for (int64_t b = 0; b < n; ++b) {
    if (begins[b + 1] < begins[b])
      return fail("function `%s`: the offsets of `%s` should ascend: sequence %lld begins at %lld and ends at %lld",
                  callee, name, static_cast<long long>(b), static_cast<long long>(begins[b]),
                  static_cast<long long>(begins[b + 1]));
    if (longest && begins[b + 1] - begins[b] > longest)
      return fail("function `%s`: sequence %lld has %lld rows of `%s`, the model allows %lld", callee,
                  static_cast<long long>(b), static_cast<long long>(begins[b + 1] - begins[b]), name,
                  static_cast<long long>(longest));
  }
  return true;
}

bool CallShape::count(const attn_value &value, int64_t &numbers) const {
  constexpr int64_t most = INT64_MAX / 8;
  numbers = 0;
  for (int64_t b = 0; b < n; ++b) {
    int64_t product = 1;
    bool fits = true;
    for (int32_t d = 0; d < value.rank; ++d)
      fits = fits && !__builtin_mul_overflow(product, size(value.dims[d], b), &product);
    if (!fits || product > most - numbers)
      return fail("function `%s`: sequence %lld makes `%s` too large to count", function.signature.name,
                  static_cast<long long>(b), value.name);
    numbers += product;
  }
  return true;
}

int64_t CallShape::numbersOf(const attn_value &value, int64_t b) const {
  int64_t product = 1;
  for (int32_t d = 0; d < value.rank; ++d)
    product *= size(value.dims[d], b);
  return product;
}

} // namespace attn
