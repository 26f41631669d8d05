// What tokenizers ask of a character.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/Characters.h"
#include <cstddef>
#include <utf8proc.h>

namespace attn {
namespace {

struct Range {
  int32_t first, last;
};

// Ascending ranges of what Unicode gave these categories after version 8.
constexpr Range laterMarks[] = {
    {0x7fd, 0x7fd},     {0x898, 0x89f},     {0x8ca, 0x8e1},     {0x9fe, 0x9fe},     {0xafa, 0xaff},
    {0xb55, 0xb55},     {0xc04, 0xc04},     {0xc3c, 0xc3c},     {0xd00, 0xd00},     {0xd3b, 0xd3c},
    {0xd81, 0xd81},     {0xeba, 0xeba},     {0xece, 0xece},     {0x180f, 0x180f},   {0x1885, 0x1886},
    {0x1abf, 0x1ace},   {0x1df6, 0x1dfb},   {0xa82c, 0xa82c},   {0xa8c5, 0xa8c5},   {0xa8ff, 0xa8ff},
    {0xa9bd, 0xa9bd},   {0x10d24, 0x10d27}, {0x10eab, 0x10eac}, {0x10efd, 0x10eff}, {0x10f46, 0x10f50},
    {0x10f82, 0x10f85}, {0x11070, 0x11070}, {0x11073, 0x11074}, {0x110c2, 0x110c2}, {0x111c9, 0x111c9},
    {0x111cf, 0x111cf}, {0x1123e, 0x1123e}, {0x11241, 0x11241}, {0x1133b, 0x1133b}, {0x11438, 0x1143f},
    {0x11442, 0x11444}, {0x11446, 0x11446}, {0x1145e, 0x1145e}, {0x1182f, 0x11837}, {0x11839, 0x1183a},
    {0x1193b, 0x1193c}, {0x1193e, 0x1193e}, {0x11943, 0x11943}, {0x119d4, 0x119d7}, {0x119da, 0x119db},
    {0x119e0, 0x119e0}, {0x11a01, 0x11a0a}, {0x11a33, 0x11a38}, {0x11a3b, 0x11a3e}, {0x11a47, 0x11a47},
    {0x11a51, 0x11a56}, {0x11a59, 0x11a5b}, {0x11a8a, 0x11a96}, {0x11a98, 0x11a99}, {0x11c30, 0x11c36},
    {0x11c38, 0x11c3d}, {0x11c3f, 0x11c3f}, {0x11c92, 0x11ca7}, {0x11caa, 0x11cb0}, {0x11cb2, 0x11cb3},
    {0x11cb5, 0x11cb6}, {0x11d31, 0x11d36}, {0x11d3a, 0x11d3a}, {0x11d3c, 0x11d3d}, {0x11d3f, 0x11d45},
    {0x11d47, 0x11d47}, {0x11d90, 0x11d91}, {0x11d95, 0x11d95}, {0x11d97, 0x11d97}, {0x11ef3, 0x11ef4},
    {0x11f00, 0x11f01}, {0x11f36, 0x11f3a}, {0x11f40, 0x11f40}, {0x11f42, 0x11f42}, {0x13440, 0x13440},
    {0x13447, 0x13455}, {0x16f4f, 0x16f4f}, {0x16fe4, 0x16fe4}, {0x1cf00, 0x1cf2d}, {0x1cf30, 0x1cf46},
    {0x1e000, 0x1e006}, {0x1e008, 0x1e018}, {0x1e01b, 0x1e021}, {0x1e023, 0x1e024}, {0x1e026, 0x1e02a},
    {0x1e08f, 0x1e08f}, {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae}, {0x1e2ec, 0x1e2ef}, {0x1e4ec, 0x1e4ef},
    {0x1e944, 0x1e94a}};
constexpr Range laterPunctuation[] = {{0x61d, 0x61d},     {0x9fd, 0x9fd},     {0xa76, 0xa76},     {0xc77, 0xc77},
                                      {0xc84, 0xc84},     {0x1b7d, 0x1b7e},   {0x2e43, 0x2e4f},   {0x2e52, 0x2e5d},
                                      {0x10ead, 0x10ead}, {0x10f55, 0x10f59}, {0x10f86, 0x10f89}, {0x1144b, 0x1144f},
                                      {0x1145a, 0x1145b}, {0x1145d, 0x1145d}, {0x11660, 0x1166c}, {0x116b9, 0x116b9},
                                      {0x1183b, 0x1183b}, {0x11944, 0x11946}, {0x119e2, 0x119e2}, {0x11a3f, 0x11a46},
                                      {0x11a9a, 0x11a9c}, {0x11a9e, 0x11aa2}, {0x11b00, 0x11b09}, {0x11c41, 0x11c45},
                                      {0x11c70, 0x11c71}, {0x11ef7, 0x11ef8}, {0x11f43, 0x11f4f}, {0x11fff, 0x11fff},
                                      {0x12ff1, 0x12ff2}, {0x16e97, 0x16e9a}, {0x16fe2, 0x16fe2}, {0x1e95e, 0x1e95f}};
constexpr Range laterFormats[] = {{0x890, 0x891}, {0x8e2, 0x8e2}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}};
// What \w matches besides, since Unicode 16.
constexpr Range laterWords[] = {{0x897, 0x897},     {0x1c89, 0x1c8a},   {0xa7cb, 0xa7cd},   {0xa7da, 0xa7dc},
                                {0x105c0, 0x105f3}, {0x10d40, 0x10d65}, {0x10d69, 0x10d6d}, {0x10d6f, 0x10d85},
                                {0x10ec2, 0x10ec4}, {0x10efc, 0x10efc}, {0x11380, 0x11389}, {0x1138b, 0x1138b},
                                {0x1138e, 0x1138e}, {0x11390, 0x113b5}, {0x113b7, 0x113c0}, {0x113c2, 0x113c2},
                                {0x113c5, 0x113c5}, {0x113c7, 0x113ca}, {0x113cc, 0x113d3}, {0x113e1, 0x113e2},
                                {0x116d0, 0x116e3}, {0x11bc0, 0x11be0}, {0x11bf0, 0x11bf9}, {0x11f5a, 0x11f5a},
                                {0x13460, 0x143fa}, {0x16100, 0x16139}, {0x16d40, 0x16d6c}, {0x16d70, 0x16d79},
                                {0x18cff, 0x18cff}, {0x1ccf0, 0x1ccf9}, {0x1e5d0, 0x1e5fa}, {0x2ebf0, 0x2ee5d}};

// Lower case that came after Unicode 15: code points first .. last, by this much.
struct Shift {
  int32_t first, last, by;
};
constexpr Shift laterLowerCase[] = {
    {0x1c89, 0x1c89, 1},      {0xa7cb, 0xa7cb, 0x264 - 0xa7cb},
    {0xa7cc, 0xa7cc, 1},      {0xa7ce, 0xa7ce, 1},
    {0xa7d2, 0xa7d2, 1},      {0xa7d4, 0xa7d4, 1},
    {0xa7da, 0xa7da, 1},      {0xa7dc, 0xa7dc, 0x19b - 0xa7dc},
    {0x10d50, 0x10d65, 0x20}, {0x16ea0, 0x16eb8, 0x1b},
};

template <size_t size> bool isIn(const Range (&ranges)[size], int32_t code) {
  size_t low = 0, high = size;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (ranges[middle].last < code)
      low = middle + 1;
    else
      high = middle;
  }
  return low < size && ranges[low].first <= code;
}

} // namespace

