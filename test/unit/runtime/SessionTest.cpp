// Sessions: what they hold from call to call, and each misuse refused with what they held still there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Session.h"
#include "FakeModel.h"
#include "runtime/Error.h"
#include <fstream>
#include <thread>
#include <unistd.h>

namespace attn {
using namespace test;
namespace {

using Rows = std::vector<int64_t>;

enum { recall = 2, answer = 3, note = 4, twice = 5 };

// Rows [value, 0] for recall and answer; what they give is 3 * the sum so far, in the first column.
Floats wide(const Floats &values) {
  Floats x;
  for (float value : values)
    x.insert(x.end(), {value, 0});
  return x;
}

class SessionTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(model) << attn_last_error(); }
  void TearDown() override { fakeRunStatus = 0; }

  SessionPointer create(int64_t capacity = 6) const {
    return SessionPointer(attn_session_create(model.get(), capacity));
  }
  // The first column of recall's result for sessions with these rows each; nothing if it fails.
  Floats recallAll(const std::vector<attn_session *> &sessions, const std::vector<Floats> &rows) {
    Floats x;
    Rows offsets = {0};
    for (const Floats &values : rows) {
      Floats more = wide(values);
      x.insert(x.end(), more.begin(), more.end());
      offsets.push_back(static_cast<int64_t>(x.size() / 2));
    }
    Floats y(x.size() + 1, -1);
    const int64_t *all[] = {offsets.data()};
    const void *inputs[] = {x.data()};
    void *outputs[] = {y.data()};
    status = attn_run(sessions.data(), static_cast<int64_t>(sessions.size()), recall, inputs, all, outputs);
    Floats column;
    for (size_t i = 0; i < x.size() && status == 0; i += 2)
      column.push_back(y[i]);
    return column;
  }
  Floats recallOne(const SessionPointer &session, const Floats &values) { return recallAll({session.get()}, {values}); }

  // answer's y of one row, then what it says of the session.
  Floats answerOne(const SessionPointer &session, float value, const std::vector<int32_t> &source) {
    Floats x = wide({value}), y(2), said(3);
    int64_t rows[] = {0, 1}, sources[] = {0, static_cast<int64_t>(source.size())}, none[] = {0, 0};
    const int64_t *all[] = {rows, sources, none};
    const void *inputs[] = {x.data(), source.data(), nullptr};
    void *outputs[] = {y.data(), said.data()};
    attn_session *one[] = {session.get()};
    status = attn_run(one, 1, answer, inputs, all, outputs);
    return status ? Floats() : Floats{y[0], said[0], said[1], said[2]};
  }
  // What note or double says of the session.
  Floats giveSome(const SessionPointer &session, int32_t function, const std::vector<int32_t> &source) {
    Floats said(3);
    int64_t sources[] = {0, static_cast<int64_t>(source.size())};
    const int64_t *all[] = {sources};
    const void *inputs[] = {source.data()};
    void *outputs[] = {said.data()};
    attn_session *one[] = {session.get()};
    status = attn_run(one, 1, function, inputs, all, outputs);
    return status ? Floats() : said;
  }
  std::string failure() const { return status ? attn_last_error() : ""; }

  FakeFolder folder;
  ModelPointer model = folder.create();
  int32_t status = 0;
};

TEST_F(SessionTest, RowsStayFromCallToCall) {
  SessionPointer session = create();
  EXPECT_EQ(attn_session_length(session.get()), 0);
  EXPECT_EQ(recallOne(session, {1, 2}), (Floats{3, 9}));
  EXPECT_EQ(attn_session_length(session.get()), 2);
  EXPECT_EQ(recallOne(session, {}), Floats());
  EXPECT_EQ(attn_session_length(session.get()), 2);
  EXPECT_EQ(recallOne(session, {4}), (Floats{21}));
  EXPECT_EQ(attn_session_length(session.get()), 3);
}

TEST_F(SessionTest, SessionsOfOneCallHaveTheirOwnPast) {
  SessionPointer a = create(), b = create(), c = create();
  recallOne(b, {10, 20, 30});
  EXPECT_EQ(recallAll({a.get(), b.get(), c.get()}, {{1, 2}, {40}, {}}), (Floats{3, 9, 300}));
  EXPECT_EQ(recallAll({c.get(), a.get()}, {{5}, {3}}), (Floats{15, 18})) << "in another order and number";
  EXPECT_EQ(attn_session_length(a.get()), 3);
  EXPECT_EQ(attn_session_length(b.get()), 4);
  EXPECT_EQ(attn_session_length(c.get()), 1);
}

