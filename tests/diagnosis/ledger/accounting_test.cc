// What must hold of every account, on played jobs.
#include "diagnosis/ledger/accounting.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "diagnosis/ledger/account_verdicts.h"
#include "diagnosis/ledger/lanes.h"
#include "diagnosis/model/config.h"
#include "tests/diagnosis/job_builder.h"

namespace fathom::diagnosis {
namespace {

using testing::Fault;
using testing::FaultKind;
using testing::JobSpec;
using testing::JobType;
using testing::PlayJob;

JobSpec Spec(JobType type, std::uint32_t ranks, int iterations, std::uint64_t seed) {
  JobSpec spec;
  spec.type = type;
  spec.ranks = spec.ranks_per_node = ranks;
  spec.iterations = iterations;
  spec.seed = seed;
  return spec;
}

std::optional<Accounting> AccountOf(const JobView& view) {
  const DiagnosisConfig config;
  const ExecutionGraph graph(view, {}, Iteration(-1), config);
  return AccountFor(view, graph);
}

double SumOf(const Account& account) {
  double sum = account.unexplained_gpu_s;
  for (const AccountShare& share : account.shares) sum += share.lost_gpu_s;
  return sum;
}

TEST(AccountingTest, SharesAndTheRestSumToTheLoss) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    JobSpec spec = Spec(static_cast<JobType>(seed % 3), 4 + 4 * (seed % 2), 3 + seed % 6, seed);
    const auto kind = static_cast<FaultKind>(seed % 8);
    const auto rank = static_cast<std::uint32_t>(seed % spec.ranks);
    spec.faults = {{kind, rank, 0, 1, 1 << 30, 5.0 + static_cast<double>(seed % 60)}};
    const auto accounting = AccountOf(PlayJob(spec));
    ASSERT_TRUE(accounting) << seed;
    const Account& account = accounting->account;
    EXPECT_NEAR(SumOf(account), account.lost_gpu_s, 1e-9 * account.used_gpu_s) << seed;
    EXPECT_GE(account.unexplained_gpu_s, -1e-9) << seed;
    EXPECT_NEAR(account.used_gpu_s - account.ideal_gpu_s, account.lost_gpu_s, 1e-9) << seed;
    // When a message that takes long could begin is not known on the host.
    const bool told = spec.type != JobType::kPipeline || kind != FaultKind::kLink;
    if (told) {
      EXPECT_NEAR(account.replayed_s, account.measured_s,
                  AccountLimits().replay_error * account.measured_s)
          << seed;
    }
  }
}

TEST(AccountingTest, AFaultOfKnownSizeIsChargedWithWhatItCosts) {
  std::size_t near = 0, runs = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    JobSpec spec = Spec(JobType::kDdp, 8, 5, seed);
    spec.jitter = 0.01;
    spec.preempt_rate = 0;
    const JobView well = PlayJob(spec);
    spec.faults = {{FaultKind::kCompute, static_cast<std::uint32_t>(seed % 8), 0, 1, 1 << 30, 20}};
    const auto before = AccountOf(well), with = AccountOf(PlayJob(spec));
    ASSERT_TRUE(before && with);
    const double cost = with->account.replayed_s - before->account.replayed_s;
    ASSERT_EQ(with->accused.size(), 1u) << seed;
    const double told = with->account.shares[0].lost_gpu_s / 8;
    near += std::abs(told - cost) <= 0.1 * cost ? 1 : 0;
    ++runs;
  }
  EXPECT_GE(near, runs * 95 / 100);
}

// Stages at the median of their peers may take longer together than they did, by luck of the draw.
TEST(AccountingTest, NoLessIsLostThanMendingTheOnlyOneWins) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    JobSpec spec = Spec(JobType::kPipeline, 16, 4, seed);
    spec.replicas = 4;
    spec.faults = {{FaultKind::kCompute, static_cast<std::uint32_t>(seed % 16), 0, 1, 1 << 30, 6}};
    const auto accounting = AccountOf(PlayJob(spec));
    if (!accounting || accounting->account.shares.size() != 1) continue;
    const Account& account = accounting->account;
    const double won = account.shares[0].gain_s_per_iteration *
                       static_cast<double>(account.iterations) * spec.ranks;
    EXPECT_GE(account.lost_gpu_s, won - 1e-9) << seed;
  }
}

