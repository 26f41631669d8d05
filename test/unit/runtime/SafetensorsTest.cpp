// Safetensors: what is read from good files, and how each kind of bad one is refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Safetensors.h"
#include "TestFiles.h"
#include "runtime/Error.h"
#include <sys/mman.h>
#include <unistd.h>

namespace attn {
using namespace test;

namespace {

class SafetensorsTest : public testing::Test {
protected:
  // Opens a file of these bytes; the message with the path taken out, "" if it opened.
  std::string open(const std::string &bytes) {
    std::string path = folder.write("m.safetensors", bytes);
    Safetensors file;
    return file.openFile(path.c_str()) ? "" : replaced(lastError(), path, "FILE");
  }
  std::string openHeader(const std::string &header, size_t bytes = 16) {
    return open(safetensorsOf(header, std::string(bytes, 'x')));
  }
  TestFolder folder;
};

std::string entry(const std::string &shape, const std::string &range, const std::string &type = "F32") {
  return "{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + range + "}";
}

TEST_F(SafetensorsTest, ReadsNamesShapesTypesAndData) {
  std::string path = folder.write("m.safetensors",
                                  safetensorsOf(std::vector<TestTensor>{floats("a", {2, 3}, {1, 2, 3, 4, 5, 6}),
                                                                        {"b", "BF16", {2}, halvesOf({0x3f80, 0x4000})},
                                                                        floats("scalar", {}, {7}),
                                                                        {"none", "F32", {0, 5}, ""},
                                                                        {"ids", "I64", {1}, std::string(8, '\0')}}));
  Safetensors file;
  ASSERT_TRUE(file.openFile(path.c_str())) << lastError();
  ASSERT_EQ(file.size(), 5u);
  const FileTensor &a = *file.find("a");
  EXPECT_STREQ(shapeText(a.shape).c_str(), "[2, 3]");
  EXPECT_EQ(a.type, "F32");
  EXPECT_EQ(std::string(a.bytes), bytesOf({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(a.file, path);
  EXPECT_EQ(file.find("b")->bytes.size(), 4u);
  EXPECT_STREQ(shapeText(file.find("scalar")->shape).c_str(), "[]");
  EXPECT_EQ(file.find("scalar")->elements(), 1);
  EXPECT_EQ(file.find("none")->elements(), 0);
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST_F(SafetensorsTest, MetadataAndHolesAreAccepted) {
  EXPECT_EQ(openHeader(R"({"__metadata__":{"format":"pt"},"a":)" + entry("[1]", "[8,12]") + "}"), "");
}

TEST_F(SafetensorsTest, RefusesFilesThatAreNone) {
  EXPECT_EQ(open(""), "`FILE`: not a safetensors file: 0 bytes cannot hold a header");
  EXPECT_EQ(open("1234567"), "`FILE`: not a safetensors file: 7 bytes cannot hold a header");
  EXPECT_EQ(open(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)),
            "`FILE`: not a safetensors file: a header of 18446744073709551615 bytes is longer than the format allows");
  EXPECT_EQ(open(std::string("\x40\0\0\0\0\0\0\0{}", 10)),
            "`FILE`: truncated: the header should have 64 bytes, the file has 2 after its length");
  EXPECT_EQ(openHeader("{\"a\""), "`FILE`: not valid JSON at line 1, column 4: ':' expected near end of file");
  EXPECT_EQ(openHeader("[]"), "`FILE`: should hold a JSON object");
  Safetensors file;
  EXPECT_FAILS(file.openFile("/nowhere/m"), "`/nowhere/m`: cannot be opened: No such file or directory");
  EXPECT_FAILS(file.openFile("/dev"), "`/dev`: is not a regular file");
}

TEST_F(SafetensorsTest, RefusesFilesLargerThanTheAddressSpace) {
  int memory = memfd_create("huge", 0);
  ASSERT_GE(memory, 0);
  ASSERT_EQ(ftruncate(memory, int64_t(1) << 48), 0);
  std::string path = "/proc/self/fd/" + std::to_string(memory);
  Safetensors file;
  EXPECT_FAILS(file.openFile(path.c_str()), "`" + path + "`: cannot be mapped: Cannot allocate memory");
  close(memory);
}

TEST_F(SafetensorsTest, RefusesHeadersThatContradictThemselves) {
  EXPECT_EQ(openHeader(R"({"__metadata__":1})"), "`FILE`: `__metadata__` should be an object");
  EXPECT_EQ(openHeader(R"({"a":1})"), "`FILE`: the header's entry of tensor `a` should be an object");
  EXPECT_EQ(openHeader(R"({"a":{}})"), "`FILE`: `dtype` should be a text (tensor `a`)");
  EXPECT_EQ(openHeader(R"({"a":{"dtype":"F32","shape":[1.5]}})"),
            "`FILE`: `shape` should be a list of whole numbers (tensor `a`)");
  EXPECT_EQ(openHeader("{\"a\":" + entry("[1]", "[0,4]", "F99") + "}"),
            "`FILE`: tensor `a` has the unknown type `F99`");
  EXPECT_EQ(openHeader("{\"a\":" + entry("[-1]", "[0,4]") + "}"), "`FILE`: tensor `a` has the impossible shape [-1]");
  EXPECT_EQ(openHeader("{\"a\":" + entry("[4294967296,4294967296]", "[0,4]") + "}"),
            "`FILE`: tensor `a` has the impossible shape [4294967296, 4294967296]");
  EXPECT_EQ(openHeader("{\"a\":" + entry("[1]", "[4,0]") + "}"),
            "`FILE`: tensor `a` has the impossible data offsets [4, 0]");
  EXPECT_EQ(openHeader("{\"a\":" + entry("[1]", "[-4,0]") + "}"),
            "`FILE`: tensor `a` has the impossible data offsets [-4, 0]");
  EXPECT_EQ(openHeader("{\"a\":" + entry("[1]", "[0,4,8]") + "}"),
            "`FILE`: tensor `a` has the impossible data offsets [0, 4, 8]");
  EXPECT_EQ(openHeader("{\"a\":" + entry("[8]", "[0,32]") + "}"),
            "`FILE`: truncated: tensor `a` ends at byte 32 of the data, which has 16");
  EXPECT_EQ(openHeader("{\"a\":" + entry("[3]", "[0,16]") + "}"),
            "`FILE`: tensor `a` of type F32 and shape [3] cannot have 16 bytes");
  EXPECT_EQ(openHeader("{\"a\":" + entry("[3]", "[0,1]", "F4") + "}"),
            "`FILE`: tensor `a` of type F4 and shape [3] cannot have 1 bytes");
}

TEST_F(SafetensorsTest, RefusesOverlapsAndDuplicates) {
  EXPECT_EQ(openHeader("{\"b\":" + entry("[2]", "[4,12]") + ",\"a\":" + entry("[2]", "[0,8]") + "}"),
            "`FILE`: tensors `a` and `b` overlap");
  EXPECT_EQ(openHeader("{\"a\":" + entry("[2]", "[0,8]") + ",\"a\":" + entry("[2]", "[8,16]") + "}"),
            "`FILE`: not valid JSON at line 1, column 57: duplicate object key near '\"a\"'");
  EXPECT_EQ(openHeader("{\"a\":" + entry("[2]", "[0,8]") + ",\"e\":" + entry("[0]", "[4,4]") + "}"), "");
}

class ShardsTest : public testing::Test {
protected:
  ShardsTest() {
    folder.write("one.safetensors", safetensorsOf(std::vector<TestTensor>{floats("a", {1}, {1})}));
    folder.write("two.safetensors", safetensorsOf(std::vector<TestTensor>{floats("b", {1}, {2})}));
  }
  std::string open(const std::string &index, Safetensors &file) {
    std::string path = folder.write("index.json", index), message = "";
    if (!file.openIndex(path.c_str()))
      message = lastError();
    for (size_t at; (at = message.find(folder.folder)) != std::string::npos;)
      message.replace(at, folder.folder.size(), "DIR");
    return message;
  }
  std::string open(const std::string &index) {
    Safetensors file;
    return open(index, file);
  }
  TestFolder folder;
};

TEST_F(ShardsTest, AreReadTogether) {
  Safetensors file;
  ASSERT_EQ(open(R"({"metadata":{},"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})", file), "");
  ASSERT_EQ(file.size(), 2u);
  EXPECT_EQ(file.find("b")->file, folder.path("two.safetensors"));
}

TEST_F(ShardsTest, RefusesIndexesThatAreWrong) {
  EXPECT_EQ(open("{}"), "`DIR/index.json`: `weight_map` should be an object");
  EXPECT_EQ(open(R"({"weight_map":{"a":1}})"), "`DIR/index.json`: the file of tensor `a` should be a text");
  EXPECT_EQ(open(R"({"weight_map":{"a":"../x"}})"),
            "`DIR/index.json`: tensor `a` is in `../x`, which is not the name of a file beside it");
  EXPECT_EQ(open(R"({"weight_map":{"a":"three.safetensors"}})"),
            "`DIR/three.safetensors`: cannot be opened: No such file or directory");
  EXPECT_EQ(open(R"({"weight_map":{"b":"one.safetensors"}})"),
            "`DIR/index.json`: tensor `b` is not in `DIR/one.safetensors`");
  folder.write("two.safetensors", safetensorsOf(std::vector<TestTensor>{floats("a", {1}, {2})}));
  EXPECT_EQ(open(R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})"),
            "`DIR/two.safetensors`: tensor `a` is already in `DIR/one.safetensors`");
}

} // namespace
} // namespace attn
