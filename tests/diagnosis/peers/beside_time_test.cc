#include "diagnosis/peers/beside_time.h"

#include <gtest/gtest.h>

namespace fathom::diagnosis {
namespace {

constexpr GroupId kAll(7);

std::vector<Group> OneGroup() { return {{kAll, "all", "all", 4, {}, false}}; }

// An iteration of 100 ms.
RankIteration RankOf(std::uint32_t number, double blocked, double unsure, double beside,
                     double leading = 0) {
  RankIteration rank;
  rank.rank = RankId(number);
  rank.duration = Nanos::FromSeconds(0.1);
  rank.blocked = Nanos::FromSeconds(blocked / 1e3);
  rank.unsure = Nanos::FromSeconds(unsure / 1e3);
  rank.beside = Nanos::FromSeconds(beside / 1e3);
  rank.leading = Nanos::FromSeconds(leading / 1e3);
  rank.device_wait = Nanos::FromSeconds(0.09);
  rank.groups.push_back({kAll, 10, {}, {}, Nanos::FromSeconds(0.002), {}});
  return rank;
}

double BlockedMs(const IterationSummary& iteration, std::size_t at) {
  return iteration.ranks[at].blocked.Seconds() * 1e3;
}

// Rank 0 computes for 40 ms outside of its ops and 60 beside them; the others are a tenth quicker.
TEST(BesideTimeTest, WhatARankNeedsOutsideItNeedsInside) {
  IterationSummary iteration;
  iteration.ranks = {RankOf(0, 0, 0, 60), RankOf(1, 64, 62, 0), RankOf(2, 64, 62, 0)};
  SettleBlocked(OneGroup(), iteration);
  EXPECT_NEAR(BlockedMs(iteration, 0), 0, 1e-6);
  EXPECT_NEAR(BlockedMs(iteration, 1), 10, 1e-6);
  EXPECT_NEAR(BlockedMs(iteration, 2), 10, 1e-6);
}

// What a host took comes once: it waited for its device 4 ms less.
TEST(BesideTimeTest, APauseOfAHostIsNotStretched) {
  IterationSummary iteration;
  iteration.ranks = {RankOf(0, 0, 0, 60), RankOf(1, 64, 62, 0)};
  iteration.ranks[0].device_wait = Nanos::FromSeconds(0.086);
  SettleBlocked(OneGroup(), iteration);
  EXPECT_NEAR(BlockedMs(iteration, 1), 4, 1e-6);
}

TEST(BesideTimeTest, AnOpThatLastsLongerTellsOfALeadThatBeganInside) {
  IterationSummary iteration;
  iteration.ranks = {RankOf(0, 0, 0, 60), RankOf(1, 60, 58, 0, 22)};
  SettleBlocked(OneGroup(), iteration);
  EXPECT_NEAR(BlockedMs(iteration, 1), 20, 1e-6);
}

TEST(BesideTimeTest, NobodyLeavesHisBounds) {
  IterationSummary iteration;
  iteration.ranks = {RankOf(0, 0, 0, 60), RankOf(1, 30, 10, 30), RankOf(2, 8, 6, 52)};
  SettleBlocked(OneGroup(), iteration);
  EXPECT_NEAR(BlockedMs(iteration, 1), 20, 1e-6);
  EXPECT_NEAR(BlockedMs(iteration, 2), 2, 1e-6);
}

TEST(BesideTimeTest, AnOlderAgentsRankIsTakenToBeAsTheOthers) {
  IterationSummary iteration;
  iteration.ranks = {RankOf(0, 10, 0, 50), RankOf(1, 10, 0, 50), RankOf(2, 30, 0, 0)};
  SettleBlocked(OneGroup(), iteration);
  EXPECT_NEAR(BlockedMs(iteration, 2), 10, 1e-6);
  EXPECT_TRUE(iteration.ranks[2].settled);
}

TEST(BesideTimeTest, WhereThatOneComputesLongestNobodyIsKnownToBeAheadOfIt) {
  IterationSummary iteration;
  iteration.ranks = {RankOf(0, 60, 58, 0), RankOf(1, 60, 58, 0), RankOf(2, 20, 0, 0)};
  SettleBlocked(OneGroup(), iteration);
  for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_NEAR(BlockedMs(iteration, rank), 20, 1e-6);
}

TEST(BesideTimeTest, WhereNobodyTellsOfSuchOpsAllStaysAsItIs) {
  IterationSummary iteration;
  iteration.ranks = {RankOf(0, 10, 0, 0), RankOf(1, 30, 0, 0)};
  SettleBlocked(OneGroup(), iteration);
  EXPECT_NEAR(BlockedMs(iteration, 0), 10, 1e-6);
  EXPECT_NEAR(BlockedMs(iteration, 1), 30, 1e-6);
  EXPECT_FALSE(iteration.ranks[0].settled);
}

}  // namespace
}  // namespace fathom::diagnosis