TEST_F(SessionTest, PlacesAreAlignedWhateverTheCapacity) {
  for (int64_t capacity : {0, 1, 3, 1000}) {
    SessionPointer session = create(capacity);
    for (size_t slot : {0u, 1u})
      EXPECT_EQ(reinterpret_cast<uintptr_t>(session->rows.slot(slot)) % 64, 0u);
    EXPECT_GE(session->rows.slot(1) - session->rows.slot(0), capacity * 8);
    giveSome(session, twice, {1, 2, 3});
    for (size_t slot : {3u, 4u})
      EXPECT_EQ(reinterpret_cast<uintptr_t>(session->rows.slot(slot)) % 64, 0u);
  }
}

TEST_F(SessionTest, TheirCapacityIsTheLimit) {
  SessionPointer session = create(4), other = create(100);
  recallOne(session, {1, 2, 3});
  recallAll({other.get(), session.get()}, {{5}, {1, 1}});
  EXPECT_EQ(failure(), "function `recall`: session 1 holds 3 rows and gets 2 more along `T`, its capacity is 4: create "
                       "it with a larger one, or forget rows with attn_session_truncate or attn_session_reset");
  EXPECT_EQ(attn_session_length(other.get()), 0) << "nothing has run";
  EXPECT_EQ(attn_session_length(session.get()), 3);
  EXPECT_STREQ(attn_session_error(session.get()), attn_last_error()) << "asking for the length is no call";
  EXPECT_EQ(recallOne(session, {4}), (Floats{30})) << "the session is usable, up to its last row";
  EXPECT_STREQ(attn_session_error(session.get()), "");
  recallOne(session, {1});
  EXPECT_EQ(status, 1);
  EXPECT_EQ(recallOne(session, {}), Floats());
  EXPECT_EQ(status, 0);
}

TEST_F(SessionTest, TheTableOfPositionsIsTheLimit) {
  SessionPointer session = create(100);
  recallOne(session, {1, 1, 1, 1, 1, 1});
  recallOne(session, {1, 1, 1});
  EXPECT_EQ(failure(),
            "function `recall`: session 0 holds 6 rows and gets 3 more along `T`, the model allows 8: forget "
            "rows with attn_session_truncate or attn_session_reset");
  EXPECT_EQ(recallOne(session, {1, 1}), (Floats{21, 24}));
}

TEST_F(SessionTest, AFailedCallChangesNothing) {
  SessionPointer session = create();
  recallOne(session, {1, 2});
  fakeRunStatus = 5;
  recallOne(session, {7});
  EXPECT_EQ(failure(), "function `recall`: the generated code failed (5)");
  answerOne(session, 7, {1});
  EXPECT_EQ(status, 1);
  fakeRunStatus = 0;
  EXPECT_EQ(attn_session_length(session.get()), 2);
  EXPECT_EQ(session->rows.kept(1), 0) << "and nothing was kept";
  EXPECT_EQ(attn_session_keep(session.get(), Rows{1}.data(), 1), 0) << "the call before it is still the last one";
  EXPECT_EQ(recallOne(session, {4}), (Floats{18}));
}

TEST_F(SessionTest, WhatIsGivenOnceIsKept) {
  SessionPointer session = create();
  // y = 3 x + 7 * (2 + 3): each of the seven numbers kept of a row
  EXPECT_EQ(answerOne(session, 1, {2, 3}), (Floats{38, 0, 6, 2}));
  EXPECT_EQ(answerOne(session, 1, {}), (Floats{41, 1, 6, 2}));
  answerOne(session, 1, {2, 3});
  EXPECT_EQ(failure(), "function `answer`: session 0 keeps 2 rows of `S` already and is given 2: give none, or forget "
                       "them with attn_session_reset");
  EXPECT_EQ(answerOne(session, 1, {}), (Floats{44, 2, 6, 2}));
}

TEST_F(SessionTest, WhatIsGivenOnceMustBeGiven) {
  SessionPointer session = create();
  answerOne(session, 1, {});
  EXPECT_EQ(failure(),
            "function `answer`: session 0 keeps no rows of `S` and is given none: its first call gives them");
  EXPECT_EQ(answerOne(session, 1, {1}), (Floats{10, 0, 6, 1}));
}