TEST(AccountingTest, WhoOnlyWaitsGetsNothing) {
  JobSpec spec = Spec(JobType::kTensorData, 8, 6, 3);
  spec.faults = {{FaultKind::kSleep, 5, 0, 1, 1 << 30, 60}};
  const auto accounting = AccountOf(PlayJob(spec));
  ASSERT_TRUE(accounting);
  for (const AccountShare& share : accounting->account.shares) {
    if (share.hidden) continue;
    EXPECT_EQ(share.entity.ranks, std::vector<RankId>{RankId(5)});
  }
}

TEST(AccountingTest, HealthyJobsConvictNobody) {
  std::size_t convicted = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const JobSpec spec =
        Spec(static_cast<JobType>(seed % 3), 4 + 4 * (seed % 2), 3 + seed % 20, seed);
    const JobView view = PlayJob(spec);
    const auto accounting = AccountOf(view);
    if (accounting) convicted += VerdictsOn(view, *accounting).size();
  }
  EXPECT_EQ(convicted, 0u);
}

// A checkpoint costs more than a slow rank, once: that is told, accuses nobody and hides nobody.
TEST(AccountingTest, WhatOneIterationLostIsKnownAndConvictsNobody) {
  JobSpec spec = Spec(JobType::kDdp, 8, 4, 5);
  spec.jitter = 0.01;
  spec.preempt_rate = 0;
  spec.faults = {{FaultKind::kCompute, 5, 0, 1, 1 << 30, 4}, {FaultKind::kSleep, 0, 2, 1, 3, 300}};
  const JobView view = PlayJob(spec);
  const auto accounting = AccountOf(view);
  ASSERT_TRUE(accounting);
  EXPECT_LT(accounting->account.unexplained_gpu_s, 0.2 * accounting->account.lost_gpu_s);
  EXPECT_EQ(accounting->account.shares.front().entity.ranks, std::vector<RankId>{RankId(0)});
  const std::vector<Verdict> verdicts = VerdictsOn(view, *accounting);
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].entity.ranks, std::vector<RankId>{RankId(5)});
}

// Rank 2 computes longer; its batches hold `times` as much as those of the others.
std::vector<Verdict> VerdictsWhereBatchesDiffer(double times) {
  JobSpec spec = Spec(JobType::kDdp, 4, 8, 11);
  spec.faults = {{FaultKind::kCompute, 2, 0, 1, 1 << 30, 60}};
  JobView view = PlayJob(spec);
  for (IterationSummary& iteration : view.window) {
    for (RankIteration& rank : iteration.ranks) {
      rank.batch_elements = rank.rank == RankId(2) ? static_cast<std::uint64_t>(times * 512) : 512;
    }
  }
  const auto accounting = AccountOf(view);
  return accounting ? VerdictsOn(view, *accounting) : std::vector<Verdict>();
}

TEST(AccountingTest, MoreInItsBatchesIsNoFaultOfADevice) {
  const std::vector<Verdict> verdicts = VerdictsWhereBatchesDiffer(4);
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].cause, Cause::kImbalance);
  EXPECT_NE(verdicts[0].sentence.find("4.00 times the work"), std::string::npos);
  EXPECT_NE(verdicts[0].sentence.find("elements of its batches"), std::string::npos);
}

// The near miss: a twentieth more does not explain what takes several times as long.
TEST(AccountingTest, ALittleMoreInItsBatchesDoesNotExcuseADevice) {
  const std::vector<Verdict> verdicts = VerdictsWhereBatchesDiffer(1.05);
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].cause, Cause::kComputeSlow);
}

