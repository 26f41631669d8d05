// JSON files and texts, read with messages that name the file and the key.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Jansson parses; a key given twice is an error. A JsonDocument owns the tree, everything else is borrowed from it. The
// read… functions look a key up in an object and say what is wrong with it; those with a default take a key that is
// absent or null for the default.
#ifndef ATTN_RUNTIME_JSON_H
#define ATTN_RUNTIME_JSON_H
#include "runtime/Memory.h"
#include <jansson.h>

namespace attn {

using Json = const json_t *;

class JsonDocument {
public:
  JsonDocument() = default;
  JsonDocument(const JsonDocument &) = delete;
  JsonDocument &operator=(const JsonDocument &) = delete;
  ~JsonDocument() { json_decref(tree); }

  // `source` is what messages call the text. The outermost value must be an object.
  bool parse(View text, View source);
  bool parseFile(const char *path);

  Json root() const { return tree; }
  const char *source() const { return name.c_str(); }

  bool readText(Json object, const char *key, View &out) const;
  bool readText(Json object, const char *key, View &out, View otherwise) const;
  bool readInteger(Json object, const char *key, int64_t &out) const;
  bool readInteger(Json object, const char *key, int64_t &out, int64_t otherwise) const;
  bool readBool(Json object, const char *key, bool &out, bool otherwise) const;
  // An array or an object; absent or null gives null with `optional`, else an error.
  bool readArray(Json object, const char *key, Json &out, bool optional = false) const;
  bool readObject(Json object, const char *key, Json &out, bool optional = false) const;
  // Every entry of an array of texts, of whole numbers.
  bool readTexts(Json object, const char *key, Array<View> &out) const;
  bool readIntegers(Json object, const char *key, Array<int64_t> &out) const;

  bool wrong(const char *key, const char *expected) const;

private:
  json_t *tree = nullptr;
  Text name;
};

// The value under a key, or null if there is none or it is JSON's null.
Json find(Json object, const char *key);
View textOf(Json string);
// Equal as values: numbers by what they are worth, objects whatever their order.
bool sameValue(Json a, Json b);
// The value as a message shows it: on one line, cut where it gets long.
Text shown(Json value);

} // namespace attn
#endif
