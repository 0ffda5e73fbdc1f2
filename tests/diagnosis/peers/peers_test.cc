#include "diagnosis/peers/peers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fathom::diagnosis {
namespace {

constexpr std::uint32_t kRanks = 3;

// Of one communicator of all ranks, without rows: the counts by communicator tell the roles.
struct PeersTest : testing::Test {
  PeersTest() { view.groups.push_back({GroupId(7), "world", "default_pg", kRanks, {}, false}); }

  void Add(const std::vector<std::uint32_t>& ranks, std::uint32_t ops = 5) {
    IterationSummary& it = view.window.emplace_back();
    it.index = Iteration(static_cast<std::int64_t>(view.window.size()));
    for (const std::uint32_t rank : ranks) {
      RankIteration& told = it.ranks.emplace_back();
      told.rank = RankId(rank);
      told.duration = Nanos(100'000'000);
      told.groups.push_back({GroupId(7), ops, {}, {}, {}, {}});
    }
  }

  JobView view;
};

TEST_F(PeersTest, WhoHasNotToldOfTheNewestIterationYetHasTheRoleOfTheOthers) {
  for (int i = 0; i < 4; ++i) Add({0, 1, 2});
  Add({0, 2});
  const Peers peers = PeersOf(view, 8);
  ASSERT_EQ(peers.ranks.size(), kRanks);
  EXPECT_EQ(peers.roles, 1u);
}

TEST_F(PeersTest, WhereNoIterationIsWholeTheNewestThatEachHasToldOfCounts) {
  for (int i = 0; i < 3; ++i) {
    Add({0, 1});
    Add({2});
  }
  EXPECT_EQ(PeersOf(view, 8).roles, 1u);
}

// As many ops of the communicator in the rows of each iteration that the rank was recorded in.
void AddRows(JobView& view, RankId rank, std::size_t ops) {
  for (const IterationSummary& it : view.window) {
    const bool there = std::any_of(it.ranks.begin(), it.ranks.end(),
                                   [&](const RankIteration& told) { return told.rank == rank; });
    for (std::size_t i = 0; there && i < ops; ++i) {
      CommOp& op = view.rows[rank].ops.emplace_back();
      op.group = GroupId(7);
      op.kind = CollectiveKind::kAllReduce;
      op.iteration = it.index;
    }
  }
}

TEST_F(PeersTest, WhoseRecordingEndedEarlierHasTheRoleOfTheOthers) {
  for (int i = 0; i < 3; ++i) Add({0, 1, 2});
  Add({1, 2});
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) AddRows(view, RankId(rank), 2);
  EXPECT_EQ(PeersOf(view, 8).roles, 1u);
}

TEST_F(PeersTest, WhoEntersMoreOpsInTheIterationsOfAllHasARoleOfItsOwn) {
  for (int i = 0; i < 3; ++i) Add({0, 1, 2});
  Add({1, 2});
  AddRows(view, RankId(0), 3);
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) AddRows(view, RankId(rank), 2);
  EXPECT_EQ(PeersOf(view, 8).roles, 2u);
}

TEST_F(PeersTest, WhoEntersMoreOpsHasARoleOfItsOwn) {
  Add({0, 1, 2});
  view.window.back().ranks[1].groups.front().count = 9;
  Add({0});
  const Peers peers = PeersOf(view, 8);
  EXPECT_EQ(peers.roles, 2u);
  EXPECT_EQ(peers.role[0], peers.role[2]);
  EXPECT_NE(peers.role[0], peers.role[1]);
}

}  // namespace
}  // namespace fathom::diagnosis
