// Templates around the tokens.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/PostProcessor.h"
#include "runtime/Error.h"
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
  constexpr View keys[] = {"type", "single", "pair", "special_tokens"};
  View type;
  if (!description)
    return true;
  if (!readType(file, "post-processor", description, type))
    return false;
  for (Array<Part> &parts : templates)
    parts.clear();
  if (type == "BertProcessing")
    return readBert(file, description, vocabulary);
  if (type != "TemplateProcessing")
    return failUnknown(file, "post-processor", type);
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

// {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
bool PostProcessor::readBert(const JsonDocument &file, Json description, const Vocabulary &vocabulary) {
  constexpr View keys[] = {"type", "sep", "cls"};
  if (!checkKeys(file, "post-processor", description, keys))
    return false;
  int32_t ids[2]; // cls, sep
  for (int i = 0; i < 2; ++i) {
    Json pair = attn::find(description, i ? "sep" : "cls"), number = json_array_get(pair, 1);
    if (!json_is_integer(number) || !vocabulary.has(json_integer_value(number)))
      return file.wrong(i ? "sep" : "cls", "a token and its id");
    ids[i] = static_cast<int32_t>(json_integer_value(number));
  }
  auto special = [&](Array<Part> &parts, int which, int32_t type) {
    Part part = {-1, type, {}};
    part.ids.push(ids[which]);
    parts.push(std::move(part));
  };
  for (int two = 0; two < 2; ++two) {
    special(templates[two], 0, 0);
    for (int text = 0; text <= two; ++text) {
      templates[two].push({text, text, {}});
      special(templates[two], 1, text);
    }
  }
  return true;
}

} // namespace attn
