// ModelHeaderTest.cpp: names of a text that C keeps for itself, or that occur twice, in model.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/ModelHeader.h"
#include "gtest/gtest.h"

namespace {

std::string headerOf(llvm::StringRef metadata) {
  llvm::json::Value parsed = llvm::cantFail(llvm::json::parse(metadata));
  return attn::headerOfModel(*parsed.getAsObject(), "typedef int attn_run; enum { ATTN_RUN, ATTN_STRICT };");
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

std::string headerOfFunctions(llvm::StringRef model, std::initializer_list<llvm::StringRef> names) {
  std::string functions;
  for (llvm::StringRef name : names)
    functions += (functions.empty() ? "" : ", ") +
                 (R"({"name": ")" + name + R"(", "sequences": [], "params": [], "results": []})").str();
  return headerOf((R"({"model": ")" + model + R"(", "functions": [)" + functions + "]}").str());
}

TEST(ModelHeader, NamesThatTheInterfaceHas) {
  std::string header = headerOfFunctions("attn", {"run", "strict", "walk"});
  EXPECT_NE(header.find("enum { ATTN_RUN_ = 0 };"), std::string::npos);
  EXPECT_NE(header.find("int32_t attn_run_("), std::string::npos);
  EXPECT_NE(header.find("enum { ATTN_STRICT_ = 1 };"), std::string::npos);
  EXPECT_NE(header.find("int32_t attn_strict("), std::string::npos);
  EXPECT_NE(header.find("enum { ATTN_WALK = 2 };"), std::string::npos);
}

TEST(ModelHeader, NamesThatDifferInCaseAlone) {
  std::string header = headerOfFunctions("m", {"go", "Go", "GO"});
  EXPECT_NE(header.find("enum { M_GO = 0 };"), std::string::npos);
  EXPECT_NE(header.find("enum { M_GO_ = 1 };"), std::string::npos);
  EXPECT_NE(header.find("enum { M_GO__ = 2 };"), std::string::npos);
  EXPECT_NE(header.find("int32_t m_GO("), std::string::npos);
  EXPECT_NE(header.find("attn_run(sessions, n, M_GO__, "), std::string::npos);
}

TEST(ModelHeader, ParametersDoNotHideWhatTheirFunctionUses) {
  std::string header = headerOf(R"({"model": "m", "functions": [{"name": "f", "sequences": [], "params": [
    {"name": "attn_run", "type": "i32", "dims": []}, {"name": "M_F", "type": "f32", "dims": []},
    {"name": "int64_t", "type": "f32", "dims": []}], "results": []}]})");
  EXPECT_NE(header.find("const int32_t *attn_run_, const float *M_F_, const float *int64_t_)"), std::string::npos);
}

TEST(ModelHeader, NothingToCall) {
  std::string header = headerOf(R"({"model": "none", "functions": []})");
  EXPECT_NE(header.find("#ifndef ATTN_MODEL_NONE_H"), std::string::npos);
  EXPECT_EQ(header.find("static inline"), std::string::npos);
}

} // namespace
