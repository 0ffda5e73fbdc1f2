// Runs of one job against the history that earlier ones left in the store.
#include "collector/runs/run_keeper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "fathom/v1/run.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;
using diagnosis::RunOutcome;

constexpr std::uint32_t kRanks = 2;

struct RunShape {
  std::uint32_t iteration_us = 100'000;
  std::int64_t started_ns = 0;  // after the clock's start
  double bytes = 1e6;
  std::map<std::string, std::string> facts = {{"torch", "2.4"}};
  std::string profile = {};
  bool tells = true;
};

struct RunKeeperTest : testing::Test {
  FakeClock clock;
  std::unique_ptr<Store> store = Store::Open(":memory:");
  std::vector<std::pair<VerdictChange, Episode>> changes;
  VerdictLedger ledger{[this](VerdictChange change, const Episode& episode) {
    changes.emplace_back(change, episode);
  }};
  std::unique_ptr<RunKeeper> keeper = std::make_unique<RunKeeper>(Parts());
  std::int64_t starts = 0;

  RunKeeper::Parts Parts() { return {*store, ledger, clock}; }
  // As a collector that starts anew.
  void Restart(const std::string& file) {
    keeper.reset();
    store.reset();
    store = Store::Open(file);
    keeper = std::make_unique<RunKeeper>(Parts());
  }

  static v1::RunFacts FactsOf(const RunShape& shape) {
    v1::RunFacts facts;
    facts.set_job("train");
    facts.set_rank(0);
    facts.set_profile(shape.profile);
    facts.set_program("train.py");
    facts.set_framework("torch");
    facts.set_device("cpu");
    facts.mutable_facts()->insert(shape.facts.begin(), shape.facts.end());
    v1::GroupWork& work = *facts.add_work();
    work.set_group(kWorldGroup);
    work.set_size(kRanks);
    work.set_kind(static_cast<std::uint32_t>(CollectiveKind::kAllReduce));
    work.set_calls(3);
    work.set_bytes(shape.bytes);
    return facts;
  }

