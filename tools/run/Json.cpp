// Json.cpp - reading JSON files with jansson.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/run/Json.h"

#include "tools/run/Failure.h"

namespace attn::run {

Json readJson(const std::string &path) {
  json_error_t error;
  Json value(json_load_file(path.c_str(), JSON_REJECT_DUPLICATES, &error));
  if (!value && error.line < 1)
    fail("{}", error.text);
  if (!value)
    fail("{}:{}:{}: {}", path, error.line, error.column, error.text);
  return value;
}

Json parseJson(const std::string &text, const std::string &what) {
  json_error_t error;
  Json value(json_loadb(text.data(), text.size(), JSON_DECODE_ANY, &error));
  if (!value)
    fail("{}: {}", what, error.text);
  return value;
}

} // namespace attn::run
