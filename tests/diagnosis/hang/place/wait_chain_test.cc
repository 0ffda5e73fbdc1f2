#include "diagnosis/hang/place/wait_chain.h"

#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<RankId> Ranks(std::initializer_list<std::uint32_t> values) {
  std::vector<RankId> ranks;
  for (const std::uint32_t value : values) ranks.emplace_back(value);
  return ranks;
}

Wait In(std::uint64_t group, std::int64_t number, std::initializer_list<std::uint32_t> inside,
        std::initializer_list<std::uint32_t> held_by, double waited_s = 1) {
  return {GroupId(group), CollectiveKind::kAllReduce,
          number,         Nanos::FromSeconds(waited_s),
          Ranks(inside),  Ranks(held_by)};
}

JobView Job() {
  JobView view;
  view.groups = {{GroupId(1), "0", "WORLD", 8, {}},
                 {GroupId(2), "1", "TENSOR", 2, {}},
                 {GroupId(3), "2", "TENSOR", 2, {}},
                 {GroupId(4), "3", "", 2, {}}};
  return view;
}

TEST(WaitChainTest, FollowsTheWaitingOutwards) {
  const auto chain =
      ChainBehind(Job(), Ranks({2}), {In(1, 5, {0, 1, 4}, {2, 3}, 3), In(2, 41, {3}, {2}, 9)});
  ASSERT_THAT(chain, SizeIs(2));  // both wait for rank 2 itself
  EXPECT_EQ(chain[0].hop, 1);
  EXPECT_EQ(chain[0].group, "WORLD");
  EXPECT_EQ(chain[0].waiting, Ranks({0, 1, 4}));
  EXPECT_EQ(chain[0].for_ranks, Ranks({2}));
  EXPECT_EQ(chain[1].waiting, Ranks({3}));
  EXPECT_EQ(chain[1].number, 41);
  EXPECT_EQ(chain[1].waited, Nanos::FromSeconds(9));
}

TEST(WaitChainTest, WhoWaitsForAWaiterIsAHopFurther) {
  const auto chain = ChainBehind(Job(), Ranks({2}), {In(1, 5, {0, 1}, {3}), In(4, 41, {3}, {2})});
  ASSERT_THAT(chain, SizeIs(2));
  EXPECT_EQ(chain[0].waiting, Ranks({3}));
  EXPECT_EQ(chain[0].group, "group 3") << "the name where there is no description";
  EXPECT_EQ(chain[1].hop, 2);
  EXPECT_EQ(chain[1].waiting, Ranks({0, 1}));
  EXPECT_EQ(chain[1].for_ranks, Ranks({3}));
}

TEST(WaitChainTest, GroupsLikeEachOtherAreOneStep) {
  const auto chain = ChainBehind(
      Job(), Ranks({0, 2}), {In(2, 7, {1}, {0}, 2), In(3, 8, {3}, {2}, 4), In(1, 1, {5}, {4})});
  ASSERT_THAT(chain, SizeIs(1)) << "who waits for others is not of this chain";
  EXPECT_EQ(chain[0].groups, 2);
  EXPECT_EQ(chain[0].waiting, Ranks({1, 3}));
  EXPECT_EQ(chain[0].number, kNoWaitNumber) << "7 and 8";
  EXPECT_EQ(chain[0].waited, Nanos::FromSeconds(4));
}

TEST(WaitChainTest, OpsLaunchedAheadAddNoStep) {
  const auto chain = ChainBehind(
      Job(), Ranks({0, 2}), {In(2, 7, {1}, {0}), In(4, 9, {1}, {0}), In(1, 1, {1, 3}, {0, 2})});
  ASSERT_THAT(chain, SizeIs(1));
  EXPECT_EQ(chain[0].group, "WORLD");
}

TEST(WaitChainTest, ARingEnds) {
  const auto chain =
      ChainBehind(Job(), Ranks({0}), {In(2, 1, {1}, {0}), In(3, 1, {2}, {1}), In(4, 1, {0}, {2})});
  ASSERT_THAT(chain, SizeIs(2));
  EXPECT_EQ(chain[1].waiting, Ranks({2}));
}

TEST(WaitChainTest, NobodyWaits) {
  EXPECT_THAT(ChainBehind(Job(), Ranks({0}), {}), IsEmpty());
  EXPECT_THAT(ChainBehind(Job(), {}, {In(1, 1, {1}, {0})}), IsEmpty());
}

TEST(WaitChainTest, AnEndlessTailIsCut) {
  std::vector<Wait> waits;
  JobView view;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    view.groups.push_back({GroupId(i), std::to_string(i), "", 2, {}});
    waits.push_back(In(i, 1, {i + 1}, {i}));
  }
  EXPECT_THAT(ChainBehind(view, Ranks({0}), waits), SizeIs(12));
}

}  // namespace
}  // namespace fathom::diagnosis
