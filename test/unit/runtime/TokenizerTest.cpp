// Tokenizers: equal to the reference on its texts and on every code point; each kind of bad description refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/Tokenizer.h"
#include "FakeModel.h"
#include "runtime/Error.h"
#include "runtime/tokenizer/ByteLevel.h"
#include <fstream>
#include <sstream>

namespace attn {
using namespace test;
namespace {

std::string dataPath(const std::string &name) {
  const char *source = getenv("ATTN_SOURCE");
  return (source ? std::string(source) : std::string(ATTN_SOURCE)) + "/test/data/tokenizers/" + name;
}

std::string readFile(const std::string &path) {
  std::stringstream out;
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  out << in.rdbuf();
  return out.str();
}

struct FreeTokenizer {
  void operator()(attn_tokenizer *tokenizer) const { attn_tokenizer_free(tokenizer); }
};
using TokenizerPointer = std::unique_ptr<attn_tokenizer, FreeTokenizer>;

std::vector<int32_t> encode(const attn_tokenizer *tokenizer, const std::string &text, uint32_t flags = ATTN_SPECIAL) {
  int64_t bytes = static_cast<int64_t>(text.size()),
          n = attn_tokenize(tokenizer, text.data(), bytes, flags, nullptr, 0);
  EXPECT_GE(n, 0) << attn_last_error();
  std::vector<int32_t> ids(static_cast<size_t>(n));
  EXPECT_EQ(attn_tokenize(tokenizer, text.data(), bytes, flags, ids.data(), n), n);
  return ids;
}

std::string decode(const attn_tokenizer *tokenizer, const std::vector<int32_t> &ids, uint32_t flags) {
  int64_t n = static_cast<int64_t>(ids.size()), bytes = attn_detokenize(tokenizer, ids.data(), n, flags, nullptr, 0);
  EXPECT_GE(bytes, 0) << attn_last_error();
  std::string text(static_cast<size_t>(bytes), 0);
  EXPECT_EQ(attn_detokenize(tokenizer, ids.data(), n, flags, text.data(), bytes), bytes);
  return text;
}

class Reference : public testing::TestWithParam<const char *> {};

TEST_P(Reference, IdsAndBothDecodingsAreEqual) {
  TokenizerPointer tokenizer(attn_tokenizer_create(dataPath(GetParam() + std::string("/tokenizer.json")).c_str()));
  ASSERT_TRUE(tokenizer) << attn_last_error();
  json_error_t error;
  json_t *cases =
      json_loads(readFile(dataPath(GetParam() + std::string("/cases.json"))).c_str(), JSON_ALLOW_NUL, &error);
  ASSERT_GE(json_array_size(cases), 40u);
  for (size_t i = 0; i < json_array_size(cases); ++i) {
    json_t *entry = json_array_get(cases, i), *idList = json_object_get(entry, "ids"),
           *tokens = json_object_get(entry, "tokens");
    auto text = [&](const char *key) { return std::string(textOf(json_object_get(entry, key))); };
    std::vector<int32_t> ids;
    for (size_t k = 0; k < json_array_size(idList); ++k) {
      ids.push_back(static_cast<int32_t>(json_integer_value(json_array_get(idList, k))));
      // An added token is listed with the white space that it swallowed.
      std::string token = json_string_value(json_array_get(tokens, k));
      EXPECT_EQ(attn_token_text(tokenizer.get(), ids.back()), token.substr(token.find_first_not_of(' ')));
    }
    EXPECT_EQ(encode(tokenizer.get(), text("text")), ids) << text("text");
    EXPECT_EQ(decode(tokenizer.get(), ids, 0), text("decoded"));
    EXPECT_EQ(decode(tokenizer.get(), ids, ATTN_SPECIAL), text("decoded_all"));
  }
  json_decref(cases);
}

INSTANTIATE_TEST_SUITE_P(Families, Reference,
                         testing::Values("bert_uncased", "bert_cased", "gpt2", "llama3", "qwen2", "roberta"));

uint32_t crc32(const std::string &bytes) {
  uint32_t crc = ~0u;
  for (char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

// A small tokenizer.json with some part of it replaced.
std::string description(const std::string &from = "", const std::string &to = "") {
  std::string json = R"({"version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [{"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
                     {"id": 4, "content": "zq", "single_word": true, "lstrip": false, "rstrip": false, "normalized": false, "special": false},
                     {"id": 5, "content": "<X>", "single_word": false, "lstrip": true, "rstrip": true, "normalized": true, "special": false},
                     {"id": 6, "content": "<X>>", "normalized": true}],
    "normalizer": {"type": "BertNormalizer", "clean_text": false, "handle_chinese_chars": false, "strip_accents": false, "lowercase": false},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "[PAD]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[PAD]", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
      "special_tokens": {"[PAD]": {"id": "[PAD]", "ids": [0], "tokens": ["[PAD]"]}}},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 5,
              "vocab": {"[PAD]": 0, "[UNK]": 1, "ab": 2, "##c": 3, "do": 7, ".": 8, "not": 9, "é": 10}}})";
  return from.empty() ? json : replaced(json, from, to);
}

// The answer for one code point to one of the questions of make_characters.py.
class Questions {
public:
  Questions() {
    for (const char *step : {"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}) {
      std::string json = description(std::string("\"") + step + "\": false", std::string("\"") + step + "\": true");
      documents.emplace_back(new JsonDocument);
      EXPECT_TRUE(documents.back()->parse(json, "test"));
      normalizers.emplace_back(readNormalizer(*documents.back(), attn::find(documents.back()->root(), "normalizer")));
    }
    documents.emplace_back(new JsonDocument);
    EXPECT_TRUE(documents.back()->parse(R"({"type": "NFC"})", "test"));
    normalizers.emplace_back(readNormalizer(*documents.back(), documents.back()->root()));
    preTokenizer.reset(readPreTokenizer(*documents[0], attn::find(documents[0]->root(), "pre_tokenizer")));
    EXPECT_TRUE(edge.parse(description(), "test")) << lastError();
  }

  std::string answer(const std::string &question, int32_t code) {
    if (question == "edge") {
      Text text;
      appendUtf8(code, text);
      Array<Token> tokens;
      edge.encode(text.append("zq").view(), nullptr, false, tokens);
      return !tokens.empty() && tokens.back().id == 4 ? "1\n" : "0\n";
    }
    Words words;
    Letters &letters = words.letters;
    for (int32_t letter : {int32_t('a'), code, int32_t('b')})
      letters.push({letter, 0, 0});
    if (question == "words") {
      words.cuts.push({0, letters.size()});
      EXPECT_TRUE(preTokenizer->apply(words));
      return std::to_string(words.cuts.size()) + "\n";
    }
    size_t which = question == "clean"     ? 0
                   : question == "chinese" ? 1
                   : question == "strip"   ? 2
                   : question == "lower"   ? 3
                                           : 4;
    normalizers[which]->apply(letters);
    Text out;
    for (const Letter &letter : letters)
      appendUtf8(letter.code, out);
    return std::string(out.view()) + "\n";
  }

private:
  std::vector<std::unique_ptr<JsonDocument>> documents;
  std::vector<std::unique_ptr<Normalizer>> normalizers;
  std::unique_ptr<PreTokenizer> preTokenizer;
  attn_tokenizer edge;
};

TEST(Characters, AreTreatedAsTheReferenceTreatsThem) {
  Questions questions;
  std::ifstream file(dataPath("characters.txt"));
  std::string question;
  int32_t first;
  uint32_t checksum;
  int blocks = 0;
  while (file >> question >> std::hex >> first >> checksum) {
    std::string answers;
    for (int32_t code = first; code < first + 4096; ++code)
      if (code < 0xd800 || code >= 0xe000)
        answers += questions.answer(question, code);
    EXPECT_EQ(crc32(answers), checksum) << question << " of the block at " << std::hex << first;
    ++blocks;
  }
  EXPECT_EQ(blocks, 7 * 272);
}

class TokenizerTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(tokenizer.parse(description(), "t.json")) << lastError(); }
  std::vector<int32_t> ids(const std::string &text) { return encode(&tokenizer, text, 0); }
  attn_tokenizer tokenizer;
};

