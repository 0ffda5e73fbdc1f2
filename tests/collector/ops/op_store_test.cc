#include "collector/ops/op_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "collector/import/analysis.h"
#include "collector/import/fathom/fathom_importer.h"
#include "collector/import/fathom/recording_file.h"
#include "collector/import/fathom/stored_job.h"
#include "collector/ingest/agent_session.h"
#include "collector/ops/job_folder.h"
#include "proto/packing/pack_ops.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint32_t kWorld = 4;

v1::AgentMessage OpsOf(std::uint32_t rank, std::int64_t iteration, std::uint64_t serial) {
  v1::RowsReply rows;
  rows.set_job("train");
  v1::RankRows& part = *rows.add_ranks();
  part.set_rank(rank);
  for (std::int64_t i = 0; i < 5; ++i) {
    v1::CommOp& op = *part.add_ops();
    op.set_op_id(static_cast<std::uint64_t>(iteration * 5 + i));
    op.set_group(kWorldGroup);
    op.set_sequence(static_cast<std::uint64_t>(996 + iteration * 5 + i));
    op.set_kind(1);
    op.set_iteration(iteration);
    op.set_enter_ns(50'000'000'000 + iteration * 100'000'000 + i * 1'000'000);
    op.set_end_ns(op.enter_ns() + 500'000);
  }
  v1::AgentMessage message;
  *message.mutable_ops() = PackOps(rows, serial);
  return message;
}

// A collector's ingest with a store of ops; Again() is one that comes after it.
struct OpStoreTest : testing::Test {
  const fs::path folder = fs::path(testing::TempDir()) / ("ops_" + std::to_string(getpid()));
  FakeClock clock;
  OpStoreSettings settings{.folder = folder.string(), .jobs = KeptJobs({"tra*"})};
  JobTable jobs{clock, {4, 1000}};
  SessionRegistry registry{clock};
  IngestCounters counters;
  RowRequests requests{registry, counters, clock};
  IngestContext context{jobs, registry, requests, counters, [](const std::string&) {}};
  std::unique_ptr<OpStore> store;
  std::unique_ptr<AgentSession> sessions[2];
  std::uint64_t number = 1;
  std::uint32_t iteration_us = 100'000;
  Recording recording;

  void SetUp() override {
    fs::remove_all(folder);
    Again();
  }
  void TearDown() override {
    sessions[0].reset(), sessions[1].reset();
    store.reset();
    fs::remove_all(folder);
  }
  void Again() {
    store.reset();
    auto opened = OpStore::Open(settings, clock);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store = *std::move(opened);
    context.ops = store.get();
  }
  void Connect() {
    for (std::uint32_t node = 0; node < 2; ++node) {
      sessions[node] =
          std::make_unique<AgentSession>(++number, context, std::weak_ptr<RowsChannel>());
      sessions[node]->OnMessage(HelloFrom("n" + std::to_string(node)));
    }
    for (std::uint32_t rank = 0; rank < kWorld; ++rank) {
      Tell(rank / 2, Message(++number, RankOf(rank, kWorld)));
      Tell(rank / 2, Message(++number, GroupOf(rank, kWorld)));
    }
  }
  void Tell(std::uint32_t node, const v1::AgentMessage& message) {
    v1::AgentMessage numbered = message;
    numbered.set_number(++number);
    sessions[node]->OnMessage(numbered);
  }
  void Iterate(std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      clock.Advance(Nanos(100'000'000));
      for (std::uint32_t rank = 0; rank < kWorld; ++rank) {
        BatchShape shape;
        shape.rank = rank;
        shape.first = i;
        shape.duration_us = iteration_us;
        shape.anchor = static_cast<std::uint64_t>(1000 + 5 * i);
        Tell(rank / 2, Message(0, Batch(shape)));
        Tell(rank / 2, OpsOf(rank, i, static_cast<std::uint64_t>(i * kWorld + rank + 1)));
      }
    }
  }
  absl::Status Read(WallNs from = {}, WallNs to = {}) {
    recording = Recording();
    const auto files = FilesOfStoredJob(folder.string(), "train", from, to);
    if (!files.ok()) return files.status();
    ImportLimits limits;
    limits.from = from;
    limits.to = to;
    return FathomImporter().Read(*files, limits, recording);
  }
  // Of which ranks the store has health, in the order in which it came. Closes the store.
  std::vector<std::uint32_t> HealthsKept() {
    std::vector<std::uint32_t> ranks;
    store.reset();
    auto file = RecordingFile::Open(SegmentsIn((folder / "train").string()).front().path, {});
    EXPECT_TRUE(file.ok()) << file.status();
    for (auto entry = file->Next(); entry.ok() && *entry != nullptr; entry = file->Next()) {
      for (const v1::RankHealth& health : (*entry)->message().health().ranks()) {
        ranks.push_back(health.rank());
      }
    }
    return ranks;
  }
  std::size_t Segments() const { return SegmentsIn((folder / "train").string()).size(); }
};

TEST_F(OpStoreTest, WhatWasKeptIsReadAgainAsTheJobItWas) {
  Connect();
  Iterate(0, 40);
  store.reset();
  ASSERT_TRUE(Read().ok());
  const diagnosis::JobView& view = recording.view;
  EXPECT_EQ(view.name, "train");
  EXPECT_EQ(view.nodes, 2u);
  ASSERT_THAT(view.window, SizeIs(40));
  for (const auto& summary : view.window) EXPECT_THAT(summary.ranks, SizeIs(kWorld));
  ASSERT_THAT(view.rows, SizeIs(kWorld));
  for (const auto& [rank, rows] : view.rows) {
    ASSERT_THAT(rows.ops, SizeIs(200));
    EXPECT_EQ(rows.ops.front().iteration, Iteration(0));
    EXPECT_EQ(rows.ops.back().iteration, Iteration(39));
  }
  EXPECT_THAT(recording.notes, IsEmpty());
}

TEST_F(OpStoreTest, AStretchIsReadWithWhoTakesPartInIt) {
  Connect();
  Iterate(0, 20);
  const WallNs from = clock.Wall();
  Iterate(20, 30);
  const WallNs to = clock.Wall();
  Iterate(30, 40);
  store.reset();
  ASSERT_TRUE(Read(from, to).ok());
  EXPECT_THAT(recording.view.ranks, SizeIs(kWorld));
  ASSERT_FALSE(recording.view.window.empty());
  EXPECT_GE(recording.view.window.front().index, Iteration(19));
  EXPECT_LE(recording.view.window.back().index, Iteration(30));
}

TEST_F(OpStoreTest, AStretchIsComparedWithAnEarlierOneOfTheSameJob) {
  Connect();
  Iterate(0, 30);
  const WallNs between = clock.Wall();
  iteration_us = 150'000;
  Iterate(30, 60);
  store.reset();
  const auto files = [&](WallNs from, WallNs to) {
    return FilesOfStoredJob(folder.string(), "train", from, to).value();
  };
  ImportLimits limits;
  limits.from = between;
  const auto analysis =
      Analyze(files(between, {}), "auto", limits, {}, {.paths = files({}, between), .to = between});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  EXPECT_THAT(analysis->report, HasSubstr("\"result\":\"slower\""));
  EXPECT_THAT(analysis->report, HasSubstr("\"before_s\":0.1,\"after_s\":0.15"));
}

TEST_F(OpStoreTest, OfARankThatGoesOnOneInFiveHealthsIsKeptAndOfASilentOneAll) {
  Connect();
  for (int i = 0; i < 10; ++i) Tell(0, Message(0, HealthOf(0)));
  for (int i = 0; i < 3; ++i) Tell(0, Message(0, HealthOf(0, "S", 5'000'000'000)));
  store.reset();
  auto file = RecordingFile::Open(SegmentsIn((folder / "train").string()).front().path, {});
  ASSERT_TRUE(file.ok());
  int silent = 0, going_on = 0;
  for (auto entry = file->Next(); entry.ok() && *entry != nullptr; entry = file->Next()) {
    for (const v1::RankHealth& health : (*entry)->message().health().ranks()) {
      ++(health.last_event_age_ns() > 0 ? silent : going_on);
    }
  }
  EXPECT_EQ(going_on, 2);
  EXPECT_EQ(silent, 3);
}

TEST_F(OpStoreTest, ARankThatIsNotTakenCostsItsOwnHealthAlone) {
  Connect();
  v1::AgentMessage message = Message(0, HealthOf(0));
  *message.mutable_health()->add_ranks() = HealthOf(3);  // the other node's
  *message.mutable_health()->add_ranks() = HealthOf(1);
  Tell(0, message);
  EXPECT_EQ(counters.rejected[static_cast<std::size_t>(RejectReason::kNotOwner)], 1u);
  EXPECT_THAT(HealthsKept(), ElementsAre(0u, 1u));
}

TEST_F(OpStoreTest, OnlyJobsThatAreNamedAreKept) {
  Connect();
  Tell(0, Message(0, RankOf(0, 1, "other")));
  v1::AgentMessage foreign = OpsOf(0, 0, 9);
  foreign.mutable_ops()->set_job("other");
  Tell(0, foreign);
  EXPECT_EQ(counters.rejected[static_cast<std::size_t>(RejectReason::kUnasked)], 1u);
  store.reset();
  EXPECT_THAT(JobsIn(folder.string()), ElementsAre("train"));
}

TEST_F(OpStoreTest, ABlockThatComesTwiceIsKeptOnce) {
  Connect();
  Tell(0, OpsOf(0, 0, 7));
  Tell(0, OpsOf(0, 0, 7));
  EXPECT_EQ(store->counters().repeats, 1u);
  EXPECT_EQ(store->counters().ops, 5u);
}

// A block that was written, and whose agent heard nothing of it, is sent to the next collector too.
TEST_F(OpStoreTest, ABlockOfTwoCollectorsIsReadOnce) {
  Connect();
  Iterate(0, 20);
  Tell(0, OpsOf(0, 19, 7777));
  Again();
  Connect();
  Tell(0, OpsOf(0, 19, 7777));
  store.reset();
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording.view.rows.at(RankId(0)).ops, SizeIs(105));
}

std::size_t EntriesOf(const std::string& path) {
  auto file = RecordingFile::Open(path, {});
  std::size_t entries = 0;
  while (file.ok()) {
    const auto entry = file->Next();
    if (!entry.ok() || *entry == nullptr) break;
    ++entries;
  }
  return entries;
}

TEST_F(OpStoreTest, WhoTakesPartIsWrittenOnceHoweverOftenAgentsComeBack) {
  const std::string who = (folder / "train" / std::string(kWhoFile)).string();
  Connect();
  Again();
  const std::size_t once = EntriesOf(who);
  EXPECT_EQ(once, 2 + 2 * kWorld) << "two agents, their ranks, each in a communicator";
  fs::remove_all(folder);
  Again();
  for (int stream = 0; stream < 5; ++stream) {
    Connect();
    v1::RankGone gone;
    gone.set_job("train"), gone.set_rank(3), gone.set_pid(1003), gone.set_how("exited");
    Tell(1, Message(0, gone));
  }
  store.reset();
  EXPECT_EQ(EntriesOf(who), once + 1);
}

TEST_F(OpStoreTest, WhatIsSettledIsOnTheDisk) {
  Connect();
  const std::uint64_t record = store->Keep("train", {"n0", "boot"}, OpsOf(0, 0, 7));
  std::atomic<int> settled{0};
  std::size_t entries = 0;
  ASSERT_TRUE(store->WhenSettled(record, [&] {
    entries = EntriesOf(SegmentsIn((folder / "train").string()).front().path);
    ++settled;
  }));
  usleep(600'000);  // the thread comes around twice
  EXPECT_EQ(settled, 0) << "the block is not old enough";
  clock.Advance(OpStore::kBlockAge);
  for (int i = 0; i < 100 && settled == 0; ++i) usleep(50'000);
  ASSERT_EQ(settled, 1);
  EXPECT_EQ(entries, 1u);
  EXPECT_FALSE(store->WhenSettled(record, [] {}));
}

TEST_F(OpStoreTest, WhatNoDiskTakesIsSettledToo) {
  std::ofstream(folder / "train") << "a file where the folder should be";
  Connect();
  const std::uint64_t record = store->Keep("train", {"n0", "boot"}, OpsOf(0, 0, 7));
  std::atomic<int> settled{0};
  ASSERT_TRUE(store->WhenSettled(record, [&] { ++settled; }));
  clock.Advance(OpStore::kBlockAge);
  for (int i = 0; i < 100 && settled == 0; ++i) usleep(50'000);
  EXPECT_EQ(settled, 1);
  EXPECT_EQ(store->counters().dropped_ops, 5u);
}

// Of whoever writes the clock is asked, and holds it up until it is let go of.
struct HeldClock final : Clock {
  WallNs Wall() const override {
    if (std::this_thread::get_id() != owner && held.load()) {
      writing = true;
      while (held) usleep(1000);
    }
    return inner.Wall();
  }
  MonoNs Mono() const override { return inner.Mono(); }
  Nanos ThreadCpu() const override { return {}; }

  FakeClock inner;
  const std::thread::id owner = std::this_thread::get_id();
  std::atomic<bool> held{false};
  mutable std::atomic<bool> writing{false};
};

TEST(OpStoreAloneTest, WhatCameWhileItWroteIsWrittenBeforeItEnds) {
  const fs::path folder = fs::path(testing::TempDir()) / ("ops_held_" + std::to_string(getpid()));
  fs::remove_all(folder);
  HeldClock clock;
  auto store = OpStore::Open({.folder = folder.string(), .jobs = KeptJobs({"*"})}, clock).value();
  store->Keep("train", {"n0", "boot"}, OpsOf(0, 0, 1));
  clock.held = true;
  clock.inner.Advance(OpStore::kBlockAge);
  while (!clock.writing) usleep(1000);
  store->Keep("train", {"n0", "boot"}, OpsOf(0, 1, 2));
  std::thread ending([&] { store.reset(); });
  usleep(100'000);  // it waits for the writer by now
  clock.held = false;
  ending.join();
  EXPECT_EQ(EntriesOf(SegmentsIn((folder / "train").string()).front().path), 2u);
  fs::remove_all(folder);
}

TEST_F(OpStoreTest, OpsOfAnotherNodesRankAreRefused) {
  Connect();
  Tell(1, OpsOf(0, 0, 7));
  EXPECT_EQ(counters.rejected[static_cast<std::size_t>(RejectReason::kNotOwner)], 1u);
  EXPECT_EQ(store->counters().ops, 0u);
}

TEST_F(OpStoreTest, ACollectorThatComesAfterGoesOnInAnotherSegment) {
  Connect();
  Iterate(0, 20);
  Again();
  Connect();
  Iterate(20, 40);
  store.reset();
  EXPECT_EQ(Segments(), 2u);
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording.view.window, SizeIs(40));
  EXPECT_THAT(recording.notes, IsEmpty());
}

TEST_F(OpStoreTest, ATornTailIsCountedAndCostsItself) {
  Connect();
  Iterate(0, 20);
  Again();
  Connect();
  Iterate(20, 40);
  store.reset();
  const std::string last = SegmentsIn((folder / "train").string()).back().path;
  fs::resize_file(last, fs::file_size(last) - 5);
  Again();
  EXPECT_EQ(store->counters().files.torn, 1u);
  store.reset();
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording.view.window, SizeIs(20));
  EXPECT_THAT(recording.notes, ElementsAre(HasSubstr("cut and left out")));
}

TEST_F(OpStoreTest, TheOldestSegmentsGoBeyondTheBounds) {
  settings.bounds = {.segment_bytes = 1, .max_bytes = 12'000};
  for (int life = 0; life < 20; ++life) {
    Again();
    if (life == 0) Connect();
    Iterate(life * 20, life * 20 + 20);
  }
  store.reset();
  EXPECT_LT(Segments(), 20u);
  std::uint64_t bytes = 0;
  for (const SegmentFile& file : SegmentsIn((folder / "train").string())) bytes += file.bytes;
  EXPECT_LT(bytes, 12'000u);
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording.view.ranks, SizeIs(kWorld)) << "who takes part stays";
  EXPECT_EQ(recording.view.window.back().index, Iteration(399));
}

TEST_F(OpStoreTest, AJobOfWhichNothingIsLeftLeavesNoFolder) {
  settings.bounds.max_age = Nanos::FromSeconds(3600);
  Again();
  Connect();
  Iterate(0, 5);
  Again();
  clock.Advance(Nanos::FromSeconds(2 * 3600));
  // Files carry the time of this machine, which the test's clock is not.
  clock.Advance(
      Nanos(std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                              .count() -
                                          clock.Wall().ns + 7'200'000'000'000)));
  Again();
  store.reset();
  EXPECT_THAT(JobsIn(folder.string()), IsEmpty());
}

TEST_F(OpStoreTest, ASecondWriterIsRefused) { EXPECT_FALSE(OpStore::Open(settings, clock).ok()); }

TEST_F(OpStoreTest, ADiskThatTakesNothingIsToldAndCounted) {
  std::ofstream(folder / "train") << "a file where the folder should be";
  Connect();
  Iterate(0, 5);
  clock.AdvanceSeconds(10);
  for (int i = 0; i < 100 && store->failing().empty(); ++i) usleep(50'000);
  EXPECT_THAT(store->failing(), HasSubstr("Not a directory"));
  for (int i = 0; i < 100 && store->counters().dropped_ops < 100; ++i) usleep(50'000);
  EXPECT_EQ(store->counters().dropped_ops, 100u);
}

TEST(JobFolder, ANameBecomesAFolderAndANameAgain) {
  for (const char* name : {"train", "a/b", "..", ".hidden", "a b%c", "ümlaut", "x.y-z_1"}) {
    const std::string folder = FolderNameOf(name);
    EXPECT_EQ(folder.find('/'), std::string::npos);
    EXPECT_NE(folder[0], '.');
    EXPECT_EQ(JobOfFolderName(folder), name);
  }
  EXPECT_EQ(JobOfFolderName("lost+found"), std::nullopt);
  EXPECT_EQ(JobOfFolderName("%4"), std::nullopt);
}

TEST(StoredJob, MomentsAreReadAsPeopleWriteThem) {
  const WallNs now(1'790'000'000'000'000'000);
  EXPECT_EQ(ReadMoment("90s", now)->ns, now.ns - 90'000'000'000);
  EXPECT_EQ(ReadMoment("2h", now)->ns, now.ns - 7'200'000'000'000);
  EXPECT_EQ(ReadMoment("1700000000.5", now)->ns, 1'700'000'000'500'000'000);
  EXPECT_EQ(ReadMoment("2026-11-21T13:40:15Z", now)->ns, 1'795'268'415'000'000'000);
  EXPECT_EQ(ReadMoment("2026-11-21T13:40:15+01:00", now)->ns, 1'795'264'815'000'000'000);
  EXPECT_FALSE(ReadMoment("yesterday", now).ok());
  EXPECT_FALSE(ReadMoment("", now).ok());
}

}  // namespace
}  // namespace fathom::collector
