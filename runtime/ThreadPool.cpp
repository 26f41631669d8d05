// Threads that help with loops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ThreadPool.h"
#include <csignal>
#include <ctime>
#include <sched.h>

namespace attn {
namespace {

constexpr int64_t lookOutNanoseconds = 50'000;
constexpr int mostThreads = 1024;

struct Lock {
  explicit Lock(pthread_mutex_t &held) : mutex(held) { pthread_mutex_lock(&mutex); }
  Lock(const Lock &) = delete;
  ~Lock() { pthread_mutex_unlock(&mutex); }
  pthread_mutex_t &mutex;
};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits actively, for a bounded time, until the condition holds.
template <class Condition> void lookOut(Condition condition) {
  timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    for (int i = 0; i < 64; ++i) {
      if (condition())
        return;
      relax();
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - start.tv_sec) * 1'000'000'000 + now.tv_nsec - start.tv_nsec < lookOutNanoseconds);
}

} // namespace

// Lives on the stack of the thread that runs it.
struct ThreadPool::Loop {
  Task *task;
  void *context;
  int64_t tasks;
  int seats; // workers that may still join
  Loop *next = nullptr;
  bool listed = false;
  std::atomic<int64_t> taken{0};
  std::atomic<int> helpers{0}; // changed under the lock

  void work() {
    for (int64_t i; (i = taken.fetch_add(1, std::memory_order_relaxed)) < tasks;)
      task(context, i);
  }
};

ThreadPool::ThreadPool() : threads(usableCores()) {
  pthread_mutex_init(&lock, nullptr);
  pthread_cond_init(&wake, nullptr);
  pthread_cond_init(&done, nullptr);
}

ThreadPool::~ThreadPool() {
  {
    Lock held(lock);
    ending = true;
    pthread_cond_broadcast(&wake);
  }
  for (pthread_t worker : workers)
    pthread_join(worker, nullptr);
  pthread_cond_destroy(&done);
  pthread_cond_destroy(&wake);
  pthread_mutex_destroy(&lock);
}

int ThreadPool::setThreads(int wanted) {
  threads = wanted <= 0 ? usableCores() : wanted < mostThreads ? wanted : mostThreads;
  return threads;
}

void ThreadPool::run(Task *task, void *context, int64_t tasks) {
  int seats = threads.load(std::memory_order_relaxed) - 1;
  if (tasks - 1 < seats)
    seats = static_cast<int>(tasks - 1);
  Loop loop{task, context, tasks, seats};
  if (seats <= 0)
    return loop.work();
  {
    Lock held(lock);
    startWorkers(seats);
    loop.next = loops;
    loop.listed = true;
    loops = &loop;
    open.fetch_add(1, std::memory_order_release);
    if (sleeping)
      pthread_cond_broadcast(&wake);
  }
  loop.work();
  {
    Lock held(lock);
    unlist(loop);
  }
  lookOut([&] { return loop.helpers.load(std::memory_order_relaxed) == 0; });
  Lock held(lock);
  while (loop.helpers.load(std::memory_order_relaxed))
    pthread_cond_wait(&done, &lock);
}

// Under the lock. A thread that cannot be started is done without.
void ThreadPool::startWorkers(int64_t wanted) {
  while (static_cast<int64_t>(workers.size()) < wanted) {
    // Signals are the program's: its handlers must not run on our threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t worker;
    bool started = pthread_create(&worker, nullptr, workerMain, this) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!started)
      return;
    workers.push(worker);
  }
}

void *ThreadPool::workerMain(void *pool) {
  static_cast<ThreadPool *>(pool)->work();
  return nullptr;
}

void ThreadPool::work() {
  while (Loop *loop = waitForLoop()) {
    loop->work();
    Lock held(lock);
    unlist(*loop); // it has no task left
    loop->helpers.fetch_sub(1, std::memory_order_relaxed);
    pthread_cond_broadcast(&done);
  }
}

// A loop joined by the calling worker; null when the pool ends.
ThreadPool::Loop *ThreadPool::waitForLoop() {
  lookOut([&] { return open.load(std::memory_order_acquire) > 0 || ending; });
  Lock held(lock);
  for (;;) {
    if (ending)
      return nullptr;
    if (Loop *loop = loops) {
      if (--loop->seats == 0)
        unlist(*loop);
      loop->helpers.fetch_add(1, std::memory_order_relaxed);
      return loop;
    }
    ++sleeping;
    pthread_cond_wait(&wake, &lock);
    --sleeping;
  }
}

// Under the lock: nobody joins this loop any more.
void ThreadPool::unlist(Loop &loop) {
  if (!loop.listed)
    return;
  Loop **link = &loops;
  while (*link != &loop)
    link = &(*link)->next;
  *link = loop.next;
  loop.listed = false;
  open.fetch_sub(1, std::memory_order_relaxed);
}

int usableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return cores > 0 ? cores : 1;
}

} // namespace attn
