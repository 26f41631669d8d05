// What generated code says of itself: read, and refused where it contradicts itself.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FakeModel.h"
#include "runtime/Error.h"
#include <fstream>
#include <sstream>

namespace attn {
using namespace test;
namespace {

std::string failureWith(const std::string &from, const std::string &to) {
  return metadataFailure(replaced(fakeMetadata, from, to));
}

TEST(Metadata, IsRead) {
  Metadata metadata;
  ASSERT_TRUE(metadata.read(attn_this_program)) << lastError();
  EXPECT_EQ(metadata.slots(), 5);
  EXPECT_EQ(metadata.weights[1].parts.size(), 2u);
  EXPECT_EQ(metadata.weights[2].rows[0], 2);
  EXPECT_EQ(metadata.functions[0].longest[0], 100);
  EXPECT_EQ(metadata.functions[1].longest[0], 0);
  EXPECT_EQ(metadata.stateSlots(), 5);
  EXPECT_EQ(metadata.state[2].firstSlot, 3);
  EXPECT_EQ(metadata.state[2].rowBytes, 12);
  EXPECT_TRUE(metadata.state[2].once);
  EXPECT_EQ(metadata.functions[0].cached, -1);
  EXPECT_EQ(metadata.functions[3].cached, 0);
  EXPECT_EQ(metadata.functions[3].kept[0].sequence, 1u);
  EXPECT_EQ(metadata.functions[3].kept[0].state[1], 2);
}

TEST(Metadata, GivesSignatures) {
  FakeFolder folder;
  ModelPointer model = folder.create();
  ASSERT_TRUE(model) << attn_last_error();
  EXPECT_STREQ(attn_model_name(model.get()), "fake");
  const attn_function *embed = attn_model_function(model.get(), 0);
  ASSERT_NE(embed, nullptr);
  EXPECT_STREQ(embed->name, "embed");
  EXPECT_EQ(embed->sequences, 1);
  EXPECT_STREQ(embed->sequence_names[0], "T");
  ASSERT_EQ(embed->params, 2);
  EXPECT_STREQ(embed->param[0].name, "ids");
  EXPECT_EQ(embed->param[0].type, ATTN_INT32);
  EXPECT_EQ(embed->param[0].limit, 3);
  EXPECT_EQ(embed->param[0].has_default, 0);
  EXPECT_EQ(embed->param[1].type, ATTN_FLOAT32);
  EXPECT_EQ(embed->param[1].has_default, 1);
  EXPECT_EQ(embed->param[1].default_number, 1);
  ASSERT_EQ(embed->result[0].rank, 2);
  EXPECT_STREQ(embed->result[0].dims[0].name, "T");
  EXPECT_EQ(embed->result[0].dims[0].size, -1);
  EXPECT_STREQ(embed->result[0].dims[1].name, "E");
  EXPECT_EQ(embed->result[0].dims[1].size, 2);
  EXPECT_EQ(embed->missing, nullptr);
  const attn_function *answer = attn_model_function(model.get(), 3);
  EXPECT_EQ(std::vector<int32_t>(answer->sequence_kinds, answer->sequence_kinds + 3),
            (std::vector<int32_t>{ATTN_CACHED, ATTN_KEPT, ATTN_PLAIN}));
  EXPECT_EQ(embed->sequence_kinds[0], ATTN_PLAIN);
  EXPECT_EQ(embed->sequence_limits[0], 100);
  EXPECT_EQ(answer->sequence_limits[2], 0);
  EXPECT_EQ(attn_model_function(model.get(), 6), nullptr);
  EXPECT_EQ(attn_model_function(model.get(), -1), nullptr);
  EXPECT_EQ(attn_function_find(model.get(), "mean"), 1);
  EXPECT_EQ(attn_function_find(model.get(), "nobody"), -1);
  EXPECT_STREQ(attn_last_error(), "model `fake` has no function `nobody`");
}

TEST(Metadata, OfTheDocumentationIsRight) {
  std::stringstream text;
  text << std::ifstream(std::string(ATTN_SOURCE) + "/docs/metadata.md").rdbuf();
  size_t begin = text.str().find("```json\n") + 8;
  std::string json = text.str().substr(begin, text.str().find("```", begin) - begin);
  attn_program program = attn_this_program;
  program.functions = 2;
  program.metadata = json.c_str();
  Metadata metadata;
  ASSERT_TRUE(metadata.read(program)) << lastError();
  EXPECT_EQ(metadata.slots(), 6);
  EXPECT_EQ(metadata.stateSlots(), 13);
}

TEST(Metadata, OfAnotherVersionIsRefused) {
  attn_program program = attn_this_program;
  program.abi_version = 77;
  Metadata metadata;
  EXPECT_FAILS(metadata.read(program),
               "the generated code is of version 77 of the runtime's contract, this runtime is of version " +
                   std::to_string(attn_abi_version()));
}

TEST(Metadata, ThatContradictsItselfIsRefused) {
  EXPECT_EQ(metadataFailure("{"),
            "`metadata`: not valid JSON at line 1, column 1: string or '}' expected near end of file");
  EXPECT_EQ(metadataFailure(R"({"functions":[],"weights":[]})"),
            "`metadata`: `functions` should be as many as the program has");
  EXPECT_EQ(failureWith(R"("model": "fake")", R"("model": 7)"), "`metadata`: `model` should be a text");
  EXPECT_EQ(failureWith(R"("features": [])", R"("features": [1])"), "`metadata`: `features` should be a list of texts");
  EXPECT_EQ(failureWith(R"("features": [])", R"("features": 1)"), "`metadata`: `features` should be a list");
  EXPECT_EQ(failureWith(R"([["gamma", "weight"]])", R"([["gamma"]])"),
            "`metadata`: `renames` should be a list of pairs of texts");
  EXPECT_EQ(failureWith(R"("rows": [1, 1])", R"("rows": [1, 2])"),
            "`metadata`: `rows` should be one number a part, together dimension 0 of the shape");
  EXPECT_EQ(failureWith("out_in", "sideways"), "`metadata`: `stored` should be `out_in` or `in_out`");
  EXPECT_EQ(failureWith(R"("turns": [2])", R"("turns": [-2])"), "`metadata`: `turns` should be numbers of turns");
  EXPECT_EQ(failureWith(R"("turns": [2])", R"("turns": [99999, 99999])"),
            "`metadata`: `turns` should be numbers of turns");
  EXPECT_EQ(failureWith(R"("shape": [2, 2])", R"("shape": [2, -2])"), "`metadata`: `shape` should be a shape");
  EXPECT_EQ(failureWith(R"("functions": [0])", R"("functions": [6])"),
            "`metadata`: `functions` should be numbers of functions");
  EXPECT_EQ(failureWith(R"("packed_bytes": 16)", R"("packed_bytes": "16")"),
            "`metadata`: `packed_bytes` should be a whole number");
  EXPECT_EQ(failureWith(R"("dims": ["T", 2])", R"("dims": ["S", 2])"),
            "`metadata`: `dims` should be a list of sizes and names of sequence dimensions");
  EXPECT_EQ(failureWith(R"("ids", "type": "i32")", R"("ids", "type": "i64")"),
            "`metadata`: `type` should be `f32` or `i32`");
  EXPECT_EQ(failureWith(R"("default": 1)", R"("default": "1")"), "`metadata`: `default` should be a number");
  EXPECT_EQ(failureWith(R"("longest": [100])", R"("longest": [1, 2])"),
            "`metadata`: `longest` should be at most one number a sequence dimension");
}

TEST(Metadata, OfPlacesThatContradictsItselfIsRefused) {
  EXPECT_EQ(failureWith(R"("kind": "cache")", R"("kind": "stack")"), "`metadata`: `kind` should be `cache` or `once`");
  EXPECT_EQ(failureWith(R"("row": [2], "type": "f32")", R"("row": [2], "type": "f16")"),
            "`metadata`: `type` should be `f32`, `i32` or `bf16`");
  EXPECT_EQ(failureWith(R"("row": [2],)", R"("row": [-2],)"), "`metadata`: `row` should be a shape");
  EXPECT_EQ(failureWith(R"("row": [2],)", R"("row": [4611686018427387904],)"), "`metadata`: `row` should be a shape");
  EXPECT_EQ(failureWith(R"("turns": [2], "row": [2])", R"("turns": [99999, 99999], "row": [2])"),
            "`metadata`: `turns` should be numbers of turns");
  EXPECT_EQ(failureWith(R"("turns": [2], "row": [2])", R"("turns": [16777216], "row": [2])"),
            "`metadata`: `turns` should be numbers of turns");
  EXPECT_EQ(failureWith(R"("functions": [2, 3])", R"("functions": [2, 6])"),
            "`metadata`: `functions` should be numbers of functions");
  EXPECT_EQ(failureWith(R"("longest": [8], "cached": "T")", R"("cached": "S")"),
            "`metadata`: `cached` should be a sequence dimension of the function, named once");
  EXPECT_EQ(
      failureWith(R"("kept": [{"sequence": "S", "state": [1, 2]}])", R"("kept": [{"sequence": "T", "state": [1]}])"),
      "`metadata`: `sequence` should be a sequence dimension of the function, named once");
  for (const char *state : {"[0]", "[3]", "[-1]", "[]"})
    EXPECT_EQ(failureWith(R"("state": [1, 2])", std::string(R"("state": )") + state),
              "`metadata`: `state` should be numbers of places of the kind `once`");
}

} // namespace
} // namespace attn
