// Tensors.cpp - tensors by name, as attn-run reads and writes them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/run/Tensors.h"

#include "runtime/Error.h"
#include "runtime/Safetensors.h"
#include "tools/run/Failure.h"
#include "tools/run/Json.h"
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace attn::run {
namespace {

template <typename T> T loadAt(const char *data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * int64_t(sizeof(T)), sizeof(T));
  return value;
}

float halfToFloat(uint16_t half) {
  _Float16 value;
  std::memcpy(&value, &half, sizeof value);
  return float(value);
}

/// Widens what lies in the file; false if the type is none that a call can take.
bool widen(Tensor &tensor, std::string_view type, const char *data, int64_t count) {
  auto floats = [&](auto read) {
    for (int64_t i = 0; i < count; ++i)
      tensor.floats.push_back(read(i));
    return true;
  };
  auto integers = [&](auto read) {
    tensor.integer = true;
    for (int64_t i = 0; i < count; ++i)
      tensor.integers.push_back(read(i));
    return true;
  };
  if (type == "F32")
    return floats([&](int64_t i) { return loadAt<float>(data, i); });
  if (type == "F16")
    return floats([&](int64_t i) { return halfToFloat(loadAt<uint16_t>(data, i)); });
  if (type == "BF16")
    return floats([&](int64_t i) { return std::bit_cast<float>(uint32_t(loadAt<uint16_t>(data, i)) << 16); });
  if (type == "I64")
    return integers([&](int64_t i) { return loadAt<int64_t>(data, i); });
  if (type == "I32")
    return integers([&](int64_t i) { return loadAt<int32_t>(data, i); });
  if (type == "U8" || type == "BOOL")
    return integers([&](int64_t i) { return loadAt<uint8_t>(data, i); });
  return false;
}

std::string headerOf(const Tensors &tensors) {
  Json header(json_object());
  int64_t offset = 0;
  for (const auto &[name, tensor] : tensors) {
    int64_t end = offset + tensor.size() * (tensor.integer ? 8 : 4);
    json_t *shape = json_array();
    for (int64_t size : tensor.shape)
      json_array_append_new(shape, json_integer(size));
    json_object_set_new(header.get(), name.c_str(),
                        json_pack("{s:s, s:o, s:[I, I]}", "dtype", tensor.integer ? "I64" : "F32", "shape", shape,
                                  "data_offsets", json_int_t(offset), json_int_t(end)));
    offset = end;
  }
  char *text = json_dumps(header.get(), JSON_COMPACT);
  std::string result = text;
  std::free(text);
  result.append((8 - result.size() % 8) % 8, ' ');
  return result;
}

/// Appends the numbers of one JSON value, checking that what stands side by side has one shape.
void flatten(json_t *value, size_t depth, Tensor &tensor, const std::string &what) {
  if (!json_is_array(value)) {
    if (!json_is_number(value) || depth != tensor.shape.size())
      fail("{}: not numbers nested evenly in arrays", what);
    tensor.integer &= json_is_integer(value);
    tensor.floats.push_back(float(json_number_value(value)));
    tensor.integers.push_back(json_is_integer(value) ? json_integer_value(value) : 0);
    return;
  }
  int64_t size = int64_t(json_array_size(value));
  if (depth >= tensor.shape.size() || tensor.shape[depth] != size)
    fail("{}: not numbers nested evenly in arrays", what);
  for (size_t i = 0; i < json_array_size(value); ++i)
    flatten(json_array_get(value, i), depth + 1, tensor, what);
}

} // namespace

std::string showShape(const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Tensors readTensors(const std::string &path) {
  Safetensors file;
  if (!file.openFile(path.c_str()))
    throw Failure(lastError());
  Tensors tensors;
  for (size_t i = 0; i < file.size(); ++i) {
    const FileTensor &entry = file[i];
    Tensor tensor;
    tensor.shape.assign(entry.shape.begin(), entry.shape.end());
    if (!widen(tensor, entry.type, entry.bytes.data(), entry.elements()))
      fail("`{}` of `{}` is {}, which no function takes", entry.name.view(), path, entry.type);
    tensors.emplace(entry.name.view(), std::move(tensor));
  }
  return tensors;
}

void writeWhole(const std::string &path, const std::function<void(std::ostream &)> &write) {
  // A link is followed, a device or a pipe written to; a file appears whole, beside its place first.
  std::error_code error;
  fs::path target = fs::canonical(path, error);
  bool isFile = error ? !fs::is_symlink(path) : fs::is_regular_file(target);
  if (error)
    target = path;
  fs::path place = isFile ? fs::path(fmt::format("{}.{}", target.string(), getpid())) : target;
  std::ofstream file(place, std::ios::binary);
  write(file);
  file.close();
  error.clear();
  if (file && isFile)
    fs::rename(place, target, error);
  if (file && !error)
    return;
  if (isFile)
    fs::remove(place, error);
  fail("cannot write `{}`", path);
}

void writeTensors(const std::string &path, const Tensors &tensors) {
  std::string header = headerOf(tensors);
  uint64_t length = header.size();
  writeWhole(path, [&](std::ostream &file) {
    file.write(reinterpret_cast<const char *>(&length), sizeof length);
    file.write(header.data(), std::streamsize(header.size()));
    for (const auto &[name, tensor] : tensors) {
      const char *data = tensor.integer ? reinterpret_cast<const char *>(tensor.integers.data())
                                        : reinterpret_cast<const char *>(tensor.floats.data());
      file.write(data, tensor.size() * (tensor.integer ? 8 : 4));
    }
  });
}

Tensor parseTensor(const std::string &text, const std::string &what) {
  Json value = parseJson(text, what);
  Tensor tensor;
  for (json_t *inner = value.get(); json_is_array(inner); inner = json_array_get(inner, 0))
    tensor.shape.push_back(int64_t(json_array_size(inner)));
  tensor.integer = true;
  flatten(value.get(), 0, tensor, what);
  tensor.integer ? tensor.floats.clear() : tensor.integers.clear();
  return tensor;
}

} // namespace attn::run
