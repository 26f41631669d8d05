// Templates around the tokens.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/PostProcessor.h"
#include "runtime/Error.h"
#include "runtime/tokenizer/ByteLevel.h"
#include "runtime/tokenizer/Characters.h"
#include "runtime/tokenizer/Components.h"

namespace attn {

PostProcessor::PostProcessor() {
  templates[0].push({0, 0, {}});
  templates[1].push({0, 0, {}});
  templates[1].push({1, 1, {}});
}

void PostProcessor::apply(const Array<Token> (&texts)[2], bool two, bool special, Array<Token> &out) const {
  for (const Part &part : templates[two]) {
    for (size_t i = 0; special && i < part.ids.size(); ++i)
      out.push({part.ids[i], part.type});
    for (size_t i = 0; part.text >= 0 && i < texts[part.text].size(); ++i) {
      Token token = texts[part.text][i];
      token.type = part.type;
      out.push(token);
    }
  }
}

bool PostProcessor::read(const JsonDocument &file, Json description, const Vocabulary &vocabulary) {
  return !description || readOne(file, description, vocabulary);
}

bool PostProcessor::readOne(const JsonDocument &file, Json description, const Vocabulary &vocabulary) {
  View type;
  if (!readType(file, "post-processor", description, type))
    return false;
  if (type == "Sequence")
    return readSequence(file, description, vocabulary);
  if (type == "ByteLevel")
    return readByteLevel(file, description);
  if (type != "BertProcessing" && type != "RobertaProcessing" && type != "TemplateProcessing")
    return failUnknown(file, "post-processor", type);
  if (hasTemplate)
    return fail("`%s`: the post-processor has more than one template", file.source());
  hasTemplate = true;
  for (Array<Part> &parts : templates)
    parts.clear();
  return type == "BertProcessing"      ? readBert(file, description, vocabulary)
         : type == "RobertaProcessing" ? readRoberta(file, description, vocabulary)
                                       : readTemplates(file, description, vocabulary);
}

bool PostProcessor::readSequence(const JsonDocument &file, Json description, const Vocabulary &vocabulary) {
  constexpr View keys[] = {"type", "processors"};
  Json list;
  if (!checkKeys(file, "post-processor", description, keys) || !file.readArray(description, "processors", list))
    return false;
  for (size_t i = 0; i < json_array_size(list); ++i)
    if (!readOne(file, json_array_get(list, i), vocabulary))
      return false;
  return true;
}

bool PostProcessor::readByteLevel(const JsonDocument &file, Json description) {
  ByteLevelOptions options;
  if (!options.read(file, "post-processor", description))
    return false;
  trims = trims || options.trimOffsets;
  firstSpace = options.addPrefixSpace;
  return true;
}

bool PostProcessor::readTemplates(const JsonDocument &file, Json description, const Vocabulary &vocabulary) {
  constexpr View keys[] = {"type", "single", "pair", "special_tokens"};
  return checkKeys(file, "post-processor", description, keys) &&
         readTemplate(file, description, "single", vocabulary, templates[0]) &&
         readTemplate(file, description, "pair", vocabulary, templates[1]);
}

bool PostProcessor::readTemplate(const JsonDocument &file, Json description, const char *key,
                                 const Vocabulary &vocabulary, Array<Part> &out) {
  Json list, specials;
  if (!file.readArray(description, key, list) || !file.readObject(description, "special_tokens", specials))
    return false;
  for (size_t i = 0; i < json_array_size(list); ++i)
    if (!readPart(file, json_array_get(list, i), specials, vocabulary, out))
      return false;
  return true;
}

// {"Sequence": {"id": "A", "type_id": 0}} or {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
bool PostProcessor::readPart(const JsonDocument &file, Json entry, Json specials, const Vocabulary &vocabulary,
                             Array<Part> &out) {
  Json sequence = attn::find(entry, "Sequence"), token = attn::find(entry, "SpecialToken"),
       body = sequence ? sequence : token;
  View id;
  int64_t type;
  if (!body)
    return fail("`%s`: a part of the template is neither `Sequence` nor `SpecialToken`", file.source());
  if (!file.readText(body, "id", id) || !file.readInteger(body, "type_id", type, 0))
    return false;
  Part part = {id == "A" ? 0 : id == "B" ? 1 : -1, static_cast<int32_t>(type), {}};
  if (sequence && part.text < 0)
    return fail("`%s`: a part of the template is the unknown sequence `%s`", file.source(), Text(id).c_str());
  if (!sequence) {
    Json special = attn::find(specials, Text(id).c_str());
    Array<int64_t> ids;
    if (!special)
      return fail("`%s`: the template has `%s`, which is not among its special tokens", file.source(),
                  Text(id).c_str());
    if (!file.readIntegers(special, "ids", ids))
      return false;
    part.text = -1;
    for (int64_t number : ids) {
      if (!vocabulary.has(number))
        return fail("`%s`: the template has the id %lld, which no token has", file.source(),
                    static_cast<long long>(number));
      part.ids.push(static_cast<int32_t>(number));
    }
  }
  out.push(std::move(part));
  return true;
}

// {"sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
bool PostProcessor::readEnds(const JsonDocument &file, Json description, const Vocabulary &vocabulary,
                             int32_t (&ids)[2]) {
  for (int i = 0; i < 2; ++i) {
    Json pair = attn::find(description, i ? "sep" : "cls"), number = json_array_get(pair, 1);
    if (!json_is_integer(number) || !vocabulary.has(json_integer_value(number)))
      return file.wrong(i ? "sep" : "cls", "a token and its id");
    ids[i] = static_cast<int32_t>(json_integer_value(number));
  }
  return true;
}

// [CLS] A [SEP], [CLS] A [SEP] B [SEP]
bool PostProcessor::readBert(const JsonDocument &file, Json description, const Vocabulary &vocabulary) {
  constexpr View keys[] = {"type", "sep", "cls"};
  int32_t ids[2];
  if (!checkKeys(file, "post-processor", description, keys) || !readEnds(file, description, vocabulary, ids))
    return false;
  setTemplates(ids, 1, 1);
  return true;
}

// <s> A </s>, <s> A </s> </s> B </s>, all of it one segment; what it says of spaces is as for ByteLevel.
bool PostProcessor::readRoberta(const JsonDocument &file, Json description, const Vocabulary &vocabulary) {
  constexpr View keys[] = {"type", "sep", "cls", "trim_offsets", "add_prefix_space"};
  int32_t ids[2];
  bool trimOffsets;
  if (!checkKeys(file, "post-processor", description, keys) || !readEnds(file, description, vocabulary, ids) ||
      !file.readBool(description, "trim_offsets", trimOffsets, true) ||
      !file.readBool(description, "add_prefix_space", firstSpace, true))
    return false;
  trims = trims || trimOffsets;
  setTemplates(ids, 2, 0);
  return true;
}

// `ids`: what begins the first text, what ends each text; `between`: how many of the latter lie between two texts.
void PostProcessor::setTemplates(const int32_t (&ids)[2], int between, int32_t secondType) {
  auto special = [&](Array<Part> &parts, int which, int32_t type) {
    Part part = {-1, type, {}};
    part.ids.push(ids[which]);
    parts.push(std::move(part));
  };
  for (int two = 0; two < 2; ++two) {
    special(templates[two], 0, 0);
    for (int text = 0; text <= two; ++text) {
      int32_t type = text ? secondType : 0;
      for (int i = 1; text && i < between; ++i)
        special(templates[two], 1, type);
      templates[two].push({text, type, {}});
      special(templates[two], 1, type);
    }
  }
}

namespace {

bool isBlank(const Letter &letter) {
  return isWhitespace(letter.code) || letter.code == letterOfByte(' ');
}

// The bytes of the white space at the beginning or, backwards, at the end of what is spelt so and came from `text`. Of
// a model's token only spaces count that the text has, not one that was put in front.
uint32_t blankBytes(const Letters &spelling, View text, bool added, bool backwards) {
  uint32_t bytes = 0;
  for (size_t i = 0; i < spelling.size(); ++i) {
    const Letter &letter = spelling[backwards ? spelling.size() - 1 - i : i];
    bool isThere = added || (i < text.size() && text[backwards ? text.size() - 1 - i : i] == ' ');
    if (!isThere || !isBlank(letter))
      break;
    bytes += added ? letter.end - letter.begin : 1;
  }
  return bytes;
}

} // namespace

void PostProcessor::trim(View text, const Vocabulary &vocabulary, Array<Token> &tokens) const {
  for (size_t i = 0; trims && i < tokens.size(); ++i) {
    Token &token = tokens[i];
    View own(text.data() + token.begin, token.end - token.begin);
    Letters spelling;
    decodeUtf8(token.added ? own : vocabulary.text(token.id), spelling);
    uint32_t front = blankBytes(spelling, own, token.added, false), back = blankBytes(spelling, own, token.added, true);
    bool isFirst = i == 0 || token.begin == 0;
    if (front == 1 && isFirst && firstSpace) // more were there before
      front = 0;
    token.begin += front;
    token.end = token.end - token.begin > back ? token.end - back : token.begin;
  }
}

} // namespace attn
