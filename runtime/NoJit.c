/* PCRE2 without its compiler to machine code, which nobody here uses: patterns are interpreted.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * CMakeLists.txt leaves that part out of the archive, and this is what the rest of PCRE2 then misses. The first says
 * that a pattern has no machine code, so that the others are not called. Weak, so that a whole PCRE2 may be linked as
 * well. */
#include <stddef.h>
#define ABSENT __attribute__((weak, visibility("hidden")))

ABSENT int _pcre2_jit_check_exec_32(void *code, unsigned options) {
  return (void)code, (void)options, 0;
}
ABSENT int pcre2_jit_match_32(void) {
  return -45; /* PCRE2_ERROR_JIT_BADOPTION */
}
ABSENT void _pcre2_jit_free_32(void *code, void *memory) {
  (void)code, (void)memory;
}
ABSENT size_t _pcre2_jit_get_size_32(void *code) {
  return (void)code, (size_t)0;
}
ABSENT const char *_pcre2_jit_get_target_32(void) {
  return "none";
}