using Ids = std::vector<int32_t>;

TEST_F(TokenizerTest, WordPieceTakesTheLongest) {
  EXPECT_EQ(ids("ab abc abcc abx"), (Ids{2, 2, 3, 2, 3, 3, 1}));
  EXPECT_EQ(ids("abccc abcccc"), (Ids{2, 3, 3, 3, 1})) << "no more than 5 letters";
  EXPECT_EQ(ids("é"), (Ids{10}));
  EXPECT_EQ(ids(""), Ids());
}

TEST_F(TokenizerTest, AddedTokensAreFoundFirst) {
  EXPECT_EQ(ids("zq ab"), (Ids{4, 2}));
  EXPECT_EQ(ids("abzq zqab"), (Ids{1, 1})) << "only as a single word";
  EXPECT_EQ(ids("ab  <X>  ab"), (Ids{2, 5, 2}));
  EXPECT_EQ(ids("ab<X>>ab"), (Ids{2, 6, 2})) << "the longest wins";
  EXPECT_EQ(ids("[PAD]ab"), (Ids{0, 2}));
}

TEST_F(TokenizerTest, SpansAreBytesOfTheText) {
  std::string text = "é abc  <X> ab";
  int32_t found[8], types[8];
  int64_t spans[16];
  int64_t n = attn_tokenize_pair(&tokenizer, text.data(), static_cast<int64_t>(text.size()), "ab", 2, ATTN_SPECIAL,
                                 found, types, spans, 8);
  ASSERT_EQ(n, 7);
  EXPECT_EQ(Ids(found, found + 7), (Ids{10, 2, 3, 5, 2, 0, 2}));
  EXPECT_EQ(Ids(types, types + 7), (Ids{0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(std::vector<int64_t>(spans, spans + 14),
            (std::vector<int64_t>{0, 2, 3, 5, 5, 6, 6, 12, 12, 14, 0, 0, 0, 2}));
}

TEST_F(TokenizerTest, WritesNoMoreThanTheCapacity) {
  int32_t found[2] = {-1, -1};
  EXPECT_EQ(attn_tokenize(&tokenizer, "abc", 3, 0, found, 1), 2);
  EXPECT_EQ(found[0], 2);
  EXPECT_EQ(found[1], -1);
  char text[2] = {'-', '-'};
  int32_t back[] = {2, 3};
  EXPECT_EQ(attn_detokenize(&tokenizer, back, 2, 0, text, 1), 3);
  EXPECT_EQ(text[0], 'a');
  EXPECT_EQ(text[1], '-');
}

TEST_F(TokenizerTest, DecodesAndCleansUp) {
  EXPECT_EQ(decode(&tokenizer, {2, 3, 8, 0, 2}, 0), "abc. ab");
  EXPECT_EQ(decode(&tokenizer, {2, 3, 8, 0, 2}, ATTN_SPECIAL), "abc. [PAD] ab");
  EXPECT_EQ(decode(&tokenizer, {}, 0), "");
}

TEST_F(TokenizerTest, VocabularyAnswers) {
  EXPECT_EQ(attn_token_count(&tokenizer), 11);
  EXPECT_STREQ(attn_token_text(&tokenizer, 3), "##c");
  EXPECT_EQ(attn_token_text(&tokenizer, 11), nullptr);
  EXPECT_EQ(attn_token_text(&tokenizer, -1), nullptr);
  EXPECT_EQ(attn_token_id(&tokenizer, "<X>"), 5);
  EXPECT_EQ(attn_token_id(&tokenizer, "nobody"), -1);
}

TEST_F(TokenizerTest, BadArgumentsAreRefused) {
  int32_t unknown[] = {99};
  EXPECT_EQ(attn_tokenize(&tokenizer, "ab\xff", 3, 0, nullptr, 0), -1);
  EXPECT_STREQ(attn_last_error(), "the text is not UTF-8 at byte 2");
  EXPECT_EQ(attn_tokenize(&tokenizer, "ab", -1, 0, nullptr, 0), -1);
  EXPECT_STREQ(attn_last_error(), "a text cannot have -1 bytes");
  EXPECT_EQ(attn_tokenize(&tokenizer, nullptr, 1, 0, nullptr, 0), -1);
  EXPECT_STREQ(attn_last_error(), "the text is null");
  EXPECT_EQ(attn_tokenize(&tokenizer, "ab", 2, 8, nullptr, 0), -1);
  EXPECT_STREQ(attn_last_error(), "the flags 8 of a tokenizer are not known");
  EXPECT_EQ(attn_detokenize(&tokenizer, unknown, 1, 0, nullptr, 0), -1);
  EXPECT_STREQ(attn_last_error(), "no token has the id 99");
}

std::string failureOf(const std::string &json) {
  attn_tokenizer tokenizer;
  return tokenizer.parse(json, "t.json") ? "" : lastError();
}
std::string failureWith(const std::string &from, const std::string &to) {
  return failureOf(description(from, to));
}

TEST(TokenizerFile, NothingUnknownIsPassedOver) {
  EXPECT_EQ(failureOf(description()), "");
  EXPECT_EQ(failureWith("\"version\"", "\"vision\""),
            "`t.json`: the tokenizer has `vision`, which this library does not know");
  EXPECT_EQ(failureWith("\"clean_text\"", "\"clean\""),
            "`t.json`: the normalizer has `clean`, which this library does not know");
  EXPECT_EQ(failureWith("\"BertNormalizer\"", "\"NFKC\""),
            "`t.json`: the normalizer `NFKC` is not one that this library knows");
  EXPECT_EQ(failureWith("\"BertPreTokenizer\"", "\"Digits\""),
            "`t.json`: the pre-tokenizer `Digits` is not one that this library knows");
  EXPECT_EQ(failureWith("{\"type\": \"BertPreTokenizer\"}", "7"), "`t.json`: the pre-tokenizer should be an object");
  EXPECT_EQ(failureWith("\"TemplateProcessing\"", "\"Jinja\""),
            "`t.json`: the post-processor `Jinja` is not one that this library knows");
  EXPECT_EQ(failureWith("\"decoder\": {\"type\": \"WordPiece\"", "\"decoder\": {\"type\": \"CTC\""),
            "`t.json`: the decoder `CTC` is not one that this library knows");
  EXPECT_EQ(failureWith("\"model\": {\"type\": \"WordPiece\"", "\"model\": {\"type\": \"Magic\""),
            "`t.json`: the model `Magic` is not one that this library knows");
  EXPECT_EQ(failureWith("\"lowercase\": false", "\"lowercase\": 0"), "`t.json`: `lowercase` should be true or false");
  EXPECT_EQ(failureOf("{"), "`t.json`: not valid JSON at line 1, column 1: string or '}' expected near end of file");
}

TEST(TokenizerFile, VocabulariesThatContradictThemselvesAreRefused) {
  EXPECT_EQ(failureWith("\"ab\": 2", "\"ab\": \"2\""), "`t.json`: the id of token `ab` should be a whole number");
  EXPECT_EQ(failureWith("\"ab\": 2", "\"ab\": -2"), "`t.json`: token `ab` has the impossible id -2");
  EXPECT_EQ(failureWith("\"ab\": 2", "\"ab\": 2000000000"), "`t.json`: token `ab` has the impossible id 2000000000");
  EXPECT_EQ(failureWith("\"ab\": 2", "\"ab\": 3"), "`t.json`: tokens `ab` and `##c` have one id, 3");
  EXPECT_EQ(failureWith("{\"id\": 0, \"content\": \"[PAD]\"", "{\"id\": 77, \"content\": \"[PAD]\""),
            "`t.json`: token `[PAD]` has two ids, 0 and 77");
  EXPECT_EQ(failureWith("\"[UNK]\": 1", "\"UNK\": 1"),
            "`t.json`: the vocabulary has no token `[UNK]`, which stands for unknown words");
  EXPECT_EQ(failureWith("\"added_tokens\": [", "\"added_tokens\": [7, "),
            "`t.json`: `added_tokens` should be a list of objects");
}

TEST(TokenizerFile, TemplatesThatMeanNothingAreRefused) {
  EXPECT_EQ(failureWith("{\"Sequence\": {\"id\": \"A\"", "{\"Sequins\": {\"id\": \"A\""),
            "`t.json`: a part of the template is neither `Sequence` nor `SpecialToken`");
  EXPECT_EQ(failureWith("{\"Sequence\": {\"id\": \"A\"", "{\"Sequence\": {\"id\": \"C\""),
            "`t.json`: a part of the template is the unknown sequence `C`");
  EXPECT_EQ(failureWith("{\"SpecialToken\": {\"id\": \"[PAD]\"", "{\"SpecialToken\": {\"id\": \"[BAD]\""),
            "`t.json`: the template has `[BAD]`, which is not among its special tokens");
  EXPECT_EQ(failureWith("\"ids\": [0]", "\"ids\": [55]"), "`t.json`: the template has the id 55, which no token has");
}

TEST(TokenizerFile, BertProcessingIsATemplate) {
  std::string json = description();
  size_t begin = json.find("{\"type\": \"TemplateProcessing\""), end = json.find("\"decoder\"");
  json.replace(begin, end - begin, R"({"type": "BertProcessing", "sep": ["[SEP]", 8], "cls": ["[CLS]", 0]}, )");
  attn_tokenizer tokenizer;
  ASSERT_TRUE(tokenizer.parse(json, "t.json")) << lastError();
  EXPECT_EQ(encode(&tokenizer, "ab"), (Ids{0, 2, 8}));
  int32_t found[8], types[8];
  ASSERT_EQ(attn_tokenize_pair(&tokenizer, "ab", 2, "do", 2, ATTN_SPECIAL, found, types, nullptr, 8), 5);
  EXPECT_EQ(Ids(found, found + 5), (Ids{0, 2, 8, 7, 8}));
  EXPECT_EQ(Ids(types, types + 5), (Ids{0, 0, 0, 1, 1}));
  EXPECT_EQ(failureOf(replaced(json, "[\"[SEP]\", 8]", "[\"[SEP]\"]")), "`t.json`: `sep` should be a token and its id");
}

TEST(TokenizerFile, MissingStepsDoNothing) {
  attn_tokenizer tokenizer;
  ASSERT_TRUE(
      tokenizer.parse(R"({"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "a b": 1, "##É": 2}}})", "t.json"))
      << lastError();
  EXPECT_EQ(encode(&tokenizer, "a bÉ"), (Ids{1, 2}));
  EXPECT_EQ(decode(&tokenizer, {1, 2}, 0), "a b ##É");
}

TEST(ModelTokenizer, IsReadFromTheFolder) {
  FakeFolder folder;
  ModelPointer model = folder.create();
  ASSERT_TRUE(model);
  EXPECT_EQ(attn_model_tokenizer(model.get()), nullptr);
  EXPECT_EQ(folder.withoutPath(attn_last_error()), "`DIR/tokenizer.json`: cannot be opened: No such file or directory");
  folder.write("tokenizer.json", description());
  const attn_tokenizer *tokenizer = attn_model_tokenizer(model.get());
  ASSERT_NE(tokenizer, nullptr) << attn_last_error();
  EXPECT_EQ(attn_model_tokenizer(model.get()), tokenizer);
  EXPECT_EQ(encode(tokenizer, "ab"), (Ids{0, 2}));
}

TEST(ModelTokenizer, NeedsANameAndAFolder) {
  FakeFolder folder;
  attn_program program = attn_this_program;
  std::string metadata = replaced(fakeMetadata, R"("tokenizer": "tokenizer.json")", R"("tokenizer": null)");
  program.metadata = metadata.c_str();
  ModelPointer nameless(createModel(program, folder.folder.c_str(), 0));
  ASSERT_TRUE(nameless);
  EXPECT_FAILS(attn_model_tokenizer(nameless.get()), "model `fake` names no tokenizer");
  std::string bare = R"({"model": "bare", "tokenizer": "t.json", "weights": [], "functions": []})";
  program.metadata = bare.c_str();
  program.functions = 0;
  ModelPointer homeless(createModel(program, nullptr, 0));
  ASSERT_TRUE(homeless) << attn_last_error();
  EXPECT_FAILS(attn_model_tokenizer(homeless.get()),
               "model `bare` was created without a folder, in which its tokenizer could be");
}

// A small byte-level description with some part of it replaced.
std::string byteLevel(const std::string &from = "", const std::string &to = "") {
  std::string json = R"({
    "added_tokens": [{"id": 0, "content": "<s>", "special": true}, {"id": 1, "content": "<m>", "lstrip": true, "special": true}],
    "normalizer": {"type": "NFC"},
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": " ?\\p{L}+|\\s+"}, "behavior": "Isolated", "invert": false},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]},
    "post_processor": {"type": "ByteLevel", "trim_offsets": false},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "dropout": null, "ignore_merges": false, "unk_token": null,
              "vocab": {"a": 2, "b": 3, "Ġ": 4, "ab": 5, "aa": 6, "Ġa": 7, "Ã": 8, "©": 9, "aab": 10, "1": 11, "Ġab": 12, "bb": 13},
              "merges": [["a", "a"], "a b", ["Ġ", "a"], ["Ġa", "b"], ["a", "ab"]]}})";
  return from.empty() ? json : replaced(json, from, to);
}

