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

namespace {

// How many bytes follow a first byte, and between what the next one lies (Unicode 3.9, table 3-7).
struct Form {
  unsigned char first, last;
  int follow;
  unsigned char low, high;
};
constexpr Form forms[] = {{0x00, 0x7f, 0, 0, 0},       {0xc2, 0xdf, 1, 0x80, 0xbf}, {0xe0, 0xe0, 2, 0xa0, 0xbf},
                          {0xe1, 0xec, 2, 0x80, 0xbf}, {0xed, 0xed, 2, 0x80, 0x9f}, {0xee, 0xef, 2, 0x80, 0xbf},
                          {0xf0, 0xf0, 3, 0x90, 0xbf}, {0xf1, 0xf3, 3, 0x80, 0xbf}, {0xf4, 0xf4, 3, 0x80, 0x8f}};

// The length of the character at the beginning of the bytes, or minus that of what is only the beginning of one.
int lengthOfCharacter(View bytes) {
  auto byte = [&](int i) { return static_cast<unsigned char>(bytes[static_cast<size_t>(i)]); };
  for (const Form &form : forms) {
    if (byte(0) < form.first || byte(0) > form.last)
      continue;
    for (int i = 1; i <= form.follow; ++i)
      if (static_cast<size_t>(i) >= bytes.size() || byte(i) < (i == 1 ? form.low : 0x80) ||
          byte(i) > (i == 1 ? form.high : 0xbf))
        return -i;
    return form.follow + 1;
  }
  return -1;
}

} // namespace

void appendRepaired(View bytes, Text &out) {
  while (!bytes.empty()) {
    int length = lengthOfCharacter(bytes);
    size_t taken = static_cast<size_t>(length < 0 ? -length : length);
    out.append(length < 0 ? "\xef\xbf\xbd" : View(bytes.data(), taken));
    bytes.remove_prefix(taken);
  }
}

} // namespace attn
