// Tensors.h - tensors by name, as attn-run reads and writes them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_RUN_TENSORS_H
#define ATTN_TOOLS_RUN_TENSORS_H

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace attn::run {

/// A row-major tensor: floating-point types widened to float, integer types to int64.
struct Tensor {
  std::vector<int64_t> shape;
  bool integer = false;
  std::vector<float> floats;
  std::vector<int64_t> integers;

  int64_t size() const { return integer ? int64_t(integers.size()) : int64_t(floats.size()); }
};

using Tensors = std::map<std::string, Tensor>;

/// "[2, 13, 48]"
std::string showShape(const std::vector<int64_t> &shape);

/// All tensors of a .safetensors file.
Tensors readTensors(const std::string &path);
/// Writes a file: whole or not at all, unless the path is that of a device or a pipe.
void writeWhole(const std::string &path, const std::function<void(std::ostream &)> &write);
/// Writes a .safetensors file, float32 and int64, in the same way.
void writeTensors(const std::string &path, const Tensors &tensors);
/// A number, or numbers nested in arrays: [[1, 2], [3, 4]]. Integers only if all are written so; `what` names it in
/// messages.
Tensor parseTensor(const std::string &text, const std::string &what);

} // namespace attn::run

#endif
