// Files for the runtime's tests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TestFiles.h"
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace attn::test {
namespace {

std::string makeFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "attn-XXXXXX").string();
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

} // namespace

TestFolder::TestFolder() : folder(makeFolder()) {}
TestFolder::~TestFolder() {
  std::filesystem::remove_all(folder);
}

std::string TestFolder::write(const std::string &name, const std::string &bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
  return path(name);
}

std::string safetensorsOf(const std::string &header, const std::string &data) {
  std::string out;
  for (int i = 0; i < 8; ++i)
    out.push_back(static_cast<char>(header.size() >> (8 * i)));
  return out + header + data;
}

std::string safetensorsOf(const std::vector<TestTensor> &tensors, size_t padding) {
  std::string header = "{", data;
  for (const TestTensor &tensor : tensors) {
    std::string shape;
    for (int64_t size : tensor.shape)
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    header += (header.size() > 1 ? ",\"" : "\"") + tensor.name + "\":{\"dtype\":\"" + tensor.type + "\",\"shape\":[" +
              shape + "],\"data_offsets\":[" + std::to_string(data.size()) + "," +
              std::to_string(data.size() + tensor.bytes.size()) + "]}";
    data += tensor.bytes;
  }
  header += "}";
  while (header.size() % 8)
    header += ' ';
  return safetensorsOf(header + std::string(padding, ' '), data);
}

std::string bytesOf(const std::vector<float> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)};
}

std::string halvesOf(const std::vector<uint16_t> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(uint16_t)};
}

TestTensor floats(const std::string &name, const std::vector<int64_t> &shape, const std::vector<float> &values) {
  return {name, "F32", shape, bytesOf(values)};
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "nothing to replace: " << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

} // namespace attn::test