TEST_F(SessionTest, WhatIsGivenOnceMayComeFromSeveralFunctions) {
  SessionPointer session = create();
  recallOne(session, {1, 2});
  EXPECT_EQ(giveSome(session, note, {2, 3}), (Floats{0, 6, 2})) << "it caches nothing: no row lies before its own";
  answerOne(session, 1, {});
  EXPECT_EQ(failure(), "function `answer`: session 0 keeps no rows of `S` and is given none: its first call gives them")
      << "only one of its places has rows";
  giveSome(session, twice, {4});
  answerOne(session, 1, {});
  EXPECT_EQ(failure(), "function `answer`: session 0 keeps 2 rows of `S` in one place and 1 in another: it was given "
                       "them by functions that do not go together");
  ASSERT_EQ(attn_session_reset(session.get()), 0);
  giveSome(session, note, {2, 3});
  giveSome(session, twice, {4, 4});
  EXPECT_EQ(answerOne(session, 1, {}), (Floats{3 + 5 + 6 * 8, 0, 6, 2}));
  EXPECT_EQ(attn_session_length(session.get()), 1);
}

TEST_F(SessionTest, ResetMakesThemAsNew) {
  SessionPointer session = create();
  answerOne(session, 1, {5});
  ASSERT_EQ(attn_session_reset(session.get()), 0);
  EXPECT_EQ(attn_session_length(session.get()), 0);
  EXPECT_EQ(answerOne(session, 2, {1}), (Floats{13, 0, 6, 1}));
}

TEST_F(SessionTest, TruncateForgetsTheRowsBehind) {
  SessionPointer session = create();
  answerOne(session, 1, {1});
  recallOne(session, {100, 200});
  ASSERT_EQ(attn_session_truncate(session.get(), 1), 0);
  EXPECT_EQ(attn_session_length(session.get()), 1);
  EXPECT_EQ(answerOne(session, 1, {}), (Floats{13, 1, 6, 1})) << "what was given once stays";
  ASSERT_EQ(attn_session_truncate(session.get(), 2), 0);
  EXPECT_EQ(attn_session_truncate(session.get(), 3), 1);
  EXPECT_STREQ(attn_last_error(), "attn_session_truncate: the session holds 2 rows, it cannot be cut to 3");
  EXPECT_STREQ(attn_session_error(session.get()), attn_last_error());
  EXPECT_EQ(attn_session_truncate(session.get(), -1), 1);
  EXPECT_STREQ(attn_last_error(), "attn_session_truncate: the session holds 2 rows, it cannot be cut to -1");
  EXPECT_EQ(attn_session_length(session.get()), 2);
  ASSERT_EQ(attn_session_truncate(session.get(), 0), 0);
  EXPECT_STREQ(attn_session_error(session.get()), "");
  EXPECT_EQ(recallOne(session, {1}), (Floats{3}));
}

TEST_F(SessionTest, ForksGoTheirOwnWay) {
  SessionPointer session = create();
  answerOne(session, 1, {1});
  SessionPointer a(attn_session_fork(session.get())), b(attn_session_fork(session.get()));
  ASSERT_TRUE(a && b) << attn_last_error();
  EXPECT_EQ(attn_session_length(a.get()), 1);
  EXPECT_EQ(answerOne(a, 10, {}), (Floats{40, 1, 6, 1}));
  EXPECT_EQ(recallAll({b.get(), session.get()}, {{20}, {30, 40}}), (Floats{63, 93, 213}));
  EXPECT_EQ(recallOne(a, {1}), (Floats{36}));
  session.reset();
  EXPECT_EQ(recallOne(b, {1}), (Floats{66})) << "a copy outlives what it was copied from";
}

TEST_F(SessionTest, ForksShareNoProbeAndNoError) {
  SessionPointer session = create(1);
  ASSERT_EQ(attn_session_probe(
                session.get(),
                [](void *, const char *, int32_t, const int64_t *, int64_t, const int64_t *const *, const float *) {},
                nullptr),
            0);
  recallOne(session, {1, 2});
  SessionPointer copy(attn_session_fork(session.get()));
  EXPECT_EQ(copy->probe, nullptr);
  EXPECT_STREQ(attn_session_error(copy.get()), "");
}