bool isWhitespace(int32_t code) {
  if (code < 0x80)
    return code == ' ' || (code >= 9 && code <= 13);
  utf8proc_category_t category = utf8proc_category(code);
  return code == 0x85 || category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool isOther(int32_t code) {
  utf8proc_category_t category = utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CO ||
         (category == UTF8PROC_CATEGORY_CF && !isIn(laterFormats, code));
}

bool isPunctuation(int32_t code) {
  if (code < 0x80)
    return code > ' ' && code < 0x7f && !(code >= '0' && code <= '9') && !((code | 32) >= 'a' && (code | 32) <= 'z');
  if (code == 0x166d || code == 0x111c9) // punctuation in Unicode 8, a symbol and a mark now
    return true;
  utf8proc_category_t category = utf8proc_category(code);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO && !isIn(laterPunctuation, code);
}

bool isNonspacingMark(int32_t code) {
  if (code == 0x1734) // a spacing mark since Unicode 14
    return true;
  return utf8proc_category(code) == UTF8PROC_CATEGORY_MN && !isIn(laterMarks, code);
}

bool isWordCharacter(int32_t code) {
  // Letters that are symbols by category: circled, squared, negative (property Other_Alphabetic).
  constexpr Range symbols[] = {{0x24b6, 0x24e9}, {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}};
  utf8proc_category_t category = utf8proc_category(code);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) || category == UTF8PROC_CATEGORY_PC ||
         code == 0x200c || code == 0x200d || isIn(symbols, code) || isIn(laterWords, code);
}

bool isChinese(int32_t code) {
  constexpr Range ideographs[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
                                  {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  return isIn(ideographs, code);
}

int combiningClass(int32_t code) {
  return utf8proc_get_property(code)->combining_class;
}

int lowerCase(int32_t code, int32_t *out) {
  if (code == 0x130) { // the one letter whose lower case is two (SpecialCasing.txt)
    out[0] = 'i';
    out[1] = 0x307;
    return 2;
  }
  out[0] = utf8proc_tolower(code);
  for (const Shift &shift : laterLowerCase)
    if (code >= shift.first && code <= shift.last)
      out[0] = code + shift.by;
  return 1;
}

int decompose(int32_t code, int32_t *out) {
  int boundary = 0;
  out[0] = code;
  if (code < 0x80 || code == 0x11938) // composed since Unicode 13
    return 1;
  utf8proc_ssize_t count = utf8proc_decompose_char(code, out, mostLetters, UTF8PROC_DECOMPOSE, &boundary);
  return count > 0 && count <= mostLetters ? static_cast<int>(count) : 1;
}

int32_t compose(int32_t first, int32_t second) {
  if (second < 0x300) // nothing below composes with what is before it
    return 0;
  int32_t both[2] = {first, second};
  bool one = utf8proc_normalize_utf32(both, 2, static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE)) == 1;
  return one && both[0] != 0x11938 ? both[0] : 0; // that one composes since Unicode 13
}

} // namespace attn
