// A tokenizer that is read when somebody wants it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_TOKENIZER_LAZY_TOKENIZER_H
#define ATTN_RUNTIME_TOKENIZER_LAZY_TOKENIZER_H
#include "runtime/Memory.h"
#include "runtime/attn.h"
#include <pthread.h>

namespace attn {

class LazyTokenizer {
public:
  LazyTokenizer() { pthread_mutex_init(&lock, nullptr); }
  LazyTokenizer(const LazyTokenizer &) = delete;
  LazyTokenizer &operator=(const LazyTokenizer &) = delete;
  ~LazyTokenizer() {
    attn_tokenizer_free(tokenizer);
    pthread_mutex_destroy(&lock);
  }
  // Null if it cannot be read; then the next call tries again.
  const attn_tokenizer *get(View folder, View file) {
    pthread_mutex_lock(&lock);
    if (!tokenizer)
      tokenizer = attn_tokenizer_create(Text(folder).append('/').append(file).c_str());
    const attn_tokenizer *got = tokenizer;
    pthread_mutex_unlock(&lock);
    return got;
  }

private:
  pthread_mutex_t lock;
  attn_tokenizer *tokenizer = nullptr;
};

} // namespace attn
#endif
