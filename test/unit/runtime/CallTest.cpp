// Calls: right values however the weights lie in the file, ragged batches, defaults, and each misuse refused with the
// session still usable.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FakeModel.h"
#include "runtime/Error.h"
#include "runtime/Session.h"
#include <fstream>
#include <thread>
#include <unistd.h>

namespace attn {
using namespace test;
namespace {

class CallTest : public testing::Test {
protected:
  void SetUp() override { open(); }
  void TearDown() override { fakeSizingStatus = fakeRunStatus = 0, fakeExtraScratch = 0; }
  void open() {
    sessions.clear();
    model = folder.create();
    ASSERT_TRUE(model) << attn_last_error();
    for (int i = 0; i < 3; ++i)
      sessions.emplace_back(attn_session_create(model.get(), 100));
  }
  // Runs embed on these ids, cut at the offsets; the result, or nothing.
  Floats embed(const std::vector<int32_t> &ids, const std::vector<int64_t> &offsets, const Floats &shift = {}) {
    const int64_t *all[] = {offsets.data()};
    const void *inputs[] = {ids.data(), shift.empty() ? nullptr : shift.data()};
    Floats y(ids.size() * 2, -1);
    void *outputs[] = {y.data()};
    std::vector<attn_session *> some;
    for (size_t i = 0; i + 1 < offsets.size(); ++i)
      some.push_back(sessions[i].get());
    status = attn_run(some.data(), static_cast<int64_t>(some.size()), 0, inputs, all, outputs);
    return status ? Floats() : y;
  }
  std::string failure(const std::vector<int32_t> &ids, const std::vector<int64_t> &offsets) {
    embed(ids, offsets);
    EXPECT_STREQ(attn_session_error(sessions[0].get()), status ? attn_last_error() : "");
    return status ? attn_last_error() : "";
  }

  FakeFolder folder;
  ModelPointer model;
  std::vector<SessionPointer> sessions;
  int32_t status = 0;
};

// By hand: x = table[id]; y = [x . (1, 2) + 10, x . (3, 4) + 20] + shift.
const Floats expected = {16, 32, 22, 46, 28, 60};

TEST_F(CallTest, Computes) {
  EXPECT_EQ(embed({0, 1, 2}, {0, 3}), expected);
  EXPECT_EQ(embed({0, 1, 2}, {0, 3}, {0, 0, 5}), (Floats{15, 31, 21, 45, 32, 64}));
}

TEST_F(CallTest, RaggedBatchesEqualSingleCalls) {
  EXPECT_EQ(embed({0, 1, 2}, {0, 1, 1, 3}), expected);
  EXPECT_EQ(embed({}, {0, 0}), Floats());
  EXPECT_EQ(status, 0);
}

TEST_F(CallTest, WeightsMayLieAnyWay) {
  auto table = [&](TestTensor tensor, size_t padding) {
    std::vector<TestTensor> all = fakeTensorsWithout("emb.weight");
    all.insert(all.begin(), std::move(tensor));
    folder.write("model.safetensors", safetensorsOf(all, padding));
    open();
    return embed({0, 1, 2}, {0, 3});
  };
  Floats numbers = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(table(floats("emb.weight", {3, 2}, numbers), 3), expected) << "unaligned";
  EXPECT_EQ(table({"emb.weight", "F16", {3, 2}, halvesOf({0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600})}, 0),
            expected);
  EXPECT_EQ(table({"emb.weight", "BF16", {3, 2}, halvesOf({0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0})}, 1),
            expected);
}

TEST_F(CallTest, PackedPartsOfTwoTypesBecomeFloats) {
  std::vector<TestTensor> all = fakeTensorsWithout("layer.1.q");
  all.push_back({"layer.1.q", "F16", {1, 2}, halvesOf({0x3c00, 0x4000})});
  folder.tensors(all);
  open();
  EXPECT_EQ(embed({0, 1, 2}, {0, 3}), expected);
  all = fakeTensorsWithout("layer.1.q");
  for (TestTensor &tensor : all)
    if (tensor.name == "layer.1.k")
      tensor = {"layer.1.k", "BF16", {1, 2}, halvesOf({0x4040, 0x4080})};
  all.push_back({"layer.1.q", "BF16", {1, 2}, halvesOf({0x3f80, 0x4000})});
  folder.tensors(all);
  open();
  EXPECT_EQ(embed({0, 1, 2}, {0, 3}), expected) << "the pack function gets bfloat16";
}

TEST(PlainWeights, AreJoinedAndTurnedAround) {
  FakeFolder folder;
  folder.config("{}");
  // A plain weight of two parts, stored with the last dimension first: [2, 1] and [2, 1] in the file.
  std::string metadata =
      replaced(fakeMetadata, R"("rows": [1, 1], "turns": [2], "shape": [2, 2], "stored": "out_in", "packed_bytes": 16)",
               R"("rows": [1, 2], "turns": [2], "shape": [3, 2], "stored": "in_out")");
  attn_program program = attn_this_program;
  metadata = replaced(metadata, R"("hidden_size": 2, "rope.theta": 10000, "tie": null)", "");
  program.metadata = metadata.c_str();
  program.packs = nullptr;
  std::vector<TestTensor> all = {floats("layer.0.q", {2, 1}, {1, 2}), floats("layer.0.k", {2, 2}, {3, 5, 4, 6}),
                                 floats("layer.1.q", {2, 1}, {0, 0}), floats("layer.1.k", {2, 2}, {0, 0, 0, 0})};
  for (const TestTensor &tensor : fakeTensors())
    if (tensor.name.substr(0, 5) != "layer")
      all.push_back(tensor);
  folder.tensors(all);
  ModelPointer model(createModel(program, folder.folder.c_str(), 0));
  ASSERT_TRUE(model) << attn_last_error();
  const float *w = static_cast<const float *>(model->weights.pointers()[1]);
  EXPECT_EQ(Floats(w, w + 6), (Floats{1, 2, 3, 4, 5, 6}));
}

// Megabytes of this process in memory.
int64_t residentMegabytes() {
  int64_t size = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> size >> pages;
  return pages * sysconf(_SC_PAGESIZE) >> 20;
}

TEST(PlainWeights, ThatWereConvertedAreNotInMemoryTwice) {
  FakeFolder folder;
  constexpr int64_t rows = 16 << 20; // 64 MB in the file, 128 MB as float32
  folder.tensors({{"big", "F16", {rows, 2}, std::string(rows * 4, 0)}});
  std::string metadata = R"({"weights": [{"symbol": "big", "parts": ["big"], "shape": [16777216, 2], "functions": [0]}],
    "functions": [{"name": "f", "sequences": [], "params": [], "results": []}]})";
  attn_program program = attn_this_program;
  program.metadata = metadata.c_str();
  program.functions = 1;
  program.packs = nullptr;
  int64_t before = residentMegabytes();
  ModelPointer model(createModel(program, folder.folder.c_str(), 0));
  ASSERT_TRUE(model) << attn_last_error();
  EXPECT_LT(residentMegabytes() - before, 128 + 32);
}

