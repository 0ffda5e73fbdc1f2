// The physics: schedules end, time adds up, the same seed gives the same job, and what is asked for
// later is what was played before.
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collector/simulate/play/layout.h"
#include "collector/simulate/play/observer.h"
#include "collector/simulate/play/player.h"
#include "collector/simulate/scenario/scenario.h"
#include "gtest/gtest.h"
#include "tests/collector/simulate/parallel_job.h"

namespace fathom::simulate {
namespace {

std::vector<std::uint32_t> AllRanks(const Player& player) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < player.layout().world(); ++r) ranks.push_back(r);
  return ranks;
}

class PlayTest : public ::testing::TestWithParam<std::tuple<Schedule, Sharding>> {};

TEST_P(PlayTest, EveryRankEndsTogetherAndItsTimeAddsUp) {
  const Scenario job = JobOf(std::get<0>(GetParam()), std::get<1>(GetParam()));
  ASSERT_TRUE(Finalize(job).ok()) << Finalize(job);
  Player player(job);
  player.Play(0, 5);
  ASSERT_TRUE(std::isfinite(player.end()));
  for (std::uint32_t rank : AllRanks(player)) {
    EXPECT_DOUBLE_EQ(player.TimeOf(rank), player.end());
    // What is neither computing nor waiting is the host's jitter: little, and never negative.
    const double rest = player.end() - 5 - player.BusyOf(rank) - player.BlockedOf(rank);
    EXPECT_GE(rest, -1e-9);
    EXPECT_LT(rest, 0.05 * (player.end() - 5));
  }
}

TEST_P(PlayTest, MembersSeeTheSameOps) {
  const Scenario job = JobOf(std::get<0>(GetParam()), std::get<1>(GetParam()));
  Player player(job);
  const Observer observer(job, player);
  player.Play(3, 1, AllRanks(player));
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<std::string, int>> seen;
  for (std::uint32_t rank : AllRanks(player)) {
    diagnosis::RankRows rows;
    observer.AddRows(3, rank, 1, Nanos(), rows);
    for (const diagnosis::CommOp& op : rows.ops) {
      EXPECT_TRUE(op.done());
      EXPECT_GE(op.elapsed().count, 0);
      if (IsPointToPoint(op.kind)) continue;
      const std::string what = std::string(CollectiveKindName(op.kind)) + std::to_string(op.bytes);
      ++seen[{op.group.value, op.sequence.value}][what];
    }
  }
  std::map<std::uint64_t, std::uint32_t> size;
  for (const auto& group : player.layout().Groups()) size[group.id.value] = group.size;
  for (const auto& [key, whats] : seen) {
    ASSERT_EQ(whats.size(), 1u) << "members of one op disagree on what it is";
    EXPECT_EQ(whats.begin()->second, static_cast<int>(size.at(key.first)));
  }
}

TEST_P(PlayTest, PlayedAgainItIsTheSame) {
  const Scenario job = JobOf(std::get<0>(GetParam()), std::get<1>(GetParam()));
  Player once(job), again(job);
  again.Play(7, 0);
  once.Play(3, 2);
  again.Play(3, 2, {1, 9});
  EXPECT_EQ(once.end(), again.end());
  EXPECT_EQ(once.BlockedOf(9), again.BlockedOf(9));
}

INSTANTIATE_TEST_SUITE_P(
    All, PlayTest,
    ::testing::Combine(::testing::Values(Schedule::kOneForwardOneBackward, Schedule::kInterleaved,
                                         Schedule::kZeroBubble),
                       ::testing::Values(Sharding::kNone, Sharding::kZero1, Sharding::kFsdp)));

TEST(LayoutTest, GroupsPartitionTheRanks) {
  const Scenario job = JobOf(Schedule::kOneForwardOneBackward, Sharding::kNone);
  const Layout layout(job);
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const auto dimension = static_cast<Dimension>(d);
    std::vector<int> seen(layout.world());
    for (std::uint32_t g = 0; g < layout.GroupCount(dimension); ++g) {
      for (std::uint32_t rank : layout.Members(dimension, g)) {
        ++seen[rank];
        EXPECT_EQ(layout.GroupOf(dimension, rank), g);
      }
    }
    EXPECT_EQ(seen, std::vector<int>(layout.world(), 1)) << "dimension " << d;
  }
}

TEST(FaultTest, ASlowGpuLengthensTheIterationByAboutItsShare) {
  Scenario job;
  job.plan = {.tensor = 4, .pipeline = 2, .data = 4};
  Player healthy(job);
  healthy.Play(50, 0);
  job.faults = {{.kind = FaultKind::kSlowGpu, .rank = 13, .factor = 1.5}};
  Player before(job);
  before.Play(39, 0);
  Player during(job);
  during.Play(50, 0);
  EXPECT_LT(before.end(), 1.1 * healthy.end()) << "not before its onset";
  EXPECT_GT(during.end(), 1.2 * healthy.end());
  EXPECT_LT(during.end(), 1.5 * healthy.end());
  EXPECT_LT(during.BlockedOf(13), during.BlockedOf(12)) << "its tensor peer waits for it";
}

TEST(FaultTest, AStoppedRankHangsTheJob) {
  Scenario job;
  job.plan = {.tensor = 4, .pipeline = 2, .data = 4};
  job.faults = {{.kind = FaultKind::kHangProcess, .rank = 5, .from = 2}};
  Player player(job);
  player.Play(1, 0);
  EXPECT_TRUE(std::isfinite(player.end()));
  player.Play(2, 0, {4, 5});
  EXPECT_TRUE(std::isinf(player.end()));
  const auto& victim = player.SumsOf(Dimension::kTensor, 4);
  const auto& culprit = player.SumsOf(Dimension::kTensor, 5);
  EXPECT_GT(victim.entered, culprit.entered);
  EXPECT_EQ(victim.ended, culprit.ended);
}

}  // namespace
}  // namespace fathom::simulate
