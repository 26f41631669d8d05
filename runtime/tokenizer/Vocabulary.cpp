// Ids and the texts of their tokens.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/Vocabulary.h"
#include "runtime/Error.h"

namespace attn {
namespace {

constexpr int64_t mostTokens = 1 << 24;

}

bool Vocabulary::add(const JsonDocument &file, View text, int64_t id) {
  if (id < 0 || id >= mostTokens)
    return fail("`%s`: token `%s` has the impossible id %lld", file.source(), Text(text).c_str(),
                static_cast<long long>(id));
  if (static_cast<size_t>(id) >= texts.size()) {
    texts.resize(static_cast<size_t>(id) + 1);
    own.resize(texts.size());
  }
  View &known = texts[static_cast<size_t>(id)];
  int64_t other = table.find(text);
  if (other >= 0 && other != id)
    return fail("`%s`: token `%s` has two ids, %lld and %lld", file.source(), Text(text).c_str(),
                static_cast<long long>(other), static_cast<long long>(id));
  if (known.data() && known != text)
    return fail("`%s`: tokens `%s` and `%s` have one id, %lld", file.source(), Text(known).c_str(), Text(text).c_str(),
                static_cast<long long>(id));
  known = text;
  table.add(text, id);
  longestText = text.size() > longestText ? text.size() : longestText;
  return true;
}

bool Vocabulary::read(const JsonDocument &file, Json vocab) {
  const char *text;
  json_t *id;
  json_object_foreach(const_cast<json_t *>(vocab), text, id) {
    if (!json_is_integer(id))
      return fail("`%s`: the id of token `%s` should be a whole number", file.source(), text);
    if (!add(file, text, json_integer_value(id)))
      return false;
    own[static_cast<size_t>(json_integer_value(id))] = true;
  }
  return true;
}

} // namespace attn