// A function of its own may make them, so that they excuse nobody; they are told.
TEST(AccountingTest, MoreProductsOfMatricesSpeakAgainstAFaultOfTheDevice) {
  JobSpec spec = Spec(JobType::kDdp, 4, 12, 1);
  spec.faults = {{FaultKind::kCompute, 1, 0, 1, 1 << 30, 60}};
  JobView view = PlayJob(spec);
  const auto counters_of = [&](std::uint32_t mega_flop) {
    for (IterationSummary& it : view.window) {
      for (RankIteration& rank : it.ranks) rank.mega_flop = rank.rank == RankId(1) ? mega_flop : 20;
    }
    const std::vector<Verdict> verdicts = VerdictsOn(view, *AccountOf(view));
    EXPECT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].cause, Cause::kComputeSlow);
    std::vector<double> times;
    for (const Evidence& each : verdicts[0].counter_evidence) {
      if (each.statement.find("FLOP") != std::string::npos) times.push_back(each.value);
    }
    return times;
  };
  EXPECT_EQ(counters_of(60), std::vector<double>{3});
  EXPECT_TRUE(counters_of(22).empty()) << "hardly more";
  EXPECT_TRUE(counters_of(0).empty()) << "not known";
}

// Stages of a pipeline compute what they are given; what their hosts spend on garbage, on their
// batches or asleep is no stage's work.
TEST(AccountingTest, AStageIsNamedByWhatItsHostSpends) {
  const std::pair<FaultKind, Cause> faults[] = {{FaultKind::kGc, Cause::kGc},
                                                {FaultKind::kDataLoader, Cause::kDataLoader},
                                                {FaultKind::kSleep, Cause::kHostSlow}};
  for (const auto& [kind, cause] : faults) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      JobSpec spec = Spec(JobType::kPipeline, 4, 8, 7 + rank);
      spec.faults = {{kind, rank, 0, 1, 1 << 30, 60}};
      const JobView view = PlayJob(spec);
      const auto accounting = AccountOf(view);
      ASSERT_TRUE(accounting);
      const std::vector<Verdict> verdicts = VerdictsOn(view, *accounting);
      ASSERT_EQ(verdicts.size(), 1u) << rank << " of cause " << static_cast<int>(cause);
      EXPECT_EQ(verdicts[0].entity.ranks, std::vector<RankId>{RankId(rank)});
      EXPECT_EQ(verdicts[0].cause, cause) << rank;
    }
  }
}

// A recording may begin at the mark of a step: what the late rank did before is not in it, and the
// others wait for it all the same.
TEST(AccountingTest, WhatWasBeforeTheRecordingIsNobodysAndSpoilsNoReplay) {
  JobSpec spec = Spec(JobType::kDdp, 4, 3, 5);
  spec.faults = {{FaultKind::kSleep, 2, 0, 1, 1 << 30, 60}};
  JobView view = PlayJob(spec);
  for (RankIteration& rank : view.window.front().ranks) {
    if (rank.rank != RankId(2)) continue;
    rank.begin = rank.begin + Nanos(55'000'000);
    rank.duration = rank.duration - Nanos(55'000'000);
  }
  const auto accounting = AccountOf(view);
  ASSERT_TRUE(accounting);
  EXPECT_NEAR(accounting->account.replayed_s, accounting->account.measured_s,
              0.05 * accounting->account.measured_s);
  const std::vector<Verdict> verdicts = VerdictsOn(view, *accounting);
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].entity.ranks, std::vector<RankId>{RankId(2)});
  const double of_two = 2 * 0.060 * 4;
  EXPECT_NEAR(accounting->account.lost_gpu_s, of_two, 0.2 * of_two);
}

// The near miss: where ranks exchange nothing but messages each ends its iterations at another
// time.
TEST(AccountingTest, OfMessagesAloneNobodyBeganLate) {
  JobView view = PlayJob(Spec(JobType::kPipeline, 4, 4, 5));
  for (auto& [rank, rows] : view.rows) {
    std::erase_if(rows.ops, [](const CommOp& op) { return !IsPointToPoint(op.kind); });
  }
  for (RankIteration& rank : view.window.front().ranks) {
    if (rank.rank == RankId(2)) rank.duration = rank.duration + Nanos(90'000'000);
  }
  const DiagnosisConfig config;
  const ExecutionGraph graph(view, {}, Iteration(-1), config);
  for (const LaneGraph& each : BuildLanes(view, graph)) {
    EXPECT_EQ(each.late, std::vector<double>(4, 0));
  }
}