Ids idsOf(const std::string &json, const std::string &text, uint32_t flags = 0) {
  attn_tokenizer tokenizer;
  EXPECT_TRUE(tokenizer.parse(json, "t.json")) << lastError();
  return encode(&tokenizer, text, flags);
}

TEST(BytePairs, MergeInTheOrderOfTheMerges) {
  EXPECT_EQ(idsOf(byteLevel(), "ab"), (Ids{5}));
  EXPECT_EQ(idsOf(byteLevel(), "aab"), (Ids{6, 3})) << "`aa` comes before `ab`";
  EXPECT_EQ(idsOf(byteLevel(), "aaa"), (Ids{6, 2})) << "the leftmost first";
  EXPECT_EQ(idsOf(byteLevel(), "ab ab"), (Ids{5, 4, 5})) << "`ab` comes before `Ġa`";
  EXPECT_EQ(idsOf(byteLevel(), "1ab1"), (Ids{11, 5, 11}));
  EXPECT_EQ(idsOf(byteLevel(), "e\u0301"), (Ids{8, 9})) << "composed, then bytes";
  EXPECT_EQ(idsOf(byteLevel(), ""), Ids());
}

TEST(BytePairs, WholeWordsCanGoFirst) {
  std::string json = byteLevel("\"ignore_merges\": false", "\"ignore_merges\": true");
  EXPECT_EQ(idsOf(json, "aab ab bb"), (Ids{10, 12, 4, 3, 3}));
  EXPECT_EQ(idsOf(json, "aabaab"), (Ids{6, 3, 6, 3}));
}

