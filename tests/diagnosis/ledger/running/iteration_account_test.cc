// The account of single iterations, from summaries.
#include "diagnosis/ledger/running/iteration_account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace fathom::diagnosis {
namespace {

constexpr double kTransfer = 0.010;

double SecondsOf(const IterationAccount& account, RankId rank, GroupId group = {}) {
  double sum = 0;
  for (const Charge& charge : account.charges) {
    if (charge.group == group && (group.value != 0 || charge.rank == rank)) sum += charge.seconds;
  }
  return sum;
}

Cause CauseOf(const IterationAccount& account, std::uint32_t rank) {
  for (const Charge& charge : account.charges) {
    if (charge.rank == RankId(rank)) return charge.cause;
  }
  return Cause::kRegression;
}

double SumOf(const IterationAccount& account) {
  double sum = account.unexplained_s;
  for (const Charge& charge : account.charges) sum += charge.seconds;
  return sum;
}

// Ranks that compute `own` each and then meet in one communicator of all, besides pairs of their
// own: 0 and 1, 2 and 3, ….
struct Job {
  std::vector<Group> groups;
  IterationSummary iteration;

  explicit Job(std::vector<double> own, bool pairs = false) {
    const auto ranks = static_cast<std::uint32_t>(own.size());
    groups.push_back({GroupId(1), "", "world", ranks, {}});
    const double longest = *std::max_element(own.begin(), own.end());
    for (std::uint32_t r = 0; r < ranks; ++r) {
      RankIteration rank;
      rank.rank = RankId(r);
      rank.duration = Nanos::FromSeconds(longest + kTransfer);
      rank.blocked = Nanos::FromSeconds(longest - own[r] + kTransfer);
      rank.cpu = Nanos::FromSeconds(own[r]);
      rank.groups.push_back({GroupId(1), 1, rank.blocked, {}, {}, {}});
      if (pairs) rank.groups.push_back(PairOf(r, 0.004));
      iteration.ranks.push_back(rank);
    }
    for (std::uint32_t p = 0; pairs && p < ranks / 2; ++p) {
      groups.push_back({GroupId(2 + p), "", "tensor", 2, {RankId(2 * p), RankId(2 * p + 1)}});
    }
  }
  static GroupIteration PairOf(std::uint32_t rank, double seconds) {
    return {GroupId(2 + rank / 2), 4, Nanos::FromSeconds(seconds), {}, {}, {}};
  }
  IterationAccount Account(double expected_s = 0) const {
    return IterationAccountant().Account(iteration, groups, expected_s);
  }
};

TEST(IterationAccountTest, TheSlowRankIsChargedWithAllThatItCosts) {
  const IterationAccount account = Job({0.1, 0.1, 0.15, 0.1}).Account();
  EXPECT_NEAR(account.used_s, 0.16, 1e-9);
  EXPECT_NEAR(account.lost_s, 0.05, 1e-9);
  EXPECT_NEAR(SecondsOf(account, RankId(2)), 0.05, 1e-9);
  EXPECT_EQ(account.charges.size(), 1u) << "who only waits gets nothing";
  EXPECT_EQ(CauseOf(account, 2), Cause::kComputeSlow);
  EXPECT_NEAR(account.unexplained_s, 0, 1e-9);
}

TEST(IterationAccountTest, WhatComputesLongerOnMoreIsUnequalWork) {
  Job job({0.1, 0.1, 0.15, 0.1});
  for (RankIteration& rank : job.iteration.ranks) rank.batch_elements = 1000;
  job.iteration.ranks[2].batch_elements = 1500;
  EXPECT_EQ(CauseOf(job.Account(), 2), Cause::kImbalance);
  job.iteration.ranks[2].batch_elements = 1050;
  EXPECT_EQ(CauseOf(job.Account(), 2), Cause::kComputeSlow);
}

TEST(IterationAccountTest, TheCauseIsWhatTheExcessMostlyIs) {
  Job job({0.1, 0.1, 0.15, 0.1});
  job.iteration.ranks[2].gc = Nanos::FromSeconds(0.04);
  EXPECT_EQ(CauseOf(job.Account(), 2), Cause::kGc);
  job.iteration.ranks[2].gc = {};
  job.iteration.ranks[2].dataloader = Nanos::FromSeconds(0.045);
  EXPECT_EQ(CauseOf(job.Account(), 2), Cause::kDataLoader);
  job.iteration.ranks[2].dataloader = {};
  job.iteration.ranks[2].cpu = job.iteration.ranks[0].cpu;
  EXPECT_EQ(CauseOf(job.Account(), 2), Cause::kHostSlow);
}

TEST(IterationAccountTest, WhatIsWaitedForACoreIsNobodys) {
  Job job({0.1, 0.1, 0.15, 0.1});
  job.iteration.ranks[2].cpu = job.iteration.ranks[0].cpu;
  job.iteration.ranks[2].runqueue = Nanos::FromSeconds(0.05);
  const IterationAccount all = job.Account();
  EXPECT_NEAR(all.lost_s, 0.05, 1e-9) << "lost it is";
  EXPECT_TRUE(all.charges.empty());
  EXPECT_NEAR(all.unexplained_s, 0.05, 1e-9);
  job.iteration.ranks[2].runqueue = Nanos::FromSeconds(0.02);
  const IterationAccount part = job.Account();
  EXPECT_NEAR(SecondsOf(part, RankId(2)), 0.03, 1e-9) << "the rest is its own";
  EXPECT_NEAR(SumOf(part), part.lost_s, 1e-9);
}

TEST(IterationAccountTest, NorWhatTheMakersOfBatchesWaited) {
  Job job({0.1, 0.1, 0.15, 0.1});
  job.iteration.ranks[2].dataloader = Nanos::FromSeconds(0.05);
  job.iteration.ranks[2].loader_starved = Nanos::FromSeconds(0.05);
  EXPECT_TRUE(job.Account().charges.empty());
  job.iteration.ranks[2].loader_starved = {};
  EXPECT_EQ(CauseOf(job.Account(), 2), Cause::kDataLoader);
}

TEST(IterationAccountTest, OfTwoThatAreSlowTheSlicesAreShared) {
  // 40 ms are lost by both, 20 more by rank 3 alone: Shapley's shares are 20 and 40.
  const IterationAccount account = Job({0.1, 0.1, 0.14, 0.16, 0.1, 0.1}).Account();
  EXPECT_NEAR(account.lost_s, 0.06, 1e-9);
  EXPECT_NEAR(SecondsOf(account, RankId(2)), 0.02, 1e-9);
  EXPECT_NEAR(SecondsOf(account, RankId(3)), 0.04, 1e-9);
}

TEST(IterationAccountTest, NoiseIsNobodys) {
  const IterationAccount account = Job({0.1, 0.1005, 0.0995, 0.101}).Account();
  EXPECT_TRUE(account.charges.empty());
  EXPECT_NEAR(account.unexplained_s, account.lost_s, 1e-12);
  EXPECT_GT(account.lost_s, 0);
}

// Of twelve ranks, in pairs of which the fourth is slow.
Job WithASlowPair() {
  Job job(std::vector<double>(12, 0.1), true);
  for (std::uint32_t r = 0; r < 12; ++r) {
    RankIteration& rank = job.iteration.ranks[r];
    const bool slow = r / 2 == 3;
    // Its members wait less for the others afterwards.
    rank.duration = Nanos::FromSeconds(0.15);
    rank.blocked = Nanos::FromSeconds(0.05);
    rank.groups[0].elapsed = Nanos::FromSeconds(slow ? 0.01 : 0.04);
    rank.groups[1] = Job::PairOf(r, slow ? 0.034 : 0.004);
  }
  return job;
}

TEST(IterationAccountTest, ACommunicatorThatIsSlowerThanItsLikeIsCharged) {
  const IterationAccount account = WithASlowPair().Account();
  EXPECT_NEAR(account.lost_s, 0.03, 1e-9);
  EXPECT_NEAR(SecondsOf(account, {}, GroupId(5)), 0.03, 1e-9);
  EXPECT_NEAR(account.unexplained_s, 0, 1e-9);
}

TEST(IterationAccountTest, AJobStartedAgainHasCommunicatorsOfOtherIds) {
  Job job = WithASlowPair();
  IterationAccountant accountant;
  accountant.Account(job.iteration, job.groups, 0);
  constexpr std::uint64_t kLater = 1000;
  for (Group& group : job.groups) group.id = GroupId(group.id.value + kLater);
  for (RankIteration& rank : job.iteration.ranks) {
    for (GroupIteration& group : rank.groups) group.group = GroupId(group.group.value + kLater);
  }
  const IterationAccount account = accountant.Account(job.iteration, job.groups, 0);
  EXPECT_NEAR(SecondsOf(account, {}, GroupId(5 + kLater)), 0.03, 1e-9);
}

TEST(IterationAccountTest, AFamilyThatDiffersByDesignAccusesNone) {
  Job job(std::vector<double>(12, 0.1), true);
  for (std::uint32_t r = 0; r < 12; ++r) {
    job.iteration.ranks[r].groups[1] = Job::PairOf(r, r < 6 ? 0.034 : 0.004);
  }
  EXPECT_TRUE(job.Account().charges.empty());
}

TEST(IterationAccountTest, OfTwoItIsNotSaidWhoIsWrong) {
  Job job({0.1, 0.15});
  const IterationAccount account = job.Account();
  EXPECT_TRUE(account.charges.empty());
  EXPECT_NEAR(account.unexplained_s, 0.05, 1e-9);
  // Unless it is what a host spends.
  job.iteration.ranks[1].gc = Nanos::FromSeconds(0.05);
  EXPECT_EQ(CauseOf(job.Account(), 1), Cause::kGc);
}

TEST(IterationAccountTest, AStageThatHasLessToDoHidesItsExcess) {
  // Ranks 0 to 3 take 60 ms by design, 4 to 7 take 100; rank 1 takes 80 and costs nothing.
  Job job({0.06, 0.08, 0.06, 0.06, 0.1, 0.1, 0.1, 0.1});
  for (std::uint32_t r = 0; r < 4; ++r) job.iteration.ranks[r].groups[0].count = 2;
  const IterationAccount account = job.Account();
  EXPECT_NEAR(account.lost_s, 0, 1e-9);
  EXPECT_TRUE(account.charges.empty());
}

TEST(IterationAccountTest, WhatAllLostAgainstThePastIsUnexplained) {
  const IterationAccount account = Job({0.1, 0.1, 0.1, 0.1}).Account(0.08);
  EXPECT_NEAR(account.lost_s, 0.03, 1e-9);
  EXPECT_NEAR(account.unexplained_s, 0.03, 1e-9);
}

TEST(IterationAccountTest, NothingToCompareLosesNothing) {
  EXPECT_EQ(IterationAccountant().Account({}, {}, 0).lost_s, 0);
  EXPECT_EQ(Job({0.1}).Account().lost_s, 0);
}

// Of jobs drawn at random: shares and the rest sum to the loss, and renaming ranks renames them.
TEST(IterationAccountTest, SharesSumToTheLossOnTenThousandDrawnIterations) {
  std::mt19937 dice(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 10'000; ++i) {
    std::vector<double> own(2 + dice() % 15);
    for (double& each : own) {
      const double fault = uniform(dice) < 0.2 ? uniform(dice) * uniform(dice) * 0.3 : 0;
      each = 0.1 + 0.004 * uniform(dice) + fault;
    }
    Job job(own, uniform(dice) < 0.5);
    for (RankIteration& rank : job.iteration.ranks) {
      if (uniform(dice) < 0.1) rank.gc = Nanos::FromSeconds(0.1 * uniform(dice));
      for (GroupIteration& group : rank.groups) {
        if (uniform(dice) < 0.1) group.elapsed = Nanos::FromSeconds(0.1 * uniform(dice));
      }
      if (uniform(dice) < 0.02)
        rank.duration = Nanos(static_cast<std::int64_t>(dice()) - (1 << 30));
    }
    const IterationAccount account = job.Account(uniform(dice) < 0.1 ? 0.09 : 0);
    ASSERT_NEAR(SumOf(account), account.lost_s, 1e-9) << i;
    ASSERT_GE(account.unexplained_s, 0) << i;
    ASSERT_LE(account.lost_s, std::max(0.0, account.used_s) + 1e-9) << i;
    for (const Charge& charge : account.charges) ASSERT_GE(charge.seconds, 0) << i;

    std::reverse(job.iteration.ranks.begin(), job.iteration.ranks.end());
    const IterationAccount renamed = job.Account(0);
    if (account.lost_s == renamed.lost_s) {
      for (const Charge& charge : account.charges) {
        ASSERT_NEAR(SecondsOf(account, charge.rank, charge.group),
                    SecondsOf(renamed, charge.rank, charge.group), 1e-9)
            << i;
      }
    }
  }
}

// A fault of known size, from 2 % of the iteration on, comes back within a tenth of its gain.
TEST(IterationAccountTest, AFaultOfKnownSizeComesBack) {
  std::mt19937 dice(11);
  std::normal_distribution<double> noise(0.1, 0.0002);
  std::uniform_real_distribution<double> size(0.003, 0.1);
  int near = 0;
  constexpr int kCases = 500;
  for (int i = 0; i < kCases; ++i) {
    std::vector<double> own(16);
    for (double& each : own) each = noise(dice);
    const double before = *std::max_element(own.begin(), own.end());
    const std::size_t rank = dice() % own.size();
    own[rank] += size(dice);
    const double gain = *std::max_element(own.begin(), own.end()) - before;
    const IterationAccount account = Job(own).Account();
    const double told = SecondsOf(account, RankId(static_cast<std::uint32_t>(rank)));
    near += std::abs(told - gain) <= 0.1 * gain ? 1 : 0;
  }
  EXPECT_GE(near, 0.95 * kCases);
}

}  // namespace
}  // namespace fathom::diagnosis
