// What reading the components of tokenizer.json has in common.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/Components.h"
#include "runtime/Error.h"

namespace attn {

bool checkKeys(const JsonDocument &file, const char *component, Json description, const View *keys, size_t count) {
  const char *key;
  json_t *value;
  json_object_foreach(const_cast<json_t *>(description), key, value) {
    bool known = false;
    for (size_t i = 0; i < count; ++i)
      known = known || keys[i] == key;
    if (!known)
      return fail("`%s`: the %s has `%s`, which this library does not know", file.source(), component, key);
  }
  return true;
}

bool readType(const JsonDocument &file, const char *component, Json description, View &type) {
  if (!json_is_object(description))
    return fail("`%s`: the %s should be an object", file.source(), component);
  return file.readText(description, "type", type);
}

bool failUnknown(const JsonDocument &file, const char *component, View type) {
  return fail("`%s`: the %s `%s` is not one that this library knows", file.source(), component, Text(type).c_str());
}

} // namespace attn
