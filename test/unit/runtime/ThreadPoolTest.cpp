// Loops end, every task runs once, from one thread or several, nested or not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ThreadPool.h"
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace attn {
namespace {

struct Counts {
  explicit Counts(size_t tasks) : of(tasks) {}
  std::vector<std::atomic<int>> of;
  ThreadPool *pool = nullptr;

  bool allAre(int expected) const {
    for (const std::atomic<int> &count : of)
      if (count != expected)
        return false;
    return true;
  }
  static void add(void *context, int64_t i) { ++static_cast<Counts *>(context)->of[static_cast<size_t>(i)]; }
  // Runs the ten tasks 10 i .. 10 i + 9 as a loop of its own.
  static void addTen(void *context, int64_t i) {
    struct Ten {
      Counts *counts;
      int64_t first;
    } ten = {static_cast<Counts *>(context), 10 * i};
    ten.counts->pool->run(
        [](void *inner, int64_t k) { add(static_cast<Ten *>(inner)->counts, static_cast<Ten *>(inner)->first + k); },
        &ten, 10);
  }
};

TEST(ThreadPool, RunsEachTaskOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool;
    EXPECT_EQ(pool.setThreads(threads), threads);
    for (int64_t tasks : {0, 1, 2, 3, 1000}) {
      Counts counts(static_cast<size_t>(tasks));
      for (int round = 0; round < 50; ++round)
        pool.run(Counts::add, &counts, tasks);
      EXPECT_TRUE(counts.allAre(50)) << threads << " threads, " << tasks << " tasks";
    }
  }
}

TEST(ThreadPool, LoopsNest) {
  ThreadPool pool;
  pool.setThreads(4);
  Counts counts(200);
  counts.pool = &pool;
  for (int round = 0; round < 50; ++round)
    pool.run(Counts::addTen, &counts, 20);
  EXPECT_TRUE(counts.allAre(50));
}

TEST(ThreadPool, ServesSeveralCallers) {
  ThreadPool pool;
  pool.setThreads(3);
  std::vector<std::thread> callers;
  std::atomic<int> right{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      Counts counts(64);
      for (int round = 0; round < 200; ++round)
        pool.run(Counts::add, &counts, 64);
      right += counts.allAre(200);
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(right, 4);
}

TEST(ThreadPool, WakesAfterSleep) {
  ThreadPool pool;
  pool.setThreads(2);
  Counts counts(100);
  for (int round = 0; round < 5; ++round) {
    pool.run(Counts::add, &counts, 100);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(counts.allAre(5));
}

TEST(ThreadPool, NoThreadsMeansOneACore) {
  ThreadPool pool;
  EXPECT_EQ(pool.setThreads(0), usableCores());
  EXPECT_EQ(pool.setThreads(-3), usableCores());
  EXPECT_GE(usableCores(), 1);
}

} // namespace
} // namespace attn