TEST(PlainWeights, TooLargeToPackAreRefused) {
  FakeFolder folder;
  std::string metadata = replaced(fakeMetadata, R"("packed_bytes": 16)", R"("packed_bytes": 1152921504606846976)");
  attn_program program = attn_this_program;
  program.metadata = metadata.c_str();
  EXPECT_FAILS(createModel(program, folder.folder.c_str(), 0),
               "out of memory: the weights need 2305843009213693952 bytes");
}

TEST_F(CallTest, WrongOffsetsAreRefused) {
  EXPECT_EQ(failure({0, 1}, {1, 2}), "function `embed`: the offsets of `T` should begin with 0, not 1");
  EXPECT_EQ(failure({0, 1}, {0, 2, 1}),
            "function `embed`: the offsets of `T` should ascend: sequence 1 begins at 2 and ends at 1");
  EXPECT_EQ(failure(std::vector<int32_t>(101), {0, 101}),
            "function `embed`: sequence 0 has 101 rows of `T`, the model allows 100");
  EXPECT_EQ(embed({0, 1, 2}, {0, 3}), expected) << "the session is usable";
}

TEST_F(CallTest, IdsOutsideTheVocabularyAreRefused) {
  EXPECT_EQ(failure({0, 3}, {0, 2}),
            "function `embed`: parameter `ids` holds 3 at place 1 of sequence 0, it should be in 0 .. 2");
  EXPECT_EQ(failure({0, 1, -1}, {0, 2, 2, 3}),
            "function `embed`: parameter `ids` holds -1 at place 0 of sequence 2, it should be in 0 .. 2");
}

