// The way back: the texts of tokens become text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_TOKENIZER_DECODER_H
#define ATTN_RUNTIME_TOKENIZER_DECODER_H
#include "runtime/Json.h"

namespace attn {

// This one puts a space between tokens: "decoder": null.
class Decoder : public Heap {
public:
  virtual ~Decoder() = default;
  virtual void decode(const Array<View> &tokens, Text &out) const;
};

// The decoder that tokenizer.json describes; null and an error if this library does not know it.
Decoder *readDecoder(const JsonDocument &file, Json description);

} // namespace attn
#endif
