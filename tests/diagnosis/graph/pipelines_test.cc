#include "diagnosis/graph/pipelines.h"

#include "gtest/gtest.h"
#include "tests/diagnosis/graph/add_group.h"

namespace fathom::diagnosis {
namespace {

using Ranks = std::vector<RankId>;

void Send(JobView& view, std::uint64_t group, std::uint32_t from, RankId to) {
  CommOp op;
  op.group = GroupId(group);
  op.kind = CollectiveKind::kSend;
  op.peer = to;
  view.rows[RankId(from)].ops.push_back(op);
}

// Two replicas of two stages of two tensor ranks; the sends of the first stages.
JobView Job() {
  JobView view;
  AddGroup(view, 1, {0, 1, 2, 3, 4, 5, 6, 7});
  for (std::uint32_t rank = 0; rank < 8; rank += 2) AddGroup(view, 10 + rank, {rank, rank + 1});
  for (std::uint32_t rank = 0; rank < 4; ++rank) AddGroup(view, 20 + rank, {rank, rank + 4});
  for (std::uint32_t rank : {0, 1, 4, 5}) Send(view, 1, rank, RankId(rank + 2));
  return view;
}

TEST(PipelinesTest, MessagesTieRanks) {
  const JobView view = Job();
  const Pipelines pipelines(view);
  EXPECT_EQ(pipelines.size(), 4u);
  EXPECT_EQ(pipelines.Of(RankId(0)), pipelines.Of(RankId(2)));
  EXPECT_NE(pipelines.Of(RankId(0)), pipelines.Of(RankId(1)));
  EXPECT_EQ(pipelines.Of(RankId(9)), std::nullopt);
}

TEST(PipelinesTest, AStageIsOneRankOfEachPipelineWithAllItsPeers) {
  const JobView view = Job();
  const Pipelines pipelines(view);
  EXPECT_TRUE(pipelines.AreOneStage(Ranks{RankId(2), RankId(3), RankId(6), RankId(7)}));
  EXPECT_FALSE(pipelines.AreOneStage(Ranks{RankId(2), RankId(3)}));
  EXPECT_FALSE(pipelines.AreOneStage(Ranks{RankId(2), RankId(3), RankId(4), RankId(5)}));
  EXPECT_FALSE(pipelines.AreOneStage({}));
}

// Megatron sums the gradients of shared embeddings between the first and the last stage.
TEST(PipelinesTest, AGroupOfTwoStagesSaysNothingOfPeers) {
  JobView view = Job();
  AddGroup(view, 30, {0, 2});
  EXPECT_TRUE(Pipelines(view).AreOneStage(Ranks{RankId(2), RankId(3), RankId(6), RankId(7)}));
}

TEST(PipelinesTest, WhereAPeerIsNotKnownTheGroupIsOnePipeline) {
  JobView view;
  AddGroup(view, 1, {0, 1, 2});
  Send(view, 1, 0, kNoRank);
  const Pipelines pipelines(view);
  EXPECT_EQ(pipelines.size(), 1u);
  EXPECT_TRUE(pipelines.AreOneStage(Ranks{RankId(2)}));
  EXPECT_FALSE(pipelines.AreOneStage(Ranks{RankId(1), RankId(2)}));
}

TEST(PipelinesTest, WithoutMessagesThereAreNone) {
  JobView view;
  AddGroup(view, 1, {0, 1});
  const Pipelines pipelines(view);
  EXPECT_EQ(pipelines.size(), 0u);
  EXPECT_FALSE(pipelines.AreOneStage(Ranks{RankId(1)}));
}

}  // namespace
}  // namespace fathom::diagnosis
