#include "collector/journal/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>

#include "collector/ingest/agent_session.h"
#include "collector/ingest/journal_replay.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

// A collector's jobs and its journal; Again() is one that comes after kill -9.
struct JournalTest : testing::Test {
  const fs::path folder = fs::path(testing::TempDir()) / ("journal_" + std::to_string(getpid()));
  FakeClock clock;
  JournalSettings settings{.folder = folder.string()};
  std::unique_ptr<JobTable> jobs;
  std::unique_ptr<Journal> journal;
  Replayed replayed;
  SessionRegistry registry{clock};
  IngestCounters counters;
  RowRequests requests{registry, counters, clock};
  std::uint64_t streams = 0;

  void SetUp() override {
    fs::remove_all(folder);
    Again();
  }
  void TearDown() override {
    journal.reset();
    fs::remove_all(folder);
  }

  void Again() {
    journal.reset();
    jobs = std::make_unique<JobTable>(clock, JobLimits{4, 1000});
    auto opened = Journal::Open(settings, clock);
    ASSERT_TRUE(opened.ok()) << opened.status();
    journal = *std::move(opened);
    replayed = ReplayJournal(*journal, *jobs);
  }

  IngestContext Context() {
    IngestContext context{*jobs, registry, requests, counters, [](const std::string&) {}};
    context.journal = journal.get();
    return context;
  }

  // All of `messages` on a stream of `node`, as gRPC would hand them in.
  void Tell(const std::string& node, std::vector<v1::AgentMessage> messages, bool known = true) {
    IngestContext context = Context();
    AgentSession session(++streams, context, {});
    if (known) session.Authenticate();
    session.OnMessage(HelloFrom(node));
    for (std::size_t i = 0; i < messages.size(); ++i) {
      messages[i].set_number(i + 2);
      session.OnMessage(messages[i]);
    }
    WaitWritten(session.journaled());
  }

  void WaitWritten(std::uint64_t record) const {
    std::mutex mutex;
    std::condition_variable wake;
    bool written = false;
    const bool waits = journal->WhenDurable(record, [&] {
      const std::lock_guard lock(mutex);
      written = true;
      wake.notify_all();
    });
    std::unique_lock lock(mutex);
    if (waits) wake.wait(lock, [&] { return written; });
  }

  static std::vector<v1::AgentMessage> Ranks(std::uint32_t world) {
    std::vector<v1::AgentMessage> messages;
    for (std::uint32_t r = 0; r < world; ++r) {
      messages.push_back(Message(0, RankOf(r, world)));
      messages.push_back(Message(0, GroupOf(r, world)));
    }
    return messages;
  }
  static v1::AgentMessage Iterations(std::uint32_t rank, std::int64_t first, int count) {
    BatchShape shape;
    shape.rank = rank;
    shape.first = first;
    shape.count = count;
    shape.anchor = 1000 + static_cast<std::uint64_t>(first) * 5;
    return Message(0, Batch(shape));
  }
  static v1::AgentMessage Gone(std::uint32_t rank) {
    v1::RankGone gone;
    gone.set_job("train");
    gone.set_rank(rank);
    gone.set_pid(RankOf(rank, 2).pid());
    gone.set_how("exited");
    gone.set_orderly(true);
    return Message(0, gone);
  }
  std::string Known() const {
    const auto job = jobs->Find("train");
    if (!job) return "no job";
    const JobFigures f = job->Figures();
    return std::to_string(f.ranks) + " ranks, iteration " + std::to_string(f.iteration) +
           (f.authenticated ? "" : ", from anybody");
  }
  std::size_t Segments() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
      count += entry.path().extension() == ".seg";
    }
    return count;
  }
};

