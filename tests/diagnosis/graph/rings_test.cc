#include "diagnosis/graph/rings.h"

#include <utility>
#include <vector>

#include "diagnosis/graph/pipelines.h"
#include "diagnosis/peers/peers.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/graph/add_group.h"

namespace fathom::diagnosis {
namespace {

constexpr std::uint64_t kOfMessages = 1;

void Add(JobView& view, CollectiveKind kind, std::uint32_t rank, RankId peer) {
  CommOp op;
  op.group = GroupId(kOfMessages);
  op.kind = kind;
  op.peer = peer;
  op.iteration = Iteration(0);
  view.rows[RankId(rank)].ops.push_back(op);
}

// A job whose messages go from the first to the second of each pair.
JobView Messages(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& sends) {
  JobView view;
  AddGroup(view, kOfMessages, {0, 1, 2, 3, 4, 5});
  for (const auto& [from, to] : sends) {
    Add(view, CollectiveKind::kSend, from, RankId(to));
    Add(view, CollectiveKind::kRecv, to, RankId(from));
  }
  return view;
}

bool IsRing(const JobView& view) { return RingsOf(view).contains(GroupId(kOfMessages)); }

TEST(RingsTest, MessagesThatComeRound) {
  EXPECT_TRUE(IsRing(Messages({{0, 1}, {1, 2}, {2, 3}, {3, 0}})));
  EXPECT_TRUE(IsRing(Messages({{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 1}, {1, 2}, {2, 3}, {3, 0}})));
  EXPECT_TRUE(IsRing(Messages({{0, 4}, {4, 2}, {2, 0}}))) << "by any numbers";
  EXPECT_TRUE(IsRing(Messages({{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}}))) << "two of them";
}

TEST(RingsTest, StagesSendToBothSides) {
  EXPECT_FALSE(IsRing(Messages({{0, 1}, {1, 2}, {2, 1}, {1, 0}})));
  EXPECT_FALSE(IsRing(Messages({{0, 1}, {1, 2}, {2, 3}}))) << "forward only";
  EXPECT_FALSE(IsRing(Messages({{0, 1}, {1, 2}, {2, 0}, {0, 2}, {2, 1}, {1, 0}}))) << "interleaved";
}

TEST(RingsTest, OfTwoRanksItCannotBeTold) {
  EXPECT_FALSE(IsRing(Messages({{0, 1}, {1, 0}})));
  EXPECT_FALSE(IsRing(Messages({{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 3}})));
}

TEST(RingsTest, AMemberWithoutRowsOrAPeerWithoutANameMakesNone) {
  JobView missing = Messages({{0, 1}, {1, 2}, {2, 3}, {3, 0}});
  missing.rows.erase(RankId(2));
  EXPECT_FALSE(IsRing(missing));
  JobView unnamed = Messages({{0, 1}, {1, 2}, {2, 3}, {3, 0}});
  Add(unnamed, CollectiveKind::kSend, 1, kNoRank);
  EXPECT_FALSE(IsRing(unnamed));
}

TEST(RingsTest, ItsPlacesAreOneRoleAndNoPipeline) {
  JobView view = Messages({{0, 1}, {1, 2}, {2, 3}, {3, 0}});
  view.window.push_back({Iteration(0), WallNs(), {}, {}});
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    RankIteration row;
    row.rank = RankId(rank);
    row.duration = Nanos(1'000'000);
    view.window.back().ranks.push_back(row);
  }
  EXPECT_EQ(PeersOf(view, 8).roles, 1u);
  EXPECT_EQ(Pipelines(view).size(), 0u);
}

}  // namespace
}  // namespace fathom::diagnosis