TEST(BytePairs, WhatTheVocabularyLacksIsLostOrUnknown) {
  EXPECT_EQ(idsOf(byteLevel(), "xabx"), (Ids{5}));
  std::string known = byteLevel("\"unk_token\": null", "\"unk_token\": \"1\"");
  EXPECT_EQ(idsOf(known, "xyabx"), (Ids{11, 11, 5, 11}));
  EXPECT_EQ(idsOf(replaced(known, "\"dropout\": null", "\"fuse_unk\": true"), "xyabx"), (Ids{11, 5, 11}));
}

TEST(BytePairs, MarkTheLettersOfAWord) {
  std::string json = R"({"model": {"type": "BPE", "continuing_subword_prefix": "#", "end_of_word_suffix": "/",
    "vocab": {"a": 0, "#b": 1, "#c/": 2, "ab": 3, "abc/": 4, "a/": 5}, "merges": ["a #b", "ab #c/"]}})";
  EXPECT_EQ(idsOf(json, "abc"), (Ids{4}));
  EXPECT_EQ(idsOf(json, "abb"), (Ids{3})) << "no `#b/`";
  EXPECT_EQ(idsOf(json, "a"), (Ids{5}));
}

TEST(BytePairs, TakeALongWordInGoodTime) {
  Ids ids = idsOf(byteLevel(), std::string(1 << 20, 'a'));
  EXPECT_EQ(ids, Ids(1 << 19, 6)); // comparing every pair with every other would take hours
}

