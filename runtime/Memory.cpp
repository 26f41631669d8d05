// Allocation and text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Memory.h"
#include <cstdarg>
#include <cstdio>
#include <sys/mman.h>

namespace attn {

void *allocate(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory) {
    fputs("error: out of memory\n", stderr);
    abort();
  }
  return memory;
}

void *allocateLarge(size_t bytes, Pages pages) {
  constexpr size_t largePage = 2 << 20;
  bool large = pages == LargePages && bytes >= largePage;
  void *memory = nullptr;
  if (posix_memalign(&memory, large ? largePage : 64, bytes ? bytes : 1))
    return nullptr;
  if (large)
    madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

Text &Text::append(View view) {
  size_t old = size();
  bytes.resize(old + view.size() + 1);
  if (!view.empty())
    memcpy(bytes.data() + old, view.data(), view.size());
  bytes.back() = 0;
  return *this;
}

Text &Text::format(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *made = nullptr;
  int length = vasprintf(&made, format, arguments);
  va_end(arguments);
  if (length >= 0) {
    append(View(made, static_cast<size_t>(length)));
    free(made);
  }
  return *this;
}

} // namespace attn
