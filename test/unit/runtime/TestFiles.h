// Files for the runtime's tests: a folder that vanishes, safetensors made to measure.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_TEST_FILES_H
#define ATTN_TEST_TEST_FILES_H
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace attn::test {

class TestFolder {
public:
  TestFolder();
  ~TestFolder();
  // Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &bytes) const;
  std::string path(const std::string &name) const { return folder + "/" + name; }
  const std::string folder;
};

// "[N, 8 bytes][header][data]"
std::string safetensorsOf(const std::string &header, const std::string &data);

struct TestTensor {
  std::string name, type;
  std::vector<int64_t> shape;
  std::string bytes;
};
// The tensors end to end. `padding` spaces in front of the header's end move the data.
std::string safetensorsOf(const std::vector<TestTensor> &tensors, size_t padding = 0);

std::string bytesOf(const std::vector<float> &values);
std::string halvesOf(const std::vector<uint16_t> &values);
TestTensor floats(const std::string &name, const std::vector<int64_t> &shape, const std::vector<float> &values);

std::string replaced(std::string text, const std::string &from, const std::string &to);

} // namespace attn::test

// The expression is false (or null) and left exactly this message.
#define EXPECT_FAILS(expression, message)                                                                              \
  do {                                                                                                                 \
    EXPECT_FALSE(expression);                                                                                          \
    EXPECT_EQ(std::string(attn::lastError()), message);                                                                \
  } while (0)
#endif
