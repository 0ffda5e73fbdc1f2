// The account of a running job: counted once, kept over restarts, ended with the job.
#include "collector/runs/account_keeper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "fathom/v1/report.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;
using State = diagnosis::RunningAccount::State;

constexpr std::uint32_t kRanks = 4;
constexpr std::uint32_t kIterationUs = 100'000;
constexpr std::uint32_t kWaitUs = 60'000;  // of the others, for the slow one
constexpr std::pair kHost{diagnosis::Cause::kHostSlow, diagnosis::Owner::kInfrastructure};

struct AccountKeeperTest : testing::Test {
  FakeClock clock;
  fs::path folder = fs::temp_directory_path() / ("account_keeper_" + std::to_string(getpid()));
  std::unique_ptr<Store> store = Store::Open(":memory:");
  VerdictLedger ledger{[](VerdictChange, const Episode&) {}};
  std::unique_ptr<AccountKeeper> keeper = std::make_unique<AccountKeeper>(Parts());

  void TearDown() override { fs::remove_all(folder); }
  AccountKeeper::Parts Parts() { return {*store, ledger, clock}; }
  void Reopen() {
    keeper.reset();
    store.reset();
    store = Store::Open((folder / "store.db").string());
    keeper = std::make_unique<AccountKeeper>(Parts());
  }

  std::unique_ptr<JobState> Begin(std::int64_t started_ns = 1'000'000,
                                  const std::string& name = "train") {
    auto job = std::make_unique<JobState>(name, clock);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      v1::RankInfo info = RankOf(rank, kRanks);
      info.set_started_wall_ns(FakeClock::kStart + started_ns);
      EXPECT_FALSE(job->Apply(info, "a", 100).rejected);
      EXPECT_FALSE(job->Apply(GroupOf(rank, kRanks), "a"));
    }
    return job;
  }

  // Iterations of which rank `slow` (none: kRanks) waits for nobody.
  void Feed(JobState& job, std::int64_t first, std::int64_t end, std::uint32_t slow,
            std::uint32_t ranks = kRanks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      BatchShape shape;
      shape.rank = rank;
      shape.first = first;
      shape.count = static_cast<int>(end - first);
      shape.duration_us = kIterationUs;
      shape.anchor = static_cast<std::uint64_t>(1000 + 5 * first);
      v1::SummaryBatch batch = Batch(shape);
      for (int i = 0; i < shape.count; ++i) {
        batch.set_blocked_us(i, rank == slow || slow >= kRanks ? 5'000 : 5'000 + kWaitUs);
        batch.set_cpu_us(i, 30'000);
      }
      job.Apply(batch, "a");
    }
    clock.AdvanceSeconds(3);
    keeper->Looked(job);
  }
  State Now() const { return keeper->Of("train").value_or(State()); }
  static double LostOf(const State& state) { return diagnosis::RunningAccount(state).lost_gpu_s(); }
};

TEST_F(AccountKeeperTest, EachIterationIsCountedOnceAndChargedToWhoCostIt) {
  const auto job = Begin();
  EXPECT_FALSE(keeper->Of("train")) << "nothing is counted yet";
  Feed(*job, 0, 10, kRanks);
  keeper->Looked(*job);
  EXPECT_EQ(Now().iterations, 10);
  EXPECT_NEAR(Now().used_gpu_s, 10 * 0.1 * kRanks, 0.01);
  EXPECT_NEAR(LostOf(Now()), 0, 0.02);
  Feed(*job, 10, 30, 2);
  const State state = Now();
  EXPECT_EQ(state.iterations, 30);
  ASSERT_EQ(state.losses.size(), 1u);
  EXPECT_EQ(state.losses[0].entity.ranks, std::vector<RankId>{RankId(2)});
  EXPECT_EQ(state.losses[0].entity.node, "a");
  EXPECT_EQ(state.losses[0].cause, diagnosis::Cause::kHostSlow);
  EXPECT_NEAR(state.losses[0].gpu_s, 20 * 0.06 * kRanks, 0.1);
  EXPECT_NEAR(state.by_cause.at(kHost), state.losses[0].gpu_s, 1e-9);
}

TEST_F(AccountKeeperTest, WhatMayYetComeIsNotCounted) {
  const auto job = Begin();
  Feed(*job, 0, 4, kRanks);
  Feed(*job, 4, 6, kRanks, 3);
  EXPECT_EQ(Now().iterations, 4) << "rank 3 has not told of 4 and 5";
  Feed(*job, 6, 10, kRanks, 3);
  EXPECT_EQ(Now().iterations, 8) << "two newer ones came: it is told without rank 3";
}

TEST_F(AccountKeeperTest, GoesOnAfterARestartOfTheCollector) {
  Reopen();
  const auto job = Begin();
  Feed(*job, 0, 20, 2);
  const double lost = LostOf(Now());
  keeper->SaveAll();
  Reopen();
  // The journal tells all of it again, under other numbers.
  const auto again = Begin();
  Feed(*again, 0, 20, 2);
  EXPECT_EQ(Now().iterations, 20) << "none is counted twice";
  EXPECT_DOUBLE_EQ(LostOf(Now()), lost);
  Feed(*again, 20, 25, 2);
  EXPECT_EQ(Now().iterations, 25);
  EXPECT_NEAR(LostOf(Now()), lost * 25 / 20, 0.05);
  EXPECT_EQ(Now().slices.size(), 25u);
}