  std::unique_ptr<JobState> Begin(RunShape shape) {
    auto job = std::make_unique<JobState>("train", clock);
    if (shape.started_ns == 0) shape.started_ns = ++starts * 1'000'000;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      v1::RankInfo info = RankOf(rank, kRanks);
      info.set_started_wall_ns(FakeClock::kStart + shape.started_ns);
      EXPECT_FALSE(job->Apply(info, "a", 100).rejected);
    }
    if (shape.tells) {
      EXPECT_FALSE(job->Apply(FactsOf(shape), "a"));
    }
    return job;
  }

  // Iterations `first` to `end`, some at a time, looked at as the diagnoser does.
  void Feed(JobState& job, const RunShape& shape, std::int64_t first, std::int64_t end) {
    constexpr int kAtOnce = 10;
    for (std::int64_t at = first; at < end; at += kAtOnce) {
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        BatchShape batch;
        batch.rank = rank;
        batch.first = at;
        batch.count = static_cast<int>(std::min<std::int64_t>(kAtOnce, end - at));
        batch.duration_us = shape.iteration_us;
        batch.anchor = static_cast<std::uint64_t>(1000 + 5 * at);
        job.Apply(Batch(batch), "a");
      }
      clock.AdvanceSeconds(1);
      keeper->Looked(job);
    }
  }

  RunRecord Run(const RunShape& shape, std::int64_t iterations = 60) {
    const auto job = Begin(shape);
    Feed(*job, shape, 0, iterations);
    const std::string id = keeper->RunOf("train").id;
    keeper->Ended(*job);
    return store->FindRun(id).value_or(RunRecord());
  }
  void RunHealthy(int times) {
    for (int i = 0; i < times; ++i)
      Run({.iteration_us = 100'000u + 50u * static_cast<unsigned>(i)});
  }
  std::vector<Episode> Opened() const {
    std::vector<Episode> opened;
    for (const auto& [change, episode] : changes) {
      if (change == VerdictChange::kOpened) opened.push_back(episode);
    }
    return opened;
  }
};

TEST_F(RunKeeperTest, ASlowerRunIsToldWithWhatWasChanged) {
  RunHealthy(3);
  EXPECT_TRUE(Opened().empty());
  const RunRecord slow =
      Run({.iteration_us = 130'000, .facts = {{"torch", "2.4"}, {"argument --sync", ""}}});
  ASSERT_EQ(Opened().size(), 1u);
  const diagnosis::Verdict& verdict = Opened()[0].verdict;
  EXPECT_EQ(verdict.cause, diagnosis::Cause::kRegression);
  EXPECT_EQ(verdict.entity.type, diagnosis::EntityType::kJob);
  EXPECT_EQ(verdict.owner, diagnosis::Owner::kAlgorithm);
  EXPECT_NE(verdict.sentence.find("what was changed since: argument --sync none -> set"),
            std::string::npos)
      << verdict.sentence;
  EXPECT_LE(Opened()[0].until_iteration.value, 60);
  EXPECT_EQ(slow.outcome, RunOutcome::kSlower);
  EXPECT_EQ(changes.back().second.closed_because, "the job ended");
}

TEST_F(RunKeeperTest, WithinFiftyIterations) {
  RunHealthy(5);
  const RunShape shape{.iteration_us = 106'000};
  const auto job = Begin(shape);
  Feed(*job, shape, 0, 50);
  EXPECT_EQ(Opened().size(), 1u);
}

TEST_F(RunKeeperTest, HealthyRerunsAreSilentAndListed) {
  RunHealthy(12);
  EXPECT_TRUE(changes.empty());
  const auto runs = store->Runs("train", 100);
  ASSERT_EQ(runs.size(), 12u);
  EXPECT_EQ(runs[0].outcome, RunOutcome::kSame);
  EXPECT_NE(runs[0].sentence.find("as its history"), std::string::npos) << runs[0].sentence;
}

TEST_F(RunKeeperTest, RunsOfOneSittingGiveALeadThoseOfDaysAVerdict) {
  RunHealthy(3);
  Run({.iteration_us = 130'000});
  ASSERT_EQ(Opened().size(), 1u);
  EXPECT_EQ(Opened()[0].verdict.grade, diagnosis::Grade::kHypothesis);
  constexpr std::int64_t kDay = 86'400'000'000'000;
  for (int day = 1; day <= 3; ++day) Run({.iteration_us = 100'100, .started_ns = day * kDay});
  Run({.iteration_us = 130'000, .started_ns = 4 * kDay});
  ASSERT_EQ(Opened().size(), 2u);
  EXPECT_TRUE(Convicts(Opened()[1].verdict));
}

TEST_F(RunKeeperTest, WhatWasSlowerIsNoHistory) {
  RunHealthy(3);
  for (int i = 0; i < 6; ++i) Run({.iteration_us = 150'000});
  EXPECT_EQ(Opened().size(), 6u);
  EXPECT_EQ(store->Runs("train", 1)[0].outcome, RunOutcome::kSlower);
}

TEST_F(RunKeeperTest, OfASickStretchNothingIsHistory) {
  const RunShape shape;
  const auto job = Begin(shape);
  diagnosis::Suspicion slow;
  slow.slow = true;
  job->SetSuspicion(slow);
  Feed(*job, shape, 0, 60);
  const RunRecord run = keeper->RunOf("train");
  EXPECT_FALSE(run.first.known());
  EXPECT_FALSE(run.whole.known());
}

TEST_F(RunKeeperTest, WhoIsConvictedExplainsTheLoss) {
  RunHealthy(3);
  diagnosis::Diagnosis diagnosis;
  diagnosis.verdicts.resize(1);
  diagnosis.verdicts[0].grade = diagnosis::Grade::kEstablished;
  diagnosis.verdicts[0].cause = diagnosis::Cause::kGc;
  diagnosis.verdicts[0].entity.ranks = {RankId(1)};
  const RunShape shape{.iteration_us = 150'000};
  const auto job = Begin(shape);
  Feed(*job, shape, 0, 49);
  diagnosis::Suspicion suspicion;
  suspicion.slow = true;
  for (int look = 0; look < 2; ++look) {
    clock.AdvanceSeconds(1);
    JobMoment now;
    now.job = "train";
    now.wall = clock.Wall();
    now.mono = clock.Mono();
    ledger.Update(now, suspicion, &diagnosis);
  }
  ASSERT_EQ(Opened().size(), 1u);
  Feed(*job, shape, 49, 60);
  EXPECT_EQ(Opened().size(), 1u);
}

TEST_F(RunKeeperTest, OtherWorkOrANameIsAnotherProfile) {
  RunHealthy(3);
  const RunRecord other = Run({.iteration_us = 200'000, .bytes = 4e6});
  EXPECT_TRUE(Opened().empty());
  EXPECT_NE(other.sentence.find("like none of 3 earlier runs"), std::string::npos);
  EXPECT_NE(other.sentence.find("4 MB an iteration in all_reduce among 2 instead of 1 MB"),
            std::string::npos)
      << other.sentence;
  Run({.iteration_us = 200'000, .profile = "large"});
  EXPECT_TRUE(Opened().empty());
}

TEST_F(RunKeeperTest, AnotherBatchIsTold) {
  for (int i = 0; i < 3; ++i) Run({.facts = {{"argument --batch", "4"}}});
  Run({.iteration_us = 200'000, .facts = {{"argument --batch", "8"}}});
  ASSERT_EQ(Opened().size(), 1u);
  EXPECT_EQ(Opened()[0].verdict.grade, diagnosis::Grade::kHypothesis);
  EXPECT_NE(Opened()[0].verdict.sentence.find("--batch 4 -> 8"), std::string::npos);
}

TEST_F(RunKeeperTest, WithoutFactsNothingIsComparedOrKept) {
  RunHealthy(3);
  Run({.iteration_us = 150'000, .tells = false});
  EXPECT_TRUE(Opened().empty());
  EXPECT_EQ(store->Runs("", 100).size(), 3u);
}

TEST_F(RunKeeperTest, AJobOfTwoIterationsIsKeptAndNoHistory) {
  RunHealthy(2);
  Run({}, 2);
  EXPECT_FALSE(store->Runs("", 1)[0].first.known());
  Run({.iteration_us = 150'000});
  EXPECT_TRUE(Opened().empty());
  EXPECT_NE(store->Runs("", 1)[0].sentence.find("2 of at least 3"), std::string::npos);
}

TEST_F(RunKeeperTest, AClockSetBackChangesNoOrder) {
  RunHealthy(3);
  const RunRecord back = Run({.iteration_us = 101'000, .started_ns = -3'600'000'000'000});
  EXPECT_EQ(store->Runs("train", 1)[0].id, back.id);
  EXPECT_EQ(store->RunsOfProfile(ProfileId(back.profile))[0].id, back.id);
}

TEST_F(RunKeeperTest, ItIsTakenBackWhereALongerStretchSaysNo) {
  for (int i = 0; i < 3; ++i) Run({}, 320);
  const RunShape slow{.iteration_us = 104'500};
  const auto job = Begin(slow);
  Feed(*job, slow, 0, 50);
  ASSERT_EQ(Opened().size(), 1u);
  Feed(*job, {}, 50, 310);
  EXPECT_EQ(changes.back().first, VerdictChange::kClosed);
  EXPECT_NE(changes.back().second.closed_because.find("as long as earlier runs"),
            std::string::npos);
}

TEST_F(RunKeeperTest, ARestartOfTheCollectorLosesNothing) {
  const fs::path file = fs::temp_directory_path() / ("fathom-runs-" + std::to_string(getpid()));
  fs::remove(file);
  Restart(file.string());
  const RunShape shape;
  const auto job = Begin(shape);
  Feed(*job, shape, 0, 60);
  keeper->SaveAll();
  const std::string id = keeper->RunOf("train").id;
  Restart(file.string());
  keeper->Looked(*job);
  EXPECT_EQ(keeper->RunOf("train").id, id);
  EXPECT_TRUE(keeper->RunOf("train").first.known());
  EXPECT_EQ(store->Runs("", 10).size(), 1u);
  keeper.reset();
  store.reset();
  for (const char* end : {"", "-wal", "-shm", ".lock"}) fs::remove(file.string() + end);
}

TEST_F(RunKeeperTest, TheStoreIsBounded) {
  for (std::int64_t i = 0; i < Store::kMaxRunsOfProfile + 20; ++i) Run({}, 12);
  EXPECT_LE(store->Runs("", 1000).size(), static_cast<std::size_t>(Store::kMaxRunsOfProfile + 16));
}

TEST(RunRecords, ComeBackAsTheyWere) {
  RunRecord run;
  run.id = "r1";
  run.job = "train";
  run.started = WallNs(5);
  run.iterations = 60;
  run.profile = {"big", "train.py", "cpu", "torch", 2, {{2, CollectiveKind::kAllReduce, 3, 1e6}}};
  run.setup.variants = {{{{"torch", "2.4"}}, {"a", "b"}}};
  run.first = {45, std::vector<double>(41, 0.25), {0.25, 0.125, 0, 0, 0, 0}, 0.25, 0.5};
  run.first.mean.issued[3] = 0.75F;
  run.first.mean.issued[8] = 0.25F;
  run.outcome = RunOutcome::kFaster;
  const auto back = RunFromBytes(ToBytes(run));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->profile, run.profile);
  EXPECT_EQ(back->setup.variants[0].nodes, run.setup.variants[0].nodes);
  EXPECT_EQ(back->first.quantiles, run.first.quantiles);
  EXPECT_EQ(back->first.net_s, 0.25);
  EXPECT_EQ(back->first.noise, 0.5);
  EXPECT_EQ(back->first.mean.issued, run.first.mean.issued);
  EXPECT_FALSE(back->start.known());
  EXPECT_EQ(back->outcome, RunOutcome::kFaster);
  EXPECT_FALSE(RunFromBytes("no record"));
  EXPECT_FALSE(RunFromBytes(""));
}

}  // namespace
}  // namespace fathom::collector
