// The last error of a thread, as text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kept under a pthread key and not in a thread_local: that would need __tls_get_addr, which lives outside libc.
#include "runtime/Error.h"
#include <cstdarg>
#include <cstdio>
#include <pthread.h>

namespace attn {
namespace {

pthread_once_t made = PTHREAD_ONCE_INIT;
pthread_key_t key;
bool usable = false;

void make() {
  usable = pthread_key_create(&key, free) == 0;
}

// The key dies with the library, or a thread that ends later would jump into unmapped code.
[[gnu::destructor]] void unmake() {
  if (!usable)
    return;
  free(pthread_getspecific(key));
  pthread_key_delete(key);
}

} // namespace

bool fail(const char *format, ...) {
  pthread_once(&made, make);
  va_list arguments;
  va_start(arguments, format);
  char *message = nullptr;
  if (vasprintf(&message, format, arguments) < 0)
    message = nullptr;
  va_end(arguments);
  free(pthread_getspecific(key));
  pthread_setspecific(key, message);
  return false;
}

const char *lastError() {
  pthread_once(&made, make);
  const char *message = static_cast<const char *>(pthread_getspecific(key));
  return message ? message : "";
}

} // namespace attn