TEST_F(AccountKeeperTest, AnotherStartOfTheNameIsAnotherJob) {
  Reopen();
  const auto job = Begin();
  Feed(*job, 0, 20, 2);
  keeper->SaveAll();
  Reopen();
  const auto other = Begin(9'000'000'000'000);
  Feed(*other, 0, 5, kRanks);
  EXPECT_EQ(Now().iterations, 5);
}

TEST_F(AccountKeeperTest, DamagedRecordsBeginAnew) {
  ASSERT_TRUE(store->KeepAccount("train", WallNs(1), "\xff\xff no record").ok());
  const auto job = Begin();
  Feed(*job, 0, 5, kRanks);
  EXPECT_EQ(Now().iterations, 5);
}

TEST_F(AccountKeeperTest, AnEndedJobIsKeptForItsReportAndForgottenByTheStore) {
  const auto job = Begin();
  Feed(*job, 0, 20, 2);
  keeper->SaveAll();
  ASSERT_TRUE(store->FindAccount("train"));
  keeper->Ended(*job);
  EXPECT_FALSE(store->FindAccount("train"));
  EXPECT_EQ(Now().iterations, 20);
}

TEST_F(AccountKeeperTest, OfTheEndedTheOldestGoesFirst) {
  const auto name = [](std::size_t i) { return "job" + std::to_string(1'000'000 - i); };
  for (std::size_t i = 0; i <= AccountKeeper::kMostEnded; ++i) {
    const auto job = Begin(1'000'000, name(i));
    Feed(*job, 0, 4, kRanks);
    keeper->Ended(*job);
  }
  EXPECT_FALSE(keeper->Of(name(0))) << "ended first";
  EXPECT_TRUE(keeper->Of(name(1)));
  EXPECT_TRUE(keeper->Of(name(AccountKeeper::kMostEnded))) << "ended last";
}

TEST_F(AccountKeeperTest, AStandingVerdictSaysWhoseTheLossIs) {
  const auto job = Begin();
  Episode episode;
  episode.id = "v1";
  episode.job = "train";
  episode.opened = clock.Wall();
  episode.verdict.grade = diagnosis::Grade::kEstablished;
  episode.verdict.cause = diagnosis::Cause::kImbalance;
  episode.verdict.owner = diagnosis::Owner::kAlgorithm;
  episode.verdict.entity.type = diagnosis::EntityType::kGroup;
  episode.verdict.entity.ranks = {RankId(2), RankId(3)};
  ASSERT_TRUE(ledger.Adopt(episode));
  Feed(*job, 0, 10, 2);
  const State state = Now();
  ASSERT_EQ(state.losses.size(), 1u);
  EXPECT_EQ(state.losses[0].cause, diagnosis::Cause::kImbalance);
  EXPECT_EQ(state.losses[0].owner, diagnosis::Owner::kAlgorithm);
}

TEST_F(AccountKeeperTest, AHangIsCountedAsTheTimePassesAndNotAgainAfterwards) {
  const auto job = Begin();
  Feed(*job, 0, 10, kRanks);
  Episode hang;
  hang.id = "v2";
  hang.job = "train";
  hang.opened = clock.Wall();
  hang.verdict.grade = diagnosis::Grade::kEstablished;
  hang.verdict.cause = diagnosis::Cause::kProcessStopped;
  hang.verdict.problem = diagnosis::ProblemClass::kNonCommunicationHang;
  hang.verdict.owner = diagnosis::Owner::kInfrastructure;
  hang.verdict.entity.ranks = {RankId(1)};
  hang.verdict.since_time = clock.Wall();
  ASSERT_TRUE(ledger.Adopt(hang));
  clock.AdvanceSeconds(10);
  keeper->Looked(*job);
  keeper->Looked(*job);
  EXPECT_NEAR(LostOf(Now()), 10 * kRanks, 0.5);
  EXPECT_EQ(Now().iterations, 10);
  const double used = Now().used_gpu_s;
  // It went on: the iteration in which it stood took ten seconds more.
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    BatchShape shape;
    shape.rank = rank;
    shape.first = 10;
    shape.duration_us = 10'100'000;
    shape.elapsed_us = rank == 1 ? 5'000 : 10'005'000;
    shape.anchor = 1050;
    shape.begin_mono_ns = 50'000'000'000 - 10 * 10'000'000'000;
    job->Apply(Batch(shape), "a");
  }
  keeper->Ended(*job);
  EXPECT_EQ(Now().iterations, 11);
  EXPECT_NEAR(Now().used_gpu_s, used + 0.1 * kRanks, 0.1);
}

}  // namespace
}  // namespace fathom::collector
