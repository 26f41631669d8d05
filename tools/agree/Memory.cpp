// Memory that compiled code gets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/agree/Memory.h"
#include <algorithm>
#include <cstring>

namespace attn::agree {

void append(Bytes &bytes, const interpreter::Tensor &tensor, bool whole) {
  size_t begin = bytes.size();
  bytes.resize(begin + 4 * tensor.numbers.size());
  for (size_t i = 0; i < tensor.numbers.size(); ++i) {
    auto real = static_cast<float>(tensor.numbers[i]);
    auto integer = whole ? static_cast<int32_t>(tensor.numbers[i]) : 0;
    std::memcpy(bytes.data() + begin + 4 * i, whole ? static_cast<void *>(&integer) : &real, 4);
  }
}

std::vector<double> readNumbers(llvm::ArrayRef<char> bytes, bool whole) {
  std::vector<double> numbers(bytes.size() / 4);
  for (size_t i = 0; i < numbers.size(); ++i) {
    float real;
    int32_t integer;
    std::memcpy(&real, bytes.data() + 4 * i, 4);
    std::memcpy(&integer, bytes.data() + 4 * i, 4);
    numbers[i] = whole ? integer : real;
  }
  return numbers;
}

Fenced::Fenced(size_t bytes) : size(bytes), memory(2 * fence + bytes + 64, static_cast<char>(0xff)) {
  begin = memory.data() + fence;
  begin += -reinterpret_cast<uintptr_t>(begin) % 64;
  for (char *p = memory.data(); p != begin; ++p)
    *p = mark;
  for (char *p = begin + size; p != memory.data() + memory.size(); ++p)
    *p = mark;
}

bool Fenced::isIntact() const {
  auto isFence = [](const char *from, const char *to) {
    return std::all_of(from, to, [](char c) { return c == mark; });
  };
  return isFence(memory.data(), begin) && isFence(begin + size, memory.data() + memory.size());
}

} // namespace attn::agree
