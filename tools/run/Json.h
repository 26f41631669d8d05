// Json.h - reading JSON files with jansson.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_RUN_JSON_H
#define ATTN_TOOLS_RUN_JSON_H

#include <jansson.h>
#include <memory>
#include <string>

namespace attn::run {

struct JsonRelease {
  void operator()(json_t *value) const { json_decref(value); }
};
/// An owned JSON value.
using Json = std::unique_ptr<json_t, JsonRelease>;

/// The value in a file; a Failure names the file, line and column of what is wrong.
Json readJson(const std::string &path);
/// The value in a text; `what` names it in messages.
Json parseJson(const std::string &text, const std::string &what);

} // namespace attn::run

#endif