TEST_F(CallTest, NullsAreRefused) {
  int32_t ids[] = {0};
  float y[2];
  int64_t offsets[] = {0, 1};
  const int64_t *all[] = {offsets}, *noOffsets[] = {nullptr};
  const void *inputs[] = {ids, nullptr}, *noInputs[] = {nullptr, nullptr};
  void *outputs[] = {y}, *noOutputs[] = {nullptr};
  attn_session *one[] = {sessions[0].get()}, *none[] = {nullptr};
  auto failure = [&](attn_session **who, int64_t n, int32_t function, const void **in, const int64_t **at,
                     void **out) -> std::string {
    return attn_run(who, n, function, in, at, out) ? attn_last_error() : "";
  };
  EXPECT_EQ(failure(nullptr, 1, 0, inputs, all, outputs), "a call has at least one session");
  EXPECT_EQ(failure(one, 0, 0, inputs, all, outputs), "a call has at least one session");
  EXPECT_EQ(failure(none, 1, 0, inputs, all, outputs), "session 0 of the call is null");
  EXPECT_EQ(failure(one, 1, 6, inputs, all, outputs), "model `fake` has no function number 6");
  EXPECT_EQ(failure(one, 1, -1, inputs, all, outputs), "model `fake` has no function number -1");
  EXPECT_EQ(failure(one, 1, 0, nullptr, all, outputs), "function `embed`: the inputs are null");
  EXPECT_EQ(failure(one, 1, 0, noInputs, all, outputs), "function `embed`: parameter `ids` is null and has no default");
  EXPECT_EQ(failure(one, 1, 0, inputs, nullptr, outputs), "function `embed`: the offsets are null");
  EXPECT_EQ(failure(one, 1, 0, inputs, noOffsets, outputs), "function `embed`: the offsets of `T` are null");
  EXPECT_EQ(failure(one, 1, 0, inputs, all, nullptr), "function `embed`: the outputs are null");
  EXPECT_EQ(failure(one, 1, 0, inputs, all, noOutputs), "function `embed`: output 0 is null");
  EXPECT_EQ(failure(one, 1, 0, inputs, all, outputs), "");
}

TEST_F(CallTest, SessionsOfOthersAreRefused) {
  ModelPointer other = folder.create();
  SessionPointer foreign(attn_session_create(other.get(), 1));
  attn_session *mixed[] = {sessions[0].get(), foreign.get()}, *twice[] = {sessions[0].get(), sessions[0].get()};
  EXPECT_EQ(attn_run(mixed, 2, 0, nullptr, nullptr, nullptr), 1);
  EXPECT_STREQ(attn_last_error(), "session 1 of the call belongs to another model than session 0");
  EXPECT_EQ(attn_run(twice, 2, 0, nullptr, nullptr, nullptr), 1);
  EXPECT_STREQ(attn_last_error(), "session 1 of the call is in it twice");
  const void *by;
  ASSERT_TRUE(sessions[0]->claim(this, by));
  EXPECT_EQ(attn_run(twice, 1, 0, nullptr, nullptr, nullptr), 1);
  EXPECT_STREQ(attn_last_error(), "session 0 of the call is in use by another call");
  sessions[0]->leave();
  EXPECT_EQ(embed({0, 1, 2}, {0, 3}), expected);
}

TEST_F(CallTest, FunctionsLeftOutAreRefused) {
  folder.tensors(fakeTensorsWithout("g"));
  open();
  attn_session *one[] = {sessions[0].get()};
  EXPECT_EQ(attn_run(one, 1, 1, nullptr, nullptr, nullptr), 1);
  EXPECT_STREQ(attn_last_error(), "function `mean` was left out: the file has no tensor `g`");
}

TEST_F(CallTest, FailuresOfTheGeneratedCodeAreReported) {
  fakeSizingStatus = 3;
  EXPECT_EQ(failure({0}, {0, 1}), "function `embed`: the generated code could not size its memory (3)");
  fakeSizingStatus = 0, fakeRunStatus = 4;
  EXPECT_EQ(failure({0}, {0, 1}), "function `embed`: the generated code failed (4)");
  fakeRunStatus = 0, fakeExtraScratch = int64_t(1) << 60;
  EXPECT_EQ(failure({0}, {0, 1}),
            "function `embed`: out of memory: the call needs 1152921504606847048 bytes of scratch");
  fakeExtraScratch = 0;
  EXPECT_EQ(failure({0}, {0, 1}), "");
}

TEST_F(CallTest, OutputSizes) {
  int64_t offsets[] = {0, 3, 5}, huge[] = {0, INT64_MAX / 4};
  const int64_t *all[] = {offsets}, *tooMuch[] = {huge};
  EXPECT_EQ(attn_output_size(model.get(), 0, 0, 2, all), 10);
  EXPECT_EQ(attn_output_size(model.get(), 1, 0, 2, all), 4);
  EXPECT_EQ(attn_output_size(model.get(), 0, 1, 2, all), -1);
  EXPECT_STREQ(attn_last_error(), "function `embed` has no result number 1");
  EXPECT_EQ(attn_output_size(model.get(), 6, 0, 2, all), -1);
  EXPECT_STREQ(attn_last_error(), "model `fake` has no function number 6");
  EXPECT_EQ(attn_output_size(model.get(), 0, 0, 0, all), -1);
  EXPECT_STREQ(attn_last_error(), "a call has at least one sequence, not 0");
  attn_session *one[] = {sessions[0].get()};
  EXPECT_EQ(attn_run(one, 1, 1, reinterpret_cast<const void *const *>(all), tooMuch, nullptr), 1);
  EXPECT_STREQ(attn_last_error(), "function `mean`: sequence 0 makes `x` too large to count");
}

