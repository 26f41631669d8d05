// The first step of a tokenizer: what the text is made into before it is cut.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_TOKENIZER_NORMALIZER_H
#define ATTN_RUNTIME_TOKENIZER_NORMALIZER_H
#include "runtime/Json.h"
#include "runtime/tokenizer/Letters.h"

namespace attn {

// This one leaves the text as it is: "normalizer": null.
class Normalizer : public Heap {
public:
  virtual ~Normalizer() = default;
  virtual void apply(Letters &letters) const;
};

// The normalizer that tokenizer.json describes; null and an error if this library does not know it.
Normalizer *readNormalizer(const JsonDocument &file, Json description);

} // namespace attn
#endif