TEST(BytePairs, BadDescriptionsAreRefused) {
  EXPECT_EQ(failureOf(byteLevel()), "");
  EXPECT_EQ(failureOf(byteLevel("\"dropout\": null", "\"dropout\": 0.1")),
            "`t.json`: `dropout` makes the ids random, which this library does not do");
  EXPECT_EQ(failureOf(byteLevel("\"dropout\": null", "\"byte_fallback\": true")),
            "`t.json`: `byte_fallback` is not one of the things that this library knows");
  EXPECT_EQ(failureOf(byteLevel("\"dropout\"", "\"drop\"")),
            "`t.json`: the BPE model has `drop`, which this library does not know");
  EXPECT_EQ(failureOf(byteLevel("\"unk_token\": null", "\"unk_token\": \"<s>\"")),
            "`t.json`: the vocabulary has no token `<s>`, which stands for unknown words");
  EXPECT_EQ(failureOf(byteLevel("\"a b\"", "\"b a\"")),
            "`t.json`: the merge of `b` and `a` needs the token `ba`, which the vocabulary does not have");
  for (const char *entry : {"\"ab\"", "\"a b b\"", "7", "[\"a\"]", "[\"a\", 7]"})
    EXPECT_EQ(failureOf(byteLevel("\"a b\"", entry)), "`t.json`: `merges` should be a list of pairs");
}

