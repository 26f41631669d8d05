// Creating models: files found and compared, weights bound by name and shape, what is left out, what is noted.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FakeModel.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Error.h"

namespace attn {
using namespace test;
namespace {

std::vector<TestTensor> with(const std::string &name, const TestTensor &tensor) {
  std::vector<TestTensor> all = fakeTensorsWithout(name);
  all.push_back(tensor);
  return all;
}

std::string noteOf(const ModelPointer &model, int32_t index = 0) {
  const char *note = model ? attn_model_note(model.get(), index) : attn_last_error();
  return note ? note : "";
}

TEST(ModelFiles, AFolderAndAFileWork) {
  FakeFolder folder;
  EXPECT_EQ(folder.failure(), "");
  EXPECT_EQ(noteOf(folder.create()), "");
  ModelPointer one(attn_model_create(folder.path("model.safetensors").c_str()));
  EXPECT_EQ(noteOf(one), "");
}

TEST(ModelFiles, ShardsWork) {
  FakeFolder folder;
  rename(folder.path("model.safetensors").c_str(), folder.path("all.safetensors").c_str());
  folder.write("model.safetensors.index.json", R"({"weight_map": {"g": "all.safetensors"}})");
  EXPECT_EQ(folder.failure(), "");
}

TEST(ModelFiles, ThatAreNotThere) {
  FakeFolder folder;
  remove(folder.path("model.safetensors").c_str());
  EXPECT_EQ(folder.failure(), "`DIR`: holds neither `model.safetensors` nor `model.safetensors.index.json`");
  remove(folder.path("config.json").c_str());
  EXPECT_EQ(folder.failure(), "`DIR/config.json`: cannot be opened: No such file or directory");
  EXPECT_FAILS(attn_model_create("/nowhere"), "`/nowhere`: there is no such folder or file");
  EXPECT_FAILS(attn_model_create(nullptr), "model `fake` has weights: it needs a folder");
}

TEST(ModelFiles, AFileWithoutConfigurationIsNoted) {
  FakeFolder folder;
  remove(folder.path("config.json").c_str());
  ModelPointer model(attn_model_create(folder.path("model.safetensors").c_str()));
  EXPECT_EQ(folder.withoutPath(noteOf(model)),
            "`DIR/config.json`: not there, so that the configuration was not compared");
}

TEST(ModelConfig, ThatDiffersIsRefused) {
  FakeFolder folder;
  folder.config(R"({"hidden_size": 3, "rope": {"theta": 10000}})");
  EXPECT_EQ(folder.failure(), "`DIR/config.json`: `hidden_size` is 3, the library was compiled for 2");
  folder.config(R"({"hidden_size": 2, "rope": {"theta": 1e6}})");
  EXPECT_EQ(folder.failure(), "`DIR/config.json`: `rope.theta` is 1000000.0, the library was compiled for 10000");
  folder.config(R"({"hidden_size": 2, "rope": 1})");
  EXPECT_EQ(folder.failure(), "`DIR/config.json`: `rope.theta` is null, the library was compiled for 10000");
  folder.config(R"({"hidden_size": 2, "rope": {"theta": 10000}, "tie": true})");
  EXPECT_EQ(folder.failure(), "`DIR/config.json`: `tie` is true, the library was compiled for null");
  folder.config(R"({"hidden_size": 2.0, "rope": {"theta": 10000}, "tie": null, "more": 1})");
  EXPECT_EQ(folder.failure(), "");
  folder.config("[");
  EXPECT_EQ(folder.failure(), "`DIR/config.json`: not valid JSON at line 1, column 1: ']' expected near end of file");
}

TEST(ModelConfig, ListsAndObjectsAreComparedWhole) {
  JsonDocument used, same, other;
  ASSERT_TRUE(used.parse(R"({"a": [1, {"b": "x", "c": 2.5}]})", "used"));
  ASSERT_TRUE(same.parse(R"({"a": [1.0, {"c": 2.5, "b": "x"}]})", "same"));
  EXPECT_TRUE(checkConfig(same, used.root()));
  for (const char *text :
       {R"([1])", R"([1, {"b": "x", "c": 3}])", R"([1, {"b": "x", "d": 2.5}])", R"([1, 2])", R"("1")"}) {
    ASSERT_TRUE(other.parse(std::string("{\"a\": ") + text + "}", "other"));
    EXPECT_FALSE(checkConfig(other, used.root())) << text;
  }
  std::string longText(200, 'x');
  ASSERT_TRUE(other.parse("{\"a\": \"" + longText + "\"}", "other"));
  EXPECT_FAILS(checkConfig(other, used.root()), "`other`: `a` is \"" + longText.substr(0, 76) +
                                                    "..., the library was compiled for [1,{\"b\":\"x\",\"c\":2.5}]");
}

TEST(ModelWeights, PrefixesAreTriedInOrder) {
  FakeFolder folder;
  std::vector<TestTensor> all = fakeTensors();
  for (TestTensor &tensor : all)
    if (tensor.name != "g")
      tensor.name = "bert." + tensor.name;
  folder.tensors(all);
  EXPECT_EQ(folder.failure(), "");
  all.back().name = "bert.g"; // a name from the root is looked for behind the prefixes too
  folder.tensors(all);
  EXPECT_EQ(noteOf(folder.create()), "");
}

TEST(ModelWeights, FoundTwiceAreRefused) {
  FakeFolder folder;
  folder.tensors(with("", floats("bert.emb.weight", {3, 2}, {1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(folder.failure(), "`DIR/model.safetensors`: both `emb.weight` and `bert.emb.weight` could be `emb.weight`");
  folder.tensors(with("", floats("ln.weight", {2}, {1, 2})));
  EXPECT_EQ(folder.failure(), "`DIR/model.safetensors`: tensors `ln.gamma` and `ln.weight` are both `ln.weight`");
}

TEST(ModelWeights, OfAnotherShapeOrTypeAreRefused) {
  FakeFolder folder;
  folder.tensors(with("emb.weight", floats("emb.weight", {2, 3}, {1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(folder.failure(),
            "`DIR/model.safetensors`: tensor `emb.weight` has shape [2, 3], the model expects [3, 2]");
  folder.tensors(with("layer.1.q", floats("layer.1.q", {2, 1, 2}, {1, 2, 3, 4})));
  EXPECT_EQ(folder.failure(),
            "`DIR/model.safetensors`: tensor `layer.1.q` has shape [2, 1, 2], the model expects [1, 2]");
  folder.tensors(with("g", {"g", "I32", {2}, std::string(8, '\0')}));
  EXPECT_EQ(folder.failure(), "`DIR/model.safetensors`: tensor `g` has type I32, the model can read F32, F16 and BF16");
}

TEST(ModelWeights, ThatAreMissingLeaveFunctionsOut) {
  FakeFolder folder;
  folder.tensors(fakeTensorsWithout("g"));
  ModelPointer model = folder.create();
  ASSERT_TRUE(model) << attn_last_error();
  EXPECT_EQ(noteOf(model), "left out: `mean` (the file has no tensor `g`)");
  EXPECT_EQ(noteOf(model, 1), "");
  EXPECT_STREQ(attn_model_function(model.get(), 1)->missing, "the file has no tensor `g`");
  folder.tensors({floats("layer.0.q", {1, 2}, {7, 7})});
  EXPECT_EQ(folder.failure(),
            "no function can be called: `embed` (the file has no tensor `emb.weight`), `mean` (the file "
            "has no tensor `g`), `recall` (the file has no tensor `ln.weight`), `answer` (the file has no tensor "
            "`ln.weight`), "
            "`note` (the file has no tensor `ln.weight`), `double` (the file has no tensor `ln.weight`)");
}

TEST(ModelWeights, ThatNobodyUsesAreNotedAndStrictlyRefused) {
  FakeFolder folder;
  std::vector<TestTensor> all = with("", {"a.position_ids", "I64", {1}, std::string(8, '\0')});
  folder.tensors(all);
  EXPECT_EQ(folder.failure(ATTN_STRICT), "");
  all.push_back(floats("extra", {1}, {1}));
  folder.tensors(all);
  EXPECT_EQ(folder.withoutPath(noteOf(folder.create())), "`DIR/model.safetensors`: the model does not use `extra`");
  EXPECT_EQ(folder.failure(ATTN_STRICT), "`DIR/model.safetensors`: the model does not use `extra`");
  for (int i = 0; i < 6; ++i)
    all.push_back(floats("more." + std::to_string(i), {1}, {1}));
  folder.tensors(all);
  EXPECT_EQ(folder.failure(ATTN_STRICT), "`DIR/model.safetensors`: the model does not use `extra`, `more.0`, `more.1`, "
                                         "`more.2`, `more.3` and 2 more");
}

TEST(Model, UnknownFlagsAreRefused) {
  FakeFolder folder;
  EXPECT_EQ(folder.failure(8), "the flags 8 of attn_model_create_with are not known");
}

Array<int64_t> shapeOf(const std::vector<int64_t> &sizes) {
  Array<int64_t> shape;
  for (int64_t size : sizes)
    shape.push(size);
  return shape;
}

bool fits(const std::vector<int64_t> &file, const std::vector<int64_t> &text, bool inOut = false) {
  return fitsShape(shapeOf(file), shapeOf(text), inOut);
}

TEST(FitsShape, RegroupsNeighboursAndDropsOnes) {
  EXPECT_TRUE(fits({384, 384}, {12, 32, 384}));
  EXPECT_TRUE(fits({12, 32, 384}, {12, 32, 384}));
  EXPECT_TRUE(fits({1, 384, 1}, {384}));
  EXPECT_TRUE(fits({384}, {1, 384, 1}));
  EXPECT_TRUE(fits({1}, {}));
  EXPECT_TRUE(fits({}, {}));
  EXPECT_TRUE(fits({0, 4}, {0, 4}));
  EXPECT_FALSE(fits({12, 32, 384}, {384, 384}));
  EXPECT_FALSE(fits({384, 384}, {32, 384, 12}));
  EXPECT_FALSE(fits({384}, {384, 2}));
  EXPECT_FALSE(fits({384, 2}, {384}));
  EXPECT_FALSE(fits({0, 4}, {4, 0}));
  EXPECT_FALSE(fits({5}, {0}));
  EXPECT_FALSE(fits({4}, {int64_t(1) << 40, int64_t(1) << 40}));
}

TEST(FitsShape, StoredInFirstHasTheLastDimensionFirst) {
  EXPECT_TRUE(fits({768, 2304}, {3, 12, 64, 768}, true));
  EXPECT_FALSE(fits({2304, 768}, {3, 12, 64, 768}, true));
  EXPECT_TRUE(fits({4}, {4}, true));
}

TEST(Names, GlobsAndTurns) {
  EXPECT_TRUE(matchesGlob("*.attn.bias", "h.0.attn.bias"));
  EXPECT_TRUE(matchesGlob("a*b*c", "a.b.b.c"));
  EXPECT_TRUE(matchesGlob("a?c", "abc"));
  EXPECT_TRUE(matchesGlob("*", ""));
  EXPECT_FALSE(matchesGlob("*.bias", "bias"));
  EXPECT_FALSE(matchesGlob("a?c", "ac"));
  EXPECT_FALSE(matchesGlob("a", "ab"));
  EXPECT_STREQ(expandTurns("a.{0}.b.{1}.{0}", shapeOf({3, 12})).c_str(), "a.3.b.12.3");
}

TEST(CpuFeatures, ThatAreMissingAreRefused) {
  Notes notes;
  Array<View> features;
  EXPECT_TRUE(checkFeatures(features, notes));
#if defined(__x86_64__)
  features.push("sse2");
  EXPECT_TRUE(checkFeatures(features, notes)) << lastError();
  EXPECT_TRUE(notes.empty());
  const char *absent = presenceOf("tbm") == Presence::absent ? "tbm" : "avx512vp2intersect";
  if (presenceOf(absent) == Presence::absent) {
    features.push(absent);
    EXPECT_FAILS(checkFeatures(features, notes),
                 std::string("this library was compiled for processors with `") + absent + "`, which this one lacks");
    features.pop();
  }
#endif
  features.push("flux-capacitor");
  EXPECT_TRUE(checkFeatures(features, notes));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_STREQ(notes[0].c_str(),
               "cannot tell whether this processor has `flux-capacitor`, which the library was compiled for");
}

} // namespace
} // namespace attn
