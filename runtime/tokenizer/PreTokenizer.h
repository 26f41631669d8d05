// The second step of a tokenizer: the cut into words, each of which becomes tokens on its own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_TOKENIZER_PRE_TOKENIZER_H
#define ATTN_RUNTIME_TOKENIZER_PRE_TOKENIZER_H
#include "runtime/Json.h"
#include "runtime/tokenizer/Letters.h"

namespace attn {

// This one cuts nothing: "pre_tokenizer": null.
class PreTokenizer : public Heap {
public:
  virtual ~PreTokenizer() = default;
  // Cuts words, and may change their letters. No word is ever empty. Fails if a regular expression takes too long.
  virtual bool apply(Words &words) const;
};

// The pre-tokenizer that tokenizer.json describes; null and an error if this library does not know it.
PreTokenizer *readPreTokenizer(const JsonDocument &file, Json description);

} // namespace attn
#endif
