// Ids and the texts of their tokens, both ways.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_TOKENIZER_VOCABULARY_H
#define ATTN_RUNTIME_TOKENIZER_VOCABULARY_H
#include "runtime/Json.h"
#include "runtime/NameTable.h"

namespace attn {

class Vocabulary {
public:
  // The model's own tokens. The texts must stay alive. Fails if an id is out of bounds, or an id or a text would mean
  // two things.
  bool read(const JsonDocument &file, Json vocab);
  // A token that the model need not have; if it hasn't, it will not find it in a word.
  bool addBeside(const JsonDocument &file, View text, int64_t id) { return add(file, text, id); }

  // The id, or -1.
  int32_t find(View text) const { return static_cast<int32_t>(table.find(text)); }
  // The same among the model's own tokens.
  int32_t findOwn(View text) const {
    int32_t id = find(text);
    return id >= 0 && own[static_cast<size_t>(id)] ? id : -1;
  }
  // One more than the highest id.
  int32_t size() const { return static_cast<int32_t>(texts.size()); }
  bool has(int64_t id) const { return id >= 0 && id < size() && texts[static_cast<size_t>(id)].data(); }
  View text(int32_t id) const { return texts[static_cast<size_t>(id)]; }
  size_t longest() const { return longestText; }

private:
  bool add(const JsonDocument &file, View text, int64_t id);

  Array<View> texts; // without data where an id is not used
  Array<bool> own;   // by id: the model's
  NameTable table;
  size_t longestText = 0;
};

} // namespace attn
#endif
