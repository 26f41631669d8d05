// EmbeddedText.h: files of std/ as they were when the compiler was built, so that attnc is one file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_FRONTEND_EMBEDDEDTEXT_H
#define ATTN_FRONTEND_EMBEDDEDTEXT_H

namespace attn {

struct EmbeddedText {
  const char *name; ///< `std/masks.attn`
  unsigned length;
  const char *text;
};

/// Sorted by name; written by cmake/EmbedText.cmake.
extern const EmbeddedText embeddedTexts[];
extern const unsigned embeddedTextCount;

} // namespace attn

#endif // ATTN_FRONTEND_EMBEDDEDTEXT_H