TEST_F(JournalTest, AfterwardsAJobIsAsItWas) {
  Tell("n0", Ranks(2));
  Tell("n0", {Iterations(0, 0, 50), Iterations(1, 0, 50), Iterations(0, 50, 1)});
  const auto strip = [this] {
    std::vector<std::int64_t> all;
    jobs->Find("train")->Read([&](const auto&, const auto& groups, const SummaryWindow& window) {
      all.push_back(static_cast<std::int64_t>(groups.size()));
      for (const StripEntry& it : window.Strip(-1, 2000)) all.push_back(it.duration.count);
      for (const auto& rank : window.Heat({48, 49})) {
        for (const HeatCell& cell : rank) all.push_back(cell.wait_us);
      }
    });
    return all;
  };
  const std::string known = Known();
  const auto seen = strip();
  const WallNs heard = jobs->Find("train")->Figures().last_seen;
  clock.AdvanceSeconds(100);
  Again();
  EXPECT_EQ(Known(), known);
  EXPECT_EQ(Known(), "2 ranks, iteration 50");
  EXPECT_EQ(strip(), seen);
  EXPECT_EQ(jobs->Find("train")->Figures().last_seen.ns, heard.ns);
  EXPECT_EQ(replayed.refused, 0u);
}

TEST_F(JournalTest, WhatWasNotAuthenticatedIsNotAfterwardsEither) {
  Tell("n0", Ranks(2), false);
  Again();
  EXPECT_EQ(Known(), "2 ranks, iteration -1, from anybody");
}

TEST_F(JournalTest, WhoIsGoneStaysGone) {
  Tell("n0", Ranks(2));
  Tell("n0", {Gone(0), Gone(1)});
  Again();
  EXPECT_TRUE(jobs->Find("train")->UpdateEnded(MonoNs(0)));
}

TEST_F(JournalTest, OfAJobThatBeganAnewTheNewLifeIsKnown) {
  Tell("n0", Ranks(2));
  Tell("n0", {Iterations(0, 0, 30), Iterations(1, 0, 30)});
  // Node n1 takes a rank over that was not heard of for long, which nobody can know afterwards.
  clock.AdvanceSeconds(120);
  v1::RankInfo younger = RankOf(0, 2);
  younger.set_pid(9000);
  Tell("n1", {Message(0, younger), Message(0, GroupOf(0, 2)), Iterations(0, 0, 7)});
  EXPECT_EQ(Known(), "1 ranks, iteration 6");
  Again();
  EXPECT_EQ(Known(), "1 ranks, iteration 6");
  EXPECT_EQ(jobs->Find("train")->RanksOn("n1"), 1u);
}

TEST_F(JournalTest, AJobWhoseEndWasReportedIsOver) {
  Tell("n0", Ranks(2));
  Tell("n0", {Iterations(0, 0, 30), Gone(0), Gone(1)});
  journal->Concluded("train");
  Again();
  EXPECT_EQ(Known(), "no job");
  Again();
  EXPECT_EQ(Known(), "no job");
}

TEST_F(JournalTest, WhatIsSaidAgainOnAnotherStreamIsWrittenOnce) {
  Tell("n0", Ranks(2));
  Tell("n0", {Iterations(0, 0, 5)});
  const std::uint64_t before = journal->counters().records;
  Tell("n0", Ranks(2));
  Tell("n0", {Iterations(0, 0, 5)});
  EXPECT_EQ(journal->counters().records, before);
}