struct Seen {
  std::string name;
  std::vector<int64_t> dims;
  Floats data;
};

void see(void *user, const char *name, int32_t rank, const int64_t *dims, int64_t n, const int64_t *const *offsets,
         const float *data) {
  Seen &seen = *static_cast<Seen *>(user);
  seen = {name, std::vector<int64_t>(dims, dims + rank), Floats(data, data + offsets[0][n] * 2)};
}

TEST_F(CallTest, ProbesSeeTaps) {
  Seen seen;
  ASSERT_EQ(attn_session_probe(sessions[0].get(), see, &seen), 0);
  embed({2, 0}, {0, 1, 2});
  EXPECT_EQ(seen.name, "rows.7");
  EXPECT_EQ(seen.dims, (std::vector<int64_t>{-1, 2}));
  EXPECT_EQ(seen.data, (Floats{5, 6, 1, 2}));
  seen = {};
  ASSERT_EQ(attn_session_probe(sessions[0].get(), nullptr, nullptr), 0);
  embed({2, 0}, {0, 1, 2});
  EXPECT_EQ(seen.name, "");
}

TEST(Probe, NeedsTaps) {
  FakeFolder folder;
  std::string metadata = replaced(fakeMetadata, R"("taps": ["rows.{0}"],)", "");
  attn_program program = attn_this_program;
  program.metadata = metadata.c_str();
  ModelPointer model(createModel(program, folder.folder.c_str(), 0));
  ASSERT_TRUE(model) << attn_last_error();
  SessionPointer session(attn_session_create(model.get(), 1));
  EXPECT_EQ(attn_session_probe(session.get(), see, nullptr), 1);
  EXPECT_STREQ(attn_last_error(), "model `fake` was compiled without taps: attnc --probe keeps them");
}

TEST(Session, NeedsAModelAndACapacity) {
  EXPECT_FAILS(attn_session_create(nullptr, 1), "attn_session_create: the model is null");
  FakeFolder folder;
  ModelPointer model = folder.create();
  EXPECT_FAILS(attn_session_create(model.get(), -1), "a session cannot have the capacity -1");
}

TEST(Session, KeepsItsModelAlive) {
  FakeFolder folder;
  ModelPointer model = folder.create();
  SessionPointer session(attn_session_create(model.get(), 1));
  model.reset();
  int32_t ids[] = {1};
  float y[2];
  int64_t offsets[] = {0, 1};
  const int64_t *all[] = {offsets};
  const void *inputs[] = {ids, nullptr};
  void *outputs[] = {y};
  attn_session *one[] = {session.get()};
  ASSERT_EQ(attn_run(one, 1, 0, inputs, all, outputs), 0);
  EXPECT_EQ(y[1], 46);
}

TEST_F(CallTest, TwoThreadsWithASessionEach) {
  attn_model_threads(model.get(), 3);
  std::atomic<int> right{0};
  auto work = [&](attn_session *session) {
    std::vector<int32_t> ids(90);
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<int32_t>(i % 3);
    int64_t offsets[] = {0, 90};
    const int64_t *all[] = {offsets};
    const void *inputs[] = {ids.data(), nullptr};
    Floats y(180);
    void *outputs[] = {y.data()};
    bool same = true;
    for (int round = 0; round < 50; ++round) {
      std::fill(y.begin(), y.end(), 0);
      same = same && attn_run(&session, 1, 0, inputs, all, outputs) == 0;
      for (size_t i = 0; i < y.size(); ++i)
        same = same && y[i] == expected[i % 6];
    }
    right += same;
  };
  std::thread a(work, sessions[0].get()), b(work, sessions[1].get());
  a.join();
  b.join();
  EXPECT_EQ(right, 2);
}

TEST(LastError, BelongsToItsThread) {
  fail("mine");
  std::thread([] {
    EXPECT_STREQ(attn_last_error(), "");
    fail("theirs");
    EXPECT_STREQ(attn_last_error(), "theirs");
  }).join();
  EXPECT_STREQ(attn_last_error(), "mine");
}

} // namespace
} // namespace attn
