#include "diagnosis/hang/place/stack_clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Frames = std::vector<std::string>;

JobView ViewOf(const std::vector<Frames>& stacks) {
  JobView view;
  for (std::uint32_t i = 0; i < stacks.size(); ++i) {
    RankFacts facts;
    facts.rank = RankId(i);
    facts.stack.frames = stacks[i];
    facts.stack.source = "py-spy";
    facts.stack.pause = Nanos(i * 1000);
    view.ranks.push_back(facts);
  }
  return view;
}

const Frames kWaits = {"all_reduce (torch.py:9)", "share (job.py:70)", "main (job.py:90)"};
const Frames kWaitsElsewhere = {"all_reduce (torch.py:9)", "share (job.py:71)", "main (job.py:90)"};
const Frames kStuck = {"get (queue.py:3)", "work (job.py:20)", "main (job.py:88)"};

TEST(StackClustersTest, TheOddOneComesFirstWithTheFrameInWhichItDiffers) {
  const auto clusters = ClusterStacks(ViewOf({kWaits, kWaitsElsewhere, {}, kStuck}), {RankId(3)});
  ASSERT_EQ(clusters.size(), 2u);
  EXPECT_TRUE(clusters[0].culprit);
  EXPECT_THAT(clusters[0].ranks, ElementsAre(RankId(3)));
  EXPECT_EQ(clusters[0].differs_at, 1) << "main is shared though its line is another";
  EXPECT_THAT(clusters[1].ranks, ElementsAre(RankId(0), RankId(1)));
  EXPECT_EQ(clusters[1].pause, Nanos(1000));
  EXPECT_EQ(clusters[1].differs_at, 1);
}

TEST(StackClustersTest, WhoStaysWhereOthersWentDeeperDiffersInItsInnermostFrame) {
  const Frames outer(kWaits.begin() + 1, kWaits.end());
  const auto clusters = ClusterStacks(ViewOf({kWaits, kWaits, outer}), {RankId(2)});
  ASSERT_EQ(clusters.size(), 2u);
  EXPECT_EQ(clusters[0].differs_at, 0);
  EXPECT_EQ(clusters[1].differs_at, 0);
}

TEST(StackClustersTest, EqualStacksHaveNoDifferenceAndNoneNoCluster) {
  const auto one = ClusterStacks(ViewOf({kWaits, kWaitsElsewhere}), {RankId(0)});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].differs_at, -1);
  EXPECT_THAT(ClusterStacks(ViewOf({{}, {}}), {RankId(0)}), IsEmpty());
}

TEST(StackClustersTest, ColonsOfNamespacesAreNoLines) {
  const Frames a = {"c10d::wait (libtorch.so)"}, b = {"c10d::run (libtorch.so)"};
  EXPECT_EQ(ClusterStacks(ViewOf({a, b}), {RankId(0)}).size(), 2u);
}

}  // namespace
}  // namespace fathom::diagnosis
