// Byte level: each byte of the text as a letter that can be seen.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     " né"  =  20 6e c3 a9  ⇒  Ġ n Ã ©          so a vocabulary that has these 256 letters has every text
//
// A. Radford et al., "Language Models are Unsupervised Multitask Learners" (GPT-2), 2019, section 2.2.
#ifndef ATTN_RUNTIME_TOKENIZER_BYTE_LEVEL_H
#define ATTN_RUNTIME_TOKENIZER_BYTE_LEVEL_H
#include "runtime/tokenizer/Decoder.h"
#include "runtime/tokenizer/PreTokenizer.h"

namespace attn {

// The letter of a byte; the byte of a letter, or -1.
int32_t letterOfByte(unsigned char byte);
int byteOfLetter(int32_t letter);

// The same description serves a pre-tokenizer, a post-processor and a decoder, each of which uses some of it.
struct ByteLevelOptions {
  bool addPrefixSpace = true, trimOffsets = true, useRegex = true;
  bool read(const JsonDocument &file, const char *component, Json description);
};

PreTokenizer *readByteLevelPreTokenizer(const JsonDocument &file, Json description);
Decoder *readByteLevelDecoder(const JsonDocument &file, Json description);

} // namespace attn
#endif
