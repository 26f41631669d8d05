// Memory that compiled code gets: numbers as it holds them, and memory that shows who wrote outside of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_AGREE_MEMORY_H
#define ATTN_TOOLS_AGREE_MEMORY_H
#include "dialect/interpreter/Tensor.h"
#include <vector>

namespace attn::agree {

using Bytes = std::vector<char>;

/// Appends numbers as float32 or int32.
void append(Bytes &bytes, const interpreter::Tensor &tensor, bool whole);
/// The numbers that lie in `bytes`.
std::vector<double> readNumbers(llvm::ArrayRef<char> bytes, bool whole);

/// Aligned memory full of NaN, between two fences.
class Fenced {
public:
  explicit Fenced(size_t bytes);
  char *data() { return begin; }
  llvm::ArrayRef<char> view() const { return {begin, size}; }
  Bytes contents() const { return view().vec(); }
  bool isIntact() const;

private:
  static constexpr size_t fence = 4096;
  static constexpr char mark = 0x5a;
  size_t size;
  Bytes memory;
  char *begin;
};

} // namespace attn::agree
#endif
