// What reading the components of tokenizer.json has in common: nothing in it is passed over in silence.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_TOKENIZER_COMPONENTS_H
#define ATTN_RUNTIME_TOKENIZER_COMPONENTS_H
#include "runtime/Json.h"

namespace attn {

bool checkKeys(const JsonDocument &file, const char *component, Json description, const View *keys, size_t count);
// Every key of the description is one of these.
template <size_t count>
bool checkKeys(const JsonDocument &file, const char *component, Json description, const View (&keys)[count]) {
  return checkKeys(file, component, description, keys, count);
}
// The "type" of a component.
bool readType(const JsonDocument &file, const char *component, Json description, View &type);
bool failUnknown(const JsonDocument &file, const char *component, View type);

} // namespace attn
#endif
