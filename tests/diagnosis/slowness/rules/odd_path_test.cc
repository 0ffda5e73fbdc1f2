// A job that was never otherwise: four ranks in a ring, with times per byte as a transport counted
// them in the last 20 s of a job of 400 ms an iteration.
#include "diagnosis/slowness/rules/odd_path.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kRingMegabyte = 1'000'000;

struct RingPath {
  std::uint32_t src, dst;
  int busy_ms, megabytes = 100, before_ms = 0, before_megabytes = 0;
};

RankIteration IterationOf(std::uint32_t rank, int blocked_ms) {
  RankIteration mine;
  mine.rank = RankId(rank);
  mine.duration = Nanos(400'000'000);
  mine.blocked = Nanos(blocked_ms * 1'000'000LL);
  return mine;
}

JobView RingJob(const std::vector<RingPath>& paths, int blocked_ms = 300) {
  JobView view;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    view.ranks.emplace_back();
    view.ranks.back().rank = RankId(rank);
    view.ranks.back().node = "n" + std::to_string(rank);
  }
  for (int i = 1; i <= 60; ++i) {
    IterationSummary it;
    it.index = Iteration(i);
    it.begin = WallNs(i * 400'000'000LL);
    for (std::uint32_t rank = 0; rank < 4; ++rank)
      it.ranks.push_back(IterationOf(rank, blocked_ms));
    view.window.push_back(it);
  }
  view.iterations_seen = 60;
  for (const RingPath& path : paths) {
    view.ranks[path.src].flows.push_back(
        {RankId(path.dst), static_cast<std::uint64_t>(path.before_megabytes) * kRingMegabyte,
         static_cast<std::uint64_t>(path.megabytes) * kRingMegabyte,
         Nanos(path.before_ms * 1'000'000LL), Nanos(path.busy_ms * 1'000'000LL), false});
  }
  return view;
}

std::optional<Verdict> FindIn(const JobView& view) { return FindOddPath(view, DiagnosisConfig{}); }

TEST(OddPath, DeviceOfTheRankThatBothSlowPathsShare) {
  const auto found = FindIn(RingJob({{0, 3, 900}, {1, 0, 9000}, {2, 1, 8600}, {3, 2, 1000}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::kLinkSlow);
  EXPECT_EQ(found->entity.type, EntityType::kNic);
  EXPECT_THAT(found->entity.ranks, ElementsAre(RankId(1)));
  EXPECT_EQ(found->grade, Grade::kSupported);
  EXPECT_TRUE(found->from_start);
  // 8.1 of 20 s.
  EXPECT_NEAR(found->cost.seconds_per_iteration, 0.162, 0.001);
  EXPECT_THAT(found->sentence, HasSubstr("since the job began"));
  EXPECT_THAT(found->sentence, HasSubstr("to and from rank 1"));
}

TEST(OddPath, PathThatStandsOutAlone) {
  const auto found = FindIn(RingJob({{0, 3, 900}, {1, 0, 9000}, {2, 1, 1000}, {3, 2, 1000}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->entity.type, EntityType::kLink);
  EXPECT_THAT(found->entity.ranks, ElementsAre(RankId(1), RankId(0)));
}

TEST(OddPath, WhoWaitsLessThanItCostsBoundsTheCost) {
  const auto found = FindIn(RingJob({{0, 3, 900}, {1, 0, 9000}, {2, 1, 8600}, {3, 2, 1000}}, 60));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->cost.seconds_per_iteration, 0.06, 1e-6);
}

TEST(OddPath, ItWasSoBeforeTooIsStillSo) {
  EXPECT_TRUE(FindIn(RingJob({{0, 3, 900, 100, 900, 100},
                              {1, 0, 9000, 100, 8800, 100},
                              {2, 1, 8600, 100, 8000, 100},
                              {3, 2, 1000, 100, 900, 100}})));
}

TEST(OddPath, WhatBecameSlowIsLeftToTheJobsPast) {
  EXPECT_FALSE(FindIn(RingJob({{0, 3, 900, 100, 900, 100},
                               {1, 0, 9000, 100, 900, 100},
                               {2, 1, 8600, 100, 900, 100},
                               {3, 2, 1000, 100, 900, 100}})));
}

TEST(OddPath, NearMissNotFourTimesAsSlow) {
  EXPECT_FALSE(FindIn(RingJob({{0, 3, 2500}, {1, 0, 9500}, {2, 1, 9000}, {3, 2, 2600}})));
}

TEST(OddPath, NearMissNothingToWin) {
  EXPECT_FALSE(FindIn(RingJob({{0, 3, 90}, {1, 0, 900}, {2, 1, 860}, {3, 2, 100}})));
  EXPECT_FALSE(FindIn(RingJob({{0, 3, 900}, {1, 0, 9000}, {2, 1, 8600}, {3, 2, 1000}}, 10)));
}

TEST(OddPath, ConfuserSmallMessages) {
  EXPECT_FALSE(FindIn(RingJob({{0, 3, 900}, {1, 0, 9000, 20}, {2, 1, 8600, 20}, {3, 2, 1000}})));
}

TEST(OddPath, ConfuserPathsWithinANode) {
  JobView view = RingJob({{0, 3, 900}, {1, 0, 9000}, {2, 1, 8600}, {3, 2, 1000}});
  view.ranks[3].node = "n0";
  EXPECT_FALSE(FindIn(view));
}

// Of processes that wait for cores on one machine, whose loopback no cable can slow down.
TEST(OddPath, ConfuserWhatStaysWithinAHost) {
  JobView view = RingJob({{0, 3, 900}, {1, 0, 9000}, {2, 1, 1000}, {3, 2, 1000}});
  for (RankFacts& facts : view.ranks) {
    for (PathFlow& flow : facts.flows) flow.within_host = true;
  }
  EXPECT_FALSE(FindIn(view));
}

TEST(OddPath, ConfuserAnEndThatWaitsForCores) {
  const std::vector<RingPath> slow = {{0, 3, 900}, {1, 0, 9000}, {2, 1, 1000}, {3, 2, 1000}};
  const auto starved = [&](int ms) {
    JobView view = RingJob(slow);
    for (IterationSummary& it : view.window) it.ranks[0].runqueue = Nanos(ms * 1'000'000LL);
    return view;
  };
  EXPECT_FALSE(FindIn(starved(100)));
  EXPECT_TRUE(FindIn(starved(20))) << "it costs 162 ms, eight times as much";
}

TEST(OddPath, HealthyIsSilent) {
  EXPECT_FALSE(FindIn(RingJob({{0, 3, 9000}, {1, 0, 8900}, {2, 1, 9600}, {3, 2, 9300}})));
}

TEST(OddPath, MissingSignals) {
  EXPECT_FALSE(FindIn(RingJob({})));
  EXPECT_FALSE(FindIn(JobView()));
  EXPECT_FALSE(FindIn(RingJob({{1, 0, 9000}, {2, 1, 900}})));
}

}  // namespace
}  // namespace fathom::diagnosis