// Who is waited for in every message of a pair leaves none that tells what a transfer takes there.
TEST(AccountingTest, WhatAServerWaitsForItsWorkersIsNoTransfer) {
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    JobSpec spec = Spec(JobType::kServer, 4, 5, 3 + rank);
    spec.rendezvous = true;
    spec.faults = {{FaultKind::kSleep, rank, 0, 1, 1 << 30, 50}};
    const JobView view = PlayJob(spec);
    const auto accounting = AccountOf(view);
    ASSERT_TRUE(accounting);
    EXPECT_NEAR(accounting->account.replayed_s, accounting->account.measured_s,
                0.1 * accounting->account.measured_s)
        << rank;
    const std::vector<Verdict> verdicts = VerdictsOn(view, *accounting);
    ASSERT_EQ(verdicts.size(), 1u) << rank;
    EXPECT_EQ(verdicts[0].entity.ranks, std::vector<RankId>{RankId(rank)});
    EXPECT_EQ(verdicts[0].cause, Cause::kHostSlow) << rank;
  }
}

// Ranks that average their weights now and then have steps without any op: they are played as well.
TEST(AccountingTest, IterationsInWhichNobodyCommunicatesArePlayed) {
  JobView view = PlayJob(Spec(JobType::kDdp, 4, 5, 5));
  const Iteration quiet = view.window[2].index;
  for (RankIteration& rank : view.window[2].ranks) {
    rank.groups.clear();
    rank.ops = 0;
  }
  for (auto& [rank, rows] : view.rows) {
    std::erase_if(rows.ops, [&](const CommOp& op) { return op.iteration == quiet; });
  }
  const auto accounting = AccountOf(view);
  ASSERT_TRUE(accounting);
  EXPECT_EQ(accounting->account.iterations, 5);
  view.window[2].ranks.front().groups = view.window[1].ranks.front().groups;
  EXPECT_EQ(AccountOf(view)->account.iterations, 4) << "there were ops, and rows tell none";
}

// Of messages whose other end was not recorded nobody knows who waits for whom.
TEST(AccountingTest, MessagesWithoutTheirOtherEndTellNotWhoWaits) {
  JobView view = PlayJob(Spec(JobType::kPipeline, 4, 8, 7));
  EXPECT_FALSE(AccountOf(view)->partners_unknown);
  for (auto& [rank, rows] : view.rows) {
    for (CommOp& op : rows.ops) op.peer = kNoRank;
  }
  EXPECT_TRUE(AccountOf(view)->partners_unknown);
}

TEST(AccountingTest, WhoSeemsToCostNothingThereIsAskedAbout) {
  Accounting accounting;
  accounting.replayed_well = true;
  Accused& accused = accounting.accused.emplace_back();
  accused.share.hidden = true;
  accused.share.entity.ranks = {RankId(1)};
  EXPECT_TRUE(AbstainedOn(accounting).empty()) << "it is hidden, and that is known";
  accounting.partners_unknown = true;
  const std::vector<Abstention> asked = AbstainedOn(accounting);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].question, "what rank 1 costs, which takes longer by itself");
}

std::size_t VerdictsLive(int every, int last, bool live) {
  JobSpec spec = Spec(JobType::kDdp, 4, 60, 11);
  spec.preempt_rate = 0;
  spec.faults = {{FaultKind::kSleep, 2, 0, every, last, 40}};
  JobView view = PlayJob(spec);
  view.iterations_seen = live ? 60 : 0;
  const auto accounting = AccountOf(view);
  return accounting ? VerdictsOn(view, *accounting).size() : 0;
}

TEST(AccountingTest, WhatComesAndGoesLiveMustBeMoreThanChance) {
  EXPECT_EQ(VerdictsLive(20, 1 << 30, true), 1u) << "three times, far above all, with a period";
  EXPECT_EQ(VerdictsLive(2, 3, false), 1u) << "twice, far above all, in one look";
  EXPECT_EQ(VerdictsLive(2, 3, true), 0u) << "twice, in one look of hundreds";
}

TEST(AccountingTest, OneIterationIsNoAccount) {
  EXPECT_FALSE(AccountOf(PlayJob(Spec(JobType::kDdp, 4, 1, 1))));
  EXPECT_FALSE(AccountOf(JobView()));
}

}  // namespace
}  // namespace fathom::diagnosis