TEST(ByteLevel, EveryByteHasALetterOfItsOwn) {
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_EQ(byteOfLetter(letterOfByte(static_cast<unsigned char>(byte))), byte);
  EXPECT_EQ(letterOfByte(' '), 0x120);
  EXPECT_EQ(letterOfByte('\n'), 0x10a);
  EXPECT_EQ(letterOfByte(0xad), 0x143);
  for (int32_t letter : {0, 0x20, 0x7f, 0xa0, 0xad, 0x144, 0x10ffff})
    EXPECT_EQ(byteOfLetter(letter), -1);
}

TEST(ByteLevel, DecodingRepairsWhatIsNoCharacter) {
  attn_tokenizer tokenizer;
  ASSERT_TRUE(tokenizer.parse(byteLevel(), "t.json")) << lastError();
  EXPECT_EQ(decode(&tokenizer, {12, 8, 9, 4, 0}, 0), " ab\u00e9 ");
  EXPECT_EQ(decode(&tokenizer, {12, 8, 9, 4, 0}, ATTN_SPECIAL), " ab\u00e9 <s>");
  EXPECT_EQ(decode(&tokenizer, {8, 2, 9}, 0), "\ufffda\ufffd");
  auto repaired = [](const std::string &bytes) {
    Text out;
    appendRepaired(bytes, out);
    return std::string(out.view());
  };
  EXPECT_EQ(repaired("a\xf0\x9f\x98\x80z"), "a\xf0\x9f\x98\x80z");
  EXPECT_EQ(repaired("\xf0\x9f\x98"), "\ufffd") << "one for a beginning";
  EXPECT_EQ(repaired("\xf0\x9f\x98z\xe0\xa0"), "\ufffdz\ufffd");
  EXPECT_EQ(repaired("\xc0\x80"), "\ufffd\ufffd") << "not the shortest form";
  EXPECT_EQ(repaired("\xe0\x80\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(repaired("\xed\xa0\x80"), "\ufffd\ufffd\ufffd") << "a surrogate";
  EXPECT_EQ(repaired("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd") << "behind the last code point";
  EXPECT_EQ(repaired("\xff\xf5"), "\ufffd\ufffd");
}

using Spans = std::vector<int64_t>;
Spans spansOf(const std::string &json, const std::string &text) {
  attn_tokenizer tokenizer;
  EXPECT_TRUE(tokenizer.parse(json, "t.json")) << lastError();
  int64_t bytes = static_cast<int64_t>(text.size());
  Spans spans(100);
  int64_t n = attn_tokenize_pair(&tokenizer, text.data(), bytes, nullptr, 0, 0, nullptr, nullptr, spans.data(), 50);
  spans.resize(static_cast<size_t>(2 * n));
  return spans;
}

TEST(ByteLevel, ASpaceCanBePutInFront) {
  std::string json = byteLevel("\"add_prefix_space\": false", "\"add_prefix_space\": true");
  std::string once = replaced(
      json, R"({"type": "Split", "pattern": {"Regex": " ?\\p{L}+|\\s+"}, "behavior": "Isolated", "invert": false},)",
      "");
  EXPECT_EQ(idsOf(once, "bb"), (Ids{4, 3, 3}));
  EXPECT_EQ(idsOf(once, " bb"), (Ids{4, 3, 3})) << "there is one";
  EXPECT_EQ(idsOf(once, "b<s>b"), (Ids{4, 3, 0, 4, 3})) << "behind an added token too";
  EXPECT_EQ(idsOf(once, ""), Ids());
  EXPECT_EQ(idsOf(json, "b1"), (Ids{4, 3, 4, 11})) << "before each word that there is";
  EXPECT_EQ(spansOf(once, "bb"), (Spans{0, 0, 0, 1, 1, 2}));
}

TEST(ByteLevel, SpansCanLeaveSpacesOut) {
  std::string trims = byteLevel("\"trim_offsets\": false", "\"trim_offsets\": true, \"add_prefix_space\": false");
  EXPECT_EQ(spansOf(byteLevel(), "aa ab <m>"), (Spans{0, 2, 2, 3, 3, 5, 5, 9}));
  EXPECT_EQ(spansOf(trims, "aa ab <m>"), (Spans{0, 2, 3, 3, 3, 5, 6, 9}));
  EXPECT_EQ(spansOf(trims, "\u00e9"), (Spans{0, 2, 0, 2})) << "both bytes are the letter's";
  std::string whole = replaced(trims, "\"ignore_merges\": false", "\"ignore_merges\": true");
  EXPECT_EQ(spansOf(whole, " ab ab"), (Spans{1, 3, 4, 6}));
  std::string first = replaced(whole, "\"trim_offsets\": true, \"add_prefix_space\": false", "\"trim_offsets\": true");
  EXPECT_EQ(spansOf(first, " ab ab"), (Spans{0, 3, 4, 6})) << "as if the first space had been put there";
}

TEST(ByteLevel, RobertaHasTwoEndsBetweenTexts) {
  std::string json = byteLevel(R"({"type": "ByteLevel", "trim_offsets": false})",
                               R"({"type": "RobertaProcessing", "sep": ["</s>", 3], "cls": ["<s>", 0]})");
  attn_tokenizer tokenizer;
  ASSERT_TRUE(tokenizer.parse(json, "t.json")) << lastError();
  int32_t found[9], types[9];
  ASSERT_EQ(attn_tokenize_pair(&tokenizer, "ab", 2, "aa", 2, ATTN_SPECIAL, found, types, nullptr, 9), 6);
  EXPECT_EQ(Ids(found, found + 6), (Ids{0, 5, 3, 3, 6, 3}));
  EXPECT_EQ(Ids(types, types + 6), Ids(6, 0));
  EXPECT_EQ(encode(&tokenizer, "ab"), (Ids{0, 5, 3}));
}

TEST(ByteLevel, PostProcessorsCanFollowEachOther) {
  std::string one = R"({"type": "BertProcessing", "sep": ["</s>", 3], "cls": ["<s>", 0]})";
  auto with = [&](const std::string &list) {
    return byteLevel(R"({"type": "ByteLevel", "trim_offsets": false})",
                     R"({"type": "Sequence", "processors": [)" + list + "]}");
  };
  EXPECT_EQ(idsOf(with(R"({"type": "ByteLevel"}, )" + one), "ab", ATTN_SPECIAL), (Ids{0, 5, 3}));
  EXPECT_EQ(failureOf(with(one + ", " + one)), "`t.json`: the post-processor has more than one template");
}

// The words that a Split makes of a text, with | between them.
std::string splitWith(const std::string &pattern, const std::string &text, const std::string &behavior = "Isolated",
                      const char *invert = "false") {
  JsonDocument file;
  EXPECT_TRUE(file.parse(R"({"p": {"type": "Split", "pattern": )" + pattern + R"(, "behavior": ")" + behavior +
                             R"(", "invert": )" + invert + "}}",
                         "t.json"))
      << lastError();
  std::unique_ptr<PreTokenizer> split(readPreTokenizer(file, attn::find(file.root(), "p")));
  if (!split)
    return lastError();
  Words words;
  EXPECT_TRUE(decodeUtf8(text, words.letters));
  words.cuts.push({0, words.letters.size()});
  if (!split->apply(words))
    return lastError();
  Text out;
  for (const Cut &cut : words.cuts) {
    for (size_t i = cut.begin; i < cut.end; ++i)
      appendUtf8(words.letters[i].code, out);
    out.append('|');
  }
  return std::string(out.view());
}
std::string regex(const std::string &pattern) {
  std::string json = R"({"Regex": ")";
  for (char letter : pattern)
    json += letter == '\\' ? std::string("\\\\") : std::string(1, letter);
  return json + "\"}";
}