TEST_F(SessionTest, KeepChoosesAmongTheRowsOfTheLastCall) {
  SessionPointer session = create();
  recallOne(session, {1});
  recallOne(session, {10, 20, 30, 40});
  ASSERT_EQ(attn_session_keep(session.get(), Rows{1, 3}.data(), 2), 0);
  EXPECT_EQ(attn_session_length(session.get()), 3);
  EXPECT_EQ(recallOne(session, {5, 6}), (Floats{198, 216}));
  ASSERT_EQ(attn_session_keep(session.get(), nullptr, 0), 0);
  EXPECT_EQ(recallOne(session, {5}), (Floats{198}));
  ASSERT_EQ(attn_session_keep(session.get(), Rows{0}.data(), 1), 0);
  EXPECT_EQ(attn_session_length(session.get()), 4);
}

TEST_F(SessionTest, KeepNeedsACallAndItsRows) {
  const char *noCall =
      "attn_session_keep: no call has cached rows since the session was made, reset, truncated or chosen from";
  SessionPointer session = create();
  auto failureOf = [&](const Rows &rows) -> std::string {
    int32_t failed = attn_session_keep(session.get(), rows.data(), static_cast<int64_t>(rows.size()));
    EXPECT_STREQ(attn_session_error(session.get()), failed ? attn_last_error() : "");
    return failed ? attn_last_error() : "";
  };
  EXPECT_EQ(failureOf({}), noCall);
  recallOne(session, {1});
  recallOne(session, {2, 3});
  EXPECT_EQ(failureOf({0, 2}), "attn_session_keep: rows[1] is 2, the numbers should ascend within 0 .. 1");
  EXPECT_EQ(failureOf({-1}), "attn_session_keep: rows[0] is -1, the numbers should ascend within 0 .. 1");
  EXPECT_EQ(failureOf({1, 0}), "attn_session_keep: rows[1] is 0, the numbers should ascend within 0 .. 1");
  EXPECT_EQ(failureOf({1, 1}), "attn_session_keep: rows[1] is 1, the numbers should ascend within 0 .. 1");
  EXPECT_EQ(failureOf({0, 1, 2}), "attn_session_keep: the last call cached 2 rows, 3 of them cannot be kept");
  EXPECT_EQ(attn_session_keep(session.get(), nullptr, 1), 1);
  EXPECT_EQ(attn_session_keep(session.get(), nullptr, -1), 1);
  EXPECT_STREQ(attn_last_error(), "attn_session_keep: the last call cached 2 rows, -1 of them cannot be kept");
  EXPECT_NE(attn_session_keep(session.get(), nullptr, 1), 0);
  EXPECT_STREQ(attn_last_error(), "attn_session_keep: the rows are null");
  EXPECT_EQ(attn_session_length(session.get()), 3) << "nothing has changed";
  EXPECT_EQ(failureOf({1}), "");
  EXPECT_EQ(failureOf({0}), noCall);
  EXPECT_EQ(recallOne(session, {1}), (Floats{15}));
  ASSERT_EQ(attn_session_truncate(session.get(), 3), 0);
  EXPECT_EQ(failureOf({0}), noCall);
}

TEST_F(SessionTest, KeepWorksInAFork) {
  SessionPointer session = create();
  recallOne(session, {1, 2, 3});
  SessionPointer copy(attn_session_fork(session.get()));
  ASSERT_EQ(attn_session_keep(copy.get(), Rows{2}.data(), 1), 0);
  EXPECT_EQ(recallOne(copy, {0}), (Floats{9}));
  EXPECT_EQ(recallOne(session, {0}), (Floats{18}));
}

