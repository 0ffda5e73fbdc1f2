// A month of short jobs: the collector's memory and its stores must not grow with the jobs that
// were.
//
// FATHOM_SOAK_JOBS: how many; 10,000 are 30 days, in which a job comes every 259 s and lasts six.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "collector/evaluate/diagnoser.h"
#include "collector/ingest/agent_session.h"
#include "collector/journal/journal.h"
#include "collector/ops/op_store.h"
#include "collector/runs/run_keeper.h"
#include "collector/store/learnt_keeper.h"
#include "collector/store/store.h"
#include "diagnosis/engine/diagnose.h"
#include "proto/packing/pack_ops.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kWorld = 8, kNodes = 2;
constexpr int kIterations = 12;
constexpr double kBetween_s = 259.2;

int Jobs() {
  const char* text = std::getenv("FATHOM_SOAK_JOBS");
  return text == nullptr ? 10'000 : std::atoi(text);
}

v1::AgentMessage OpsOf(const std::string& job, std::uint32_t rank, std::uint64_t serial) {
  v1::RowsReply rows;
  rows.set_job(job);
  v1::RankRows& part = *rows.add_ranks();
  part.set_rank(rank);
  for (int i = 0; i < kIterations * 5; ++i) {
    v1::CommOp& op = *part.add_ops();
    op.set_op_id(static_cast<std::uint64_t>(i));
    op.set_group(kWorldGroup);
    op.set_sequence(static_cast<std::uint64_t>(996 + i));
    op.set_iteration(i / 5);
    op.set_enter_ns(50'000'000'000 + i * 20'000'000);
    op.set_end_ns(op.enter_ns() + 500'000);
  }
  v1::AgentMessage message;
  *message.mutable_ops() = PackOps(rows, serial);
  return message;
}

struct SoakTest : testing::Test {
  const fs::path folder = fs::path(testing::TempDir()) / ("soak_" + std::to_string(getpid()));
  FakeClock clock;
  std::unique_ptr<Store> store;
  JobTable jobs{clock, {}, [this](JobState& job) { learnt->Met(job); }};
  std::unique_ptr<Journal> journal;
  std::unique_ptr<OpStore> ops;
  SessionRegistry registry{clock};
  IngestCounters counters;
  RowRequests requests{registry, counters, clock};
  VerdictLedger ledger{[this](VerdictChange, const Episode& e) { store->Save(e).IgnoreError(); }};
  std::unique_ptr<RunKeeper> runs;
  std::unique_ptr<LearntKeeper> learnt;
  std::unique_ptr<Diagnoser> diagnoser;
  IngestContext context{jobs, registry, requests, counters,
                        [this](const std::string& job) { diagnoser->Notify(job); }};
  std::unique_ptr<AgentSession> sessions[kNodes];
  std::uint64_t number = 1, ended = 0;

  void SetUp() override {
    fs::create_directories(folder);
    store = Store::Open((folder / "fathom.db").string());
    journal =
        *Journal::Open({.folder = (folder / "journal").string(), .max_bytes = 16u << 20}, clock);
    journal->Read({.told = [](const Told&) { return -1; }, .concluded = [](const std::string&) {}});
    ops = *OpStore::Open({.folder = (folder / "ops").string(),
                          .jobs = KeptJobs({"*"}),
                          .bounds = {.max_bytes = 4u << 20}},
                         clock);
    context.journal = journal.get();
    context.ops = ops.get();
    runs = std::make_unique<RunKeeper>(RunKeeper::Parts{*store, ledger, clock});
    learnt = std::make_unique<LearntKeeper>(*store, clock);
    diagnoser = std::make_unique<Diagnoser>(
        Diagnoser::Parts{jobs, registry, requests, ledger, clock,
                         [this](const JobState& job) { runs->Looked(job), learnt->Looked(job); },
                         [this](const JobState& job) { Ended(job); }},
        DiagnosisFunctions{diagnosis::Watch, diagnosis::Diagnose}, diagnosis::DiagnosisConfig{},
        Nanos::FromSeconds(600));
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      sessions[node] =
          std::make_unique<AgentSession>(node + 1, context, std::weak_ptr<RowsChannel>());
      sessions[node]->OnMessage(HelloFrom("n" + std::to_string(node)));
    }
  }
  void TearDown() override {
    for (auto& session : sessions) session.reset();
    ops.reset(), journal.reset(), store.reset();
    fs::remove_all(folder);
  }

  void Ended(const JobState& job) {
    runs->Ended(job);
    learnt->Ended(job.name());
    const JobFigures f = job.Figures();
    ASSERT_TRUE(store
                    ->Save({f.name, f.ranks, f.world_size, f.nodes, f.started, f.last_seen,
                            f.iteration + 1, std::string(2000, '{')})
                    .ok());
    journal->Concluded(f.name);
    ++ended;
  }
  void Tell(std::uint32_t rank, v1::AgentMessage message) {
    message.set_number(++number);
    sessions[rank / (kWorld / kNodes)]->OnMessage(message);
  }
  void Run(int job) {
    const std::string name = "job-" + std::to_string(job);
    for (std::uint32_t rank = 0; rank < kWorld; ++rank) {
      v1::RankInfo info = RankOf(rank, kWorld, name);
      info.set_pid(static_cast<std::uint32_t>(1000 + job * 8) + rank);
      info.set_started_wall_ns(clock.Wall().ns);
      Tell(rank, Message(0, info));
      Tell(rank, Message(0, GroupOf(rank, kWorld, name)));
    }
    for (int i = 0; i < kIterations; ++i) {
      clock.AdvanceSeconds(0.5);
      for (std::uint32_t rank = 0; rank < kWorld; ++rank) {
        BatchShape shape{
            .rank = rank, .first = i, .anchor = static_cast<std::uint64_t>(1000 + 5 * i)};
        shape.job = name;
        Tell(rank, Message(0, Batch(shape)));
      }
      if (i % 4 == 3) diagnoser->RunDue();
    }
    for (std::uint32_t rank = 0; rank < kWorld; ++rank) {
      Tell(rank, OpsOf(name, rank, static_cast<std::uint64_t>(job) * kWorld + rank + 1));
      v1::RankGone gone;
      gone.set_job(name);
      gone.set_rank(rank);
      gone.set_pid(static_cast<std::uint32_t>(1000 + job * 8) + rank);
      gone.set_how("exited");
      gone.set_orderly(true);
      gone.set_wait_status(1);
      Tell(rank, Message(0, gone));
    }
    clock.AdvanceSeconds(1);
    diagnoser->RunDue();
    clock.AdvanceSeconds(kBetween_s - kIterations * 0.5 - 1);
    if (job % 64 == 0) usleep(20'000);  // the threads that write
  }
  static double Megabytes() { return static_cast<double>(mallinfo2().uordblks) * 1e-6; }
  // The threads that write hold what they have not come to yet: on a slow disk some megabytes.
  static double MegabytesOnceWritten(double most) {
    for (int i = 0; i < 100 && Megabytes() >= most; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return Megabytes();
  }
  // The threads that write let go of files meanwhile; then it is counted anew.
  double OnDisk(const char* what) const {
    for (;;) {
      std::uintmax_t bytes = 0;
      std::error_code gone;
      fs::recursive_directory_iterator at(folder / what, gone);
      for (; !gone && at != fs::end(at); at.increment(gone)) {
        const bool regular = at->is_regular_file(gone);
        if (!gone && regular) bytes += at->file_size(gone);
        if (gone) break;
      }
      if (!gone) return static_cast<double>(bytes) * 1e-6;
    }
  }
};

TEST_F(SoakTest, NeitherMemoryNorStoresGrowWithTheJobsThatWere) {
  const int count = Jobs();
  double half = 0;
  for (int job = 0; job < count; ++job) {
    Run(job);
    if (job == count / 2) half = Megabytes();
    if (job % std::max(1, count / 10) == 0 || job + 1 == count) {
      std::printf(
          "%6d jobs, day %4.1f: %6.1f MB in use, ops %5.1f MB, journal %5.1f MB, store %5.1f MB\n",
          job + 1, (job + 1) * kBetween_s / 86'400, Megabytes(), OnDisk("ops"), OnDisk("journal"),
          static_cast<double>(fs::file_size(folder / "fathom.db")) * 1e-6);
    }
  }
  EXPECT_EQ(ended, static_cast<std::uint64_t>(count))
      << "every job ended, and its end was told once";
  for (std::size_t i = 0; i < kRejectReasonCount; ++i) {
    EXPECT_EQ(counters.rejected[i], 0u) << ToString(static_cast<RejectReason>(i));
  }
  EXPECT_LE(jobs.All().size(), 256u);
  const double most = 1.1 * half + 4;
  EXPECT_LT(MegabytesOnceWritten(most), most) << "memory goes on growing";
  EXPECT_LT(OnDisk("ops"), 6);
  EXPECT_LT(OnDisk("journal"), 24);
  EXPECT_EQ(ops->counters().dropped_blocks, 0u);
}

}  // namespace
}  // namespace fathom::collector
