// ModelHeaderTest.cpp: names of a text that C keeps for itself, or that occur twice, in model.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/ModelHeader.h"
#include "gtest/gtest.h"

namespace {

std::string headerOf(llvm::StringRef metadata) {
  return attn::headerOfModel(*llvm::cantFail(llvm::json::parse(metadata)).getAsObject());
}

TEST(ModelHeader, NamesThatCKeepsForItself) {
  std::string header = headerOf(R"({"model": "3-way.model", "functions": [{"name": "f", "sequences": ["T"], "params": [
    {"name": "int", "type": "i32", "dims": ["T"]}, {"name": "n", "type": "f32", "dims": []}, {"name": "y", "type": "f32", "dims": []}],
    "results": [{"name": "y", "type": "f32", "dims": []}, {"name": "", "type": "f32", "dims": []}]}]})");
  EXPECT_NE(
      header.find("static inline int32_t _3_way_model_f(attn_session *const *sessions, int64_t n, const int64_t "
                  "*T_offsets, const int32_t *int_, const float *n_, const float *y, float *y_, float *result) {"),
      std::string::npos);
  EXPECT_NE(header.find("{int_, n_, y, 0}"), std::string::npos);
  EXPECT_NE(header.find("enum { _3_WAY_MODEL_F = 0 };"), std::string::npos);
}

TEST(ModelHeader, NothingToCall) {
  std::string header = headerOf(R"({"model": "none", "functions": []})");
  EXPECT_NE(header.find("#ifndef ATTN_MODEL_NONE_H"), std::string::npos);
  EXPECT_EQ(header.find("static inline"), std::string::npos);
}

} // namespace