TEST_F(SessionTest, NullAndBusySessionsAreRefused) {
  EXPECT_EQ(attn_session_length(nullptr), -1);
  EXPECT_STREQ(attn_last_error(), "attn_session_length: the session is null");
  EXPECT_EQ(attn_session_reset(nullptr), 1);
  EXPECT_STREQ(attn_last_error(), "attn_session_reset: the session is null");
  EXPECT_EQ(attn_session_truncate(nullptr, 0), 1);
  EXPECT_STREQ(attn_last_error(), "attn_session_truncate: the session is null");
  EXPECT_EQ(attn_session_fork(nullptr), nullptr);
  EXPECT_STREQ(attn_last_error(), "attn_session_fork: the session is null");
  EXPECT_EQ(attn_session_keep(nullptr, nullptr, 0), 1);
  EXPECT_STREQ(attn_last_error(), "attn_session_keep: the session is null");

  SessionPointer session = create();
  recallOne(session, {1});
  const void *by;
  ASSERT_TRUE(session->claim(this, by));
  EXPECT_EQ(attn_session_length(session.get()), -1);
  EXPECT_STREQ(attn_last_error(), "attn_session_length: the session is in use by a call");
  EXPECT_EQ(attn_session_reset(session.get()), 1);
  EXPECT_STREQ(attn_last_error(), "attn_session_reset: the session is in use by a call");
  EXPECT_EQ(attn_session_truncate(session.get(), 0), 1);
  EXPECT_STREQ(attn_last_error(), "attn_session_truncate: the session is in use by a call");
  EXPECT_EQ(attn_session_fork(session.get()), nullptr);
  EXPECT_STREQ(attn_last_error(), "attn_session_fork: the session is in use by a call");
  EXPECT_EQ(attn_session_keep(session.get(), nullptr, 0), 1);
  EXPECT_STREQ(attn_last_error(), "attn_session_keep: the session is in use by a call");
  EXPECT_STREQ(attn_session_error(session.get()), "");
  session->leave();
  EXPECT_EQ(recallOne(session, {1}), (Floats{6}));
}

TEST_F(SessionTest, ThatCannotBeHadAreRefused) {
  const char *message = "out of memory: a session of `fake` with the capacity %lld cannot have that much room";
  for (int64_t capacity : {INT64_MAX, INT64_MAX / 8, INT64_MAX / 16, int64_t(1) << 56}) {
    Text expected;
    expected.format(message, static_cast<long long>(capacity));
    EXPECT_FAILS(attn_session_create(model.get(), capacity), std::string(expected.view()));
  }
  SessionPointer session = create();
  int64_t sources[] = {0, int64_t(1) << 50};
  EXPECT_FALSE(session->rows.fill(2, sources[1]));
  EXPECT_STREQ(attn_last_error(), "out of memory: 1125899906842624 rows cannot be kept");
}

// Kilobytes of this process in memory.
int64_t residentKilobytes() {
  int64_t size = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> size >> pages;
  return pages * sysconf(_SC_PAGESIZE) >> 10;
}

TEST_F(SessionTest, RowsThatNobodyWroteCostNothing) {
  int64_t before = residentKilobytes();
  std::vector<SessionPointer> sessions;
  for (int i = 0; i < 64; ++i) {
    sessions.push_back(create(100'000'000)); // 1.6 GB each
    ASSERT_TRUE(sessions.back()) << attn_last_error();
    recallOne(sessions.back(), {1, 2, 3});
  }
  EXPECT_LT(residentKilobytes() - before, 64 * 64);
}

// AddressSanitizer holds back what was freed, so that memory says nothing there; it watches for leaks itself.
#if __has_feature(address_sanitizer)
constexpr int64_t heldBack = 256 << 10;
#else
constexpr int64_t heldBack = 0;
#endif

TEST_F(SessionTest, ComingAndGoingLeaveNothingBehind) {
  auto round = [&] {
    for (int i = 0; i < 200; ++i) {
      SessionPointer a = create(1000), b = create(7);
      answerOne(a, 1, std::vector<int32_t>(3000, 1));
      SessionPointer copy(attn_session_fork(a.get()));
      recallAll({a.get(), b.get(), copy.get()}, {{1, 2}, {3}, {4}});
      attn_session_keep(a.get(), Rows{1}.data(), 1);
      attn_session_reset(copy.get());
      answerOne(copy, 1, std::vector<int32_t>(2000, 1));
    }
  };
  round();
  int64_t before = residentKilobytes();
  for (int i = 0; i < 5; ++i)
    round();
  EXPECT_LT(residentKilobytes() - before, 1024 + heldBack);
}

TEST_F(SessionTest, SeveralThreadsInOneAreRefusedOrServed) {
  SessionPointer session = create(1'000'000);
  std::atomic<int> wrong{0};
  auto work = [&] {
    for (int i = 0; i < 2000; ++i) {
      int64_t length = attn_session_length(session.get());
      if (length < 0)
        wrong += std::string(attn_last_error()) != "attn_session_length: the session is in use by a call";
      if (attn_session_reset(session.get()))
        wrong += std::string(attn_last_error()) != "attn_session_reset: the session is in use by a call";
      SessionPointer copy(attn_session_fork(session.get()));
      wrong += !copy && std::string(attn_last_error()) != "attn_session_fork: the session is in use by a call";
    }
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace attn