TEST_F(JournalTest, OldSegmentsGoAndEachKnowsWhoTakesPart) {
  settings.segment_bytes = 4096;
  Again();
  Tell("n0", Ranks(2));
  for (std::int64_t first = 0; first < 6000; first += 100) {
    Tell("n0", {Iterations(0, first, 100), Iterations(1, first, 100)});
  }
  EXPECT_LT(journal->counters().bytes, 200'000u);
  const std::size_t segments = Segments();
  EXPECT_GT(segments, 4u);
  EXPECT_EQ(journal->counters().pushed_out, 0u);
  Again();
  EXPECT_EQ(Known(), "2 ranks, iteration 5999");
  jobs->Find("train")->Read([](const auto&, const auto& groups, const SummaryWindow& window) {
    EXPECT_EQ(window.Strip(-1, 2000).size(), 2000u);
    EXPECT_EQ(groups.size(), 1u);
  });
  // With its end all of it may go.
  journal->Concluded("train");
  Tell("n0", {Message(0, RankOf(0, 2, "next"))});
  EXPECT_LT(Segments(), segments);
}

TEST_F(JournalTest, BeyondItsBoundTheOldestGoesAndIsCounted) {
  settings.segment_bytes = 4096;
  settings.max_bytes = 20'000;
  Again();
  Tell("n0", Ranks(2));
  for (std::int64_t first = 0; first < 1500; first += 50) {
    Tell("n0", {Iterations(0, first, 50), Iterations(1, first, 50)});
  }
  EXPECT_LT(journal->counters().bytes, 40'000u);
  EXPECT_GT(journal->counters().pushed_out, 0u);
  Again();
  EXPECT_EQ(Known(), "2 ranks, iteration 1499");
}

TEST_F(JournalTest, SegmentsThatAreTooOldGo) {
  settings.segment_bytes = 4096;
  settings.max_age = Nanos::FromSeconds(3600);
  Again();
  Tell("n0", Ranks(2));
  for (std::int64_t first = 0; first < 500; first += 50) {
    Tell("n0", {Iterations(0, first, 50), Iterations(1, first, 50)});
    clock.AdvanceSeconds(900);
  }
  EXPECT_GT(journal->counters().pushed_out, 0u);
  EXPECT_LT(Segments(), 5u);
}

TEST_F(JournalTest, ATornTailIsToldAndTheRestIsRead) {
  Tell("n0", Ranks(2));
  Tell("n0", {Iterations(0, 0, 5)});
  Tell("n0", {Iterations(0, 5, 5)});
  journal.reset();
  fs::path segment;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".seg") segment = entry.path();
  }
  fs::resize_file(segment, fs::file_size(segment) - 3);
  Again();
  EXPECT_EQ(Known(), "2 ranks, iteration 4");
  EXPECT_EQ(journal->counters().damaged, 1u);
}

TEST_F(JournalTest, RecordsThatAreNoMessagesAreLeftOut) {
  EXPECT_FALSE(ToldOf("").has_value());
  EXPECT_FALSE(ToldOf("M").has_value());
  std::string record = RecordOf({"n0", "boot", true, false}, Message(7, RankOf(0, 2)), WallNs(5));
  ASSERT_TRUE(ToldOf(record).has_value());
  EXPECT_EQ(ToldOf(record)->teller.node, "n0");
  EXPECT_EQ(ToldOf(record)->message.number(), 0u);
  for (std::size_t length = 0; length < 20; ++length) {
    EXPECT_FALSE(ToldOf(record.substr(0, length)).has_value()) << length;
  }
  record[11] = '\x7f';  // the length of a name
  EXPECT_FALSE(ToldOf(record).has_value());
}

TEST_F(JournalTest, ASecondCollectorIsRefusedTheFolder) {
  EXPECT_FALSE(Journal::Open(settings, clock).ok());
}

// While the disk takes nothing, nothing is acknowledged; afterwards all is.
TEST_F(JournalTest, ADiskThatTakesNothingHoldsAcknowledgementsBackAndLosesNothing) {
  Tell("n0", Ranks(2));
  Again();  // the next write begins a segment
  const fs::path away = folder.string() + "_away";
  fs::rename(folder, away);
  IngestContext context = Context();
  AgentSession session(99, context, {});
  session.OnMessage(HelloFrom("n0"));
  session.OnMessage(Iterations(0, 0, 5));
  bool written = false;
  ASSERT_TRUE(journal->WhenDurable(session.journaled(), [&written] { written = true; }));
  while (journal->failing().empty()) usleep(1000);
  EXPECT_FALSE(written);
  EXPECT_GT(journal->counters().write_errors, 0u);
  fs::rename(away, folder);
  WaitWritten(session.journaled());
  EXPECT_TRUE(written);
  EXPECT_EQ(journal->failing(), "");
  Again();
  EXPECT_EQ(Known(), "2 ranks, iteration 4, from anybody");
}

}  // namespace
}  // namespace fathom::collector
