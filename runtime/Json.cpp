// JSON files and texts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Json.h"
#include "runtime/Error.h"
#include "runtime/MappedFile.h"

namespace attn {

bool JsonDocument::parse(View text, View source) {
  name.clear();
  name.append(source);
  json_decref(tree);
  json_error_t error;
  tree = json_loadb(text.data(), text.size(), JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
  if (!tree)
    return fail("`%s`: not valid JSON at line %d, column %d: %s", name.c_str(), error.line, error.column, error.text);
  return json_is_object(tree) || fail("`%s`: should hold a JSON object", name.c_str());
}

bool JsonDocument::parseFile(const char *path) {
  MappedFile file;
  return file.open(path) && parse(file.bytes(), path);
}

bool JsonDocument::wrong(const char *key, const char *expected) const {
  return fail("`%s`: `%s` should be %s", name.c_str(), key, expected);
}

bool JsonDocument::readText(Json object, const char *key, View &out) const {
  Json value = find(object, key);
  if (!json_is_string(value))
    return wrong(key, "a text");
  out = textOf(value);
  return true;
}

bool JsonDocument::readText(Json object, const char *key, View &out, View otherwise) const {
  out = otherwise;
  return !find(object, key) || readText(object, key, out);
}

bool JsonDocument::readInteger(Json object, const char *key, int64_t &out) const {
  Json value = find(object, key);
  if (!json_is_integer(value))
    return wrong(key, "a whole number");
  out = json_integer_value(value);
  return true;
}

bool JsonDocument::readInteger(Json object, const char *key, int64_t &out, int64_t otherwise) const {
  out = otherwise;
  return !find(object, key) || readInteger(object, key, out);
}

bool JsonDocument::readBool(Json object, const char *key, bool &out, bool otherwise) const {
  Json value = find(object, key);
  out = value ? json_is_true(value) : otherwise;
  return !value || json_is_boolean(value) || wrong(key, "true or false");
}

bool JsonDocument::readArray(Json object, const char *key, Json &out, bool optional) const {
  out = find(object, key);
  return (!out && optional) || json_is_array(out) || wrong(key, "a list");
}

bool JsonDocument::readObject(Json object, const char *key, Json &out, bool optional) const {
  out = find(object, key);
  return (!out && optional) || json_is_object(out) || wrong(key, "an object");
}

bool JsonDocument::readTexts(Json object, const char *key, Array<View> &out) const {
  Json list;
  if (!readArray(object, key, list))
    return false;
  for (size_t i = 0; i < json_array_size(list); ++i) {
    if (!json_is_string(json_array_get(list, i)))
      return wrong(key, "a list of texts");
    out.push(textOf(json_array_get(list, i)));
  }
  return true;
}

bool JsonDocument::readIntegers(Json object, const char *key, Array<int64_t> &out) const {
  Json list;
  if (!readArray(object, key, list))
    return false;
  for (size_t i = 0; i < json_array_size(list); ++i) {
    if (!json_is_integer(json_array_get(list, i)))
      return wrong(key, "a list of whole numbers");
    out.push(json_integer_value(json_array_get(list, i)));
  }
  return true;
}

Json find(Json object, const char *key) {
  Json value = json_object_get(object, key);
  return json_is_null(value) ? nullptr : value;
}

View textOf(Json string) {
  return {json_string_value(string), json_string_length(string)};
}

bool sameValue(Json a, Json b) {
  if (json_is_number(a) && json_is_number(b))
    return json_number_value(a) == json_number_value(b);
  if (json_typeof(a) != json_typeof(b))
    return false;
  if (json_is_array(a)) {
    bool same = json_array_size(a) == json_array_size(b);
    for (size_t i = 0; same && i < json_array_size(a); ++i)
      same = sameValue(json_array_get(a, i), json_array_get(b, i));
    return same;
  }
  if (!json_is_object(a))
    return json_equal(a, b);
  bool same = json_object_size(a) == json_object_size(b);
  const char *key;
  json_t *value;
  json_object_foreach(const_cast<json_t *>(a), key, value) {
    Json other = json_object_get(b, key);
    same = same && other && sameValue(value, other);
  }
  return same;
}

Text shown(Json value) {
  if (!value)
    return Text("null");
  char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
  View view = dumped ? View(dumped) : View("?");
  Text text(View(view.data(), view.size() < 80 ? view.size() : 77));
  if (view.size() >= 80)
    text.append("...");
  free(dumped);
  return text;
}

} // namespace attn
