// ConfigTest.cpp: config.json by path, what was read and what was not, bad files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Config.h"
#include <fstream>
#include <gtest/gtest.h>

using namespace attn;
using llvm::StringRef;

namespace {

struct ConfigTest : testing::Test {
  std::string messages;
  llvm::raw_string_ostream stream{messages};
  Diagnostics diags{stream};
  std::unique_ptr<Config> parse(StringRef text) { return Config::parse("config.json", text, diags); }
};

const char *llama = R"({"hidden_size": 64, "eps": 1e-5, "sliding_window": null, "dtype": "float32", "attn_dropout": 0.1,
 "rope": {"theta": 10000.0, "kind": "llama3", "factor": 8}, "labels": {"0": "a", "1": "b"}, "extra": [1, 2]})";

} // namespace

TEST_F(ConfigTest, ValuesByPath) {
  auto config = parse(llama);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->lookup({"hidden_size"}).json->getAsInteger(), 64);
  EXPECT_EQ(config->lookup({"rope", "theta"}).json->getAsNumber(), 10000.0);
  EXPECT_EQ(config->lookup({"sliding_window"}).state, Config::State::null);
  EXPECT_EQ(config->lookup({"sliding_window", "x"}).state, Config::State::null);
  EXPECT_EQ(config->lookup({"nothing"}).state, Config::State::absent);
  EXPECT_EQ(config->lookup({"hidden_size", "x"}).state, Config::State::absent);
  EXPECT_EQ(count(*config->lookup({"labels"}).json), 2);
  EXPECT_EQ(count(*config->lookup({"extra"}).json), 2);
  EXPECT_EQ(count(*config->lookup({"eps"}).json), std::nullopt);
}

TEST_F(ConfigTest, UnreadKeysLeaveOutNullsAndHarmlessOnes) {
  auto config = parse(llama);
  EXPECT_EQ(config->unreadKeys(), (std::vector<std::string>{"eps", "extra", "hidden_size", "labels", "rope"}));
  config->lookup({"eps"});
  config->lookup({"hidden_size"});
  config->lookup({"rope", "theta"});
  config->markAll({"labels"});
  config->ignore("extra");
  EXPECT_EQ(config->unreadKeys(), (std::vector<std::string>{"rope.factor", "rope.kind"}));
}

TEST_F(ConfigTest, UsedValuesAreTheOnesReadAndPresent) {
  auto config = parse(llama);
  config->lookup({"rope"});
  config->lookup({"rope", "factor"});
  config->lookup({"nothing"});
  config->lookup({"sliding_window"});
  ASSERT_EQ(config->usedValues().size(), 1u);
  EXPECT_EQ(config->usedValues().at("rope.factor"), llvm::json::Value(8));
}

TEST_F(ConfigTest, InsideAnObjectIfItIsThere) {
  auto config = parse(R"({"text_config": {"n": 1, "m": 2}, "n": 3, "vision": {}})");
  config->enter("nothing");
  EXPECT_EQ(config->lookup({"n"}).json->getAsInteger(), 3);
  config->enter("text_config");
  EXPECT_EQ(config->lookup({"n"}).json->getAsInteger(), 1);
  EXPECT_EQ(config->unreadKeys(), std::vector<std::string>{"m"});
}

TEST_F(ConfigTest, ValuesHavePlaces) {
  auto config = parse("{\n \"a\": 1,\n \"b\": {\"c\": [1,\n 2], \"d\": \"x\"}\n}");
  EXPECT_EQ(diags.place(config->place({"a"}).Start).line, 2u);
  EXPECT_EQ(diags.place(config->place({"a"}).Start).column, 7u);
  EXPECT_EQ(diags.place(config->place({"b", "c"}).Start).column, 13u);
  EXPECT_EQ(diags.place(config->place({"b", "d"}).Start).line, 4u);
  EXPECT_FALSE(config->place({"e"}).isValid());
  config->enter("b");
  EXPECT_EQ(diags.place(config->place({"d"}).Start).line, 4u);
}

TEST_F(ConfigTest, BadJsonIsShown) {
  EXPECT_FALSE(parse("{\"a\": 1,\n \"b\" 2}"));
  EXPECT_EQ(messages, "config.json:2:6: error: bad JSON: expected : after object key\n \"b\" 2}\n     ^\n");
}

TEST_F(ConfigTest, DoubledKeysAreErrors) {
  EXPECT_FALSE(parse("{\"a\": {\"b\": 1, \"c\": {\"b\": 1}, \"b\": 2}}"));
  EXPECT_EQ(messages, "config.json:1:31: error: the key `b` is there twice\n"
                      "{\"a\": {\"b\": 1, \"c\": {\"b\": 1}, \"b\": 2}}\n                              ^~~\n"
                      "config.json:1:8: note: the first one is here\n"
                      "{\"a\": {\"b\": 1, \"c\": {\"b\": 1}, \"b\": 2}}\n       ^~~\n");
}

TEST_F(ConfigTest, OnlyObjectsAreConfigurations) {
  EXPECT_FALSE(parse("[1]"));
  EXPECT_EQ(messages, "config.json:1:1: error: a configuration is an object `{ … }`\n[1]\n^\n");
}

TEST_F(ConfigTest, NestingIsBounded) {
  EXPECT_FALSE(parse("{\"a\": " + std::string(100000, '[') + std::string(100000, ']') + "}"));
  EXPECT_TRUE(StringRef(messages).contains("error: nested too deeply, more than 100 levels"));
  EXPECT_TRUE(parse("{\"a\": " + std::string(99, '[') + std::string(99, ']') + "}"));
}

TEST_F(ConfigTest, AFileOrItsFolder) {
  std::string folder = testing::TempDir();
  std::ofstream(folder + "/config.json") << "{\"n\": 3}";
  for (const std::string &path : {folder, folder + "/config.json"}) {
    auto config = Config::load(path, diags);
    ASSERT_TRUE(config) << path;
    EXPECT_EQ(config->lookup({"n"}).json->getAsInteger(), 3);
  }
  EXPECT_FALSE(Config::load(folder + "/nothing.json", diags));
  EXPECT_EQ(messages, "attnc: error: cannot read `" + folder + "/nothing.json`: no such file or directory\n");
}