TEST(Split, DoesFiveThingsWithAMatch) {
  std::string spaces = regex("[ ,]");
  EXPECT_EQ(splitWith(spaces, " a,, b", "Isolated"), " |a|,|,| |b|");
  EXPECT_EQ(splitWith(spaces, " a,, b", "Removed"), "a|b|");
  EXPECT_EQ(splitWith(spaces, " a,, b", "Contiguous"), " |a|,, |b|");
  EXPECT_EQ(splitWith(spaces, " a,, b", "MergedWithPrevious"), " |a,|,| |b|");
  EXPECT_EQ(splitWith(spaces, " a,, b", "MergedWithNext"), " a|,|,| b|");
  EXPECT_EQ(splitWith(spaces, " a,, b", "Removed", "true"), " |,|,| |");
  EXPECT_EQ(splitWith(R"({"String": "a."})", "xa.a+", "Isolated"), "x|a.|a+|");
  EXPECT_EQ(splitWith(spaces, "a", "Shuffled"),
            "`t.json`: the behavior of a pattern `Shuffled` is not one that this library knows");
  EXPECT_EQ(splitWith(R"({"Glob": "a"})", "a"), "`t.json`: the pattern has `Glob`, which this library does not know");
}

TEST(Split, KnowsTheExpressionsThatMeanTheSame) {
  EXPECT_EQ(splitWith(regex("(?i:'s|'t)"), "it'S"), "it|'S|");
  EXPECT_EQ(splitWith(regex("\\p{N}{1,3}"), "12345"), "123|45|");
  EXPECT_EQ(splitWith(regex("\\s+(?!\\S)|\\s+"), "a   b"), "a|  | |b|");
  EXPECT_EQ(splitWith(regex("\\s"), "a\u180eb\u3000c"), "a\u180eb|\u3000|c|") << "U+180E is no white space";
  EXPECT_EQ(splitWith(regex("\\p{Han}+"), "a日本ー"), "a|日本|ー|") << "the script, not its extensions";
  EXPECT_EQ(splitWith(regex("\\p{^L}+"), "a12b"), "a|12|b|");
  EXPECT_EQ(splitWith(regex("(?<=a)b++|[\\]\\-]"), "abb-b]"), "a|bb|-|b|]|");
}

