// Threads that help with loops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whoever runs a loop works on it itself; workers that are free join. So a loop always ends, from several sessions at
// once, from inside another loop, with no worker at all. Tasks are handed out one by one through a counter, which no
// result may depend on. A worker without work looks out for some microseconds and then sleeps; the first loop that
// could use one starts it. Every hand-over passes through the lock, so that tools which do not see this code's atomics
// (a thread sanitizer in generated code only) see the order.
#ifndef ATTN_RUNTIME_THREAD_POOL_H
#define ATTN_RUNTIME_THREAD_POOL_H
#include "runtime/Memory.h"
#include <atomic>
#include <pthread.h>

namespace attn {

class ThreadPool {
public:
  using Task = void(void *context, int64_t index);

  ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  ~ThreadPool();

  // task(context, i) for i = 0 .. tasks-1, each once; returns when all have ended.
  void run(Task *task, void *context, int64_t tasks);
  // How many threads a loop may use, the caller's included; 0: one a usable core. Returns the number in force.
  int setThreads(int threads);
  int threadsInForce() const { return threads.load(std::memory_order_relaxed); }

private:
  struct Loop;
  static void *workerMain(void *pool);
  void work();
  Loop *waitForLoop();
  void unlist(Loop &loop);
  void startWorkers(int64_t wanted);

  pthread_mutex_t lock;
  pthread_cond_t wake;      // a loop was added, or the end has come
  pthread_cond_t done;      // a worker left a loop
  Loop *loops = nullptr;    // those that a worker may join
  std::atomic<int> open{0}; // how many: what idle workers look at without the lock
  std::atomic<bool> ending{false};
  std::atomic<int> threads;
  int sleeping = 0;
  Array<pthread_t> workers;
};

// Cores that this process may use.
int usableCores();

} // namespace attn
#endif
