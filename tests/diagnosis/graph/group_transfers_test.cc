#include "diagnosis/graph/group_transfers.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

constexpr GroupId kGroup{7};

// Three members; elapsed of the group's ops in ms, one list an iteration.
JobView Job(const std::vector<std::vector<int>>& elapsed_ms) {
  JobView view;
  view.groups.emplace_back();
  view.groups.back().id = kGroup;
  view.groups.back().size = 3;
  for (const auto& of_ranks : elapsed_ms) {
    IterationSummary iteration;
    iteration.index = Iteration(static_cast<std::int64_t>(view.window.size()));
    for (std::size_t i = 0; i < of_ranks.size(); ++i) {
      RankIteration rank;
      rank.rank = RankId(static_cast<std::uint32_t>(i));
      rank.groups.emplace_back();
      rank.groups.back().group = kGroup;
      rank.groups.back().elapsed = Nanos(of_ranks[i] * 1'000'000LL);
      iteration.ranks.push_back(rank);
    }
    view.window.push_back(iteration);
  }
  return view;
}

std::vector<GroupTransfers> Transfers(const JobView& view) {
  return TransfersOf(view, {Iteration(2), Iteration(3)}, {Iteration(0), Iteration(1)});
}

TEST(GroupTransfersTest, TheMemberThatWaitsForNobodyTellsTheTransfer) {
  const auto found = Transfers(Job({{5, 2, 9}, {2, 8, 3}, {40, 30, 50}, {31, 60, 33}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].usual, 0.002);
  EXPECT_THAT(found[0].times,
              ::testing::ElementsAre(::testing::DoubleEq(0.03), ::testing::DoubleEq(0.031)));
}

TEST(GroupTransfersTest, ALateMemberDoesNotLengthenIt) {
  const auto found = Transfers(Job({{5, 2, 9}, {2, 8, 3}, {40, 2, 50}, {31, 2, 33}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].times, ::testing::Each(0.002));
}

TEST(GroupTransfersTest, NothingIsToldWithoutEveryMember) {
  EXPECT_TRUE(Transfers(Job({{5, 2, 9}, {2, 8, 3}, {40, 30}, {31, 60, 33}})).empty());
  EXPECT_TRUE(Transfers(Job({{5, 2}, {2, 8}, {40, 30}, {31, 60}})).empty());
  EXPECT_TRUE(Transfers(Job({{5, 2, 9}, {2, 8, 3}, {40, 30, 50}})).empty());
}

}  // namespace
}  // namespace fathom::diagnosis