TEST(Split, RefusesExpressionsThatMayMeanSomethingElse) {
  for (const char *part : {"^", "$", "{,", "{2}+", "{2,3}?", "\\w", "\\b", "\\1", "(?m", "(?P", "(*F", "\\pL"})
    EXPECT_EQ(splitWith(regex(std::string("a") + part), "a"),
              "`t.json`: the regular expression has `" + std::string(part) + "`, which this library does not know");
  EXPECT_EQ(splitWith(regex("[a[b]]"), "a"),
            "`t.json`: the regular expression has `[`, which this library does not know");
  EXPECT_EQ(splitWith(regex("[a&&b]"), "a"),
            "`t.json`: the regular expression has `&&`, which this library does not know");
  EXPECT_EQ(splitWith(regex("[^]a]"), "a"),
            "`t.json`: the regular expression has `[^]`, which this library does not know");
  EXPECT_EQ(splitWith(regex("(a"), "a"), "`t.json`: the regular expression `(a` is wrong: missing closing parenthesis");
  EXPECT_EQ(splitWith(regex("a*"), "a"), "`t.json`: the regular expression `a*` could match no letters at all");
  EXPECT_EQ(splitWith(regex("(?:a+)+[!?]"), std::string(60, 'a')),
            "the regular expression of the tokenizer gave up on the text: match limit exceeded");
}

TEST(Normalizers, ComposeWhatBelongsTogether) {
  auto normalized = [](const std::string &text, const char *type = "NFC") {
    JsonDocument file;
    EXPECT_TRUE(file.parse(std::string(R"({"n": {"type": ")") + type + "\"}}", "t.json"));
    std::unique_ptr<Normalizer> normalizer(readNormalizer(file, attn::find(file.root(), "n")));
    Letters letters;
    EXPECT_TRUE(decodeUtf8(text, letters));
    normalizer->apply(letters);
    Text out;
    for (const Letter &letter : letters)
      appendUtf8(letter.code, out);
    return std::string(out.view());
  };
  EXPECT_EQ(normalized("q\u0307\u0323"), "q\u0323\u0307") << "marks in order";
  EXPECT_EQ(normalized("o\u0307\u0323\u0301"), "\u1ecd\u0307\u0301") << "the first mark, in order, that fits";
  EXPECT_EQ(normalized("a\u0305\u0301"), "a\u0305\u0301") << "a mark of the same class is between";
  EXPECT_EQ(normalized("\u1112\u1161\u11ab"), "\ud55c");
  EXPECT_EQ(normalized("\u0915\u093c \u212b"), "\u0915\u093c \u00c5") << "never composed; one letter for another";
  EXPECT_EQ(normalized("\ud55c\u1ecd\u0307", "NFD"), "\u1112\u1161\u11abo\u0323\u0307");
  std::string marks;
  for (int i = 0; i < 1 << 18; ++i)
    marks += "\u0301\u0323";
  EXPECT_EQ(normalized(marks).size(), marks.size()) << "which takes hours if marks are sorted one by one";
}

TEST(Normalizers, CanFollowEachOther) {
  std::string json = byteLevel(R"({"type": "NFC"})",
                               R"({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]})");
  EXPECT_EQ(idsOf(json, "A\u00e9B"), (Ids{2, 3})) << "the letter e and its accent are not in the vocabulary";
  EXPECT_EQ(failureOf(replaced(json, "\"NFD\"", "\"Magic\"")),
            "`t.json`: the normalizer `Magic` is not one that this library knows");
}

} // namespace
} // namespace attn
