// Text as code points.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/Letters.h"
#include "runtime/Error.h"
#include <utf8proc.h>

namespace attn {

bool decodeUtf8(View text, Letters &out) {
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    int32_t code;
    utf8proc_ssize_t bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t *>(text.data()) + at,
                                              static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (bytes <= 0)
      return fail("the text is not UTF-8 at byte %zu", at);
    out.push({code, static_cast<uint32_t>(at), static_cast<uint32_t>(at + static_cast<size_t>(bytes))});
    at += static_cast<size_t>(bytes);
  }
  return true;
}

void appendUtf8(int32_t code, Text &out) {
  utf8proc_uint8_t bytes[4];
  out.append(View(reinterpret_cast<char *>(bytes), static_cast<size_t>(utf8proc_encode_char(code, bytes))));
}

} // namespace attn
