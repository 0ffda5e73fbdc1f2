// Which communicators change when a node's ranks move, and what roles they have, on layouts as
// frameworks make them.
#include "collector/cli/recover/migration_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using RankIds = std::vector<std::int64_t>;

JobLayout WorldOf(std::int64_t ranks, std::int64_t a_node) {
  JobLayout layout{.job = "train"};
  RankIds world;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    world.push_back(rank);
    layout.node_of[rank] = Cat("n", rank / a_node);
  }
  layout.communicators.push_back({"0", "world", world});
  return layout;
}

// `count` communicators of `size` members, of which the next one is `stride` further.
void AddKind(const char* kind, std::int64_t size, std::int64_t stride, JobLayout& layout) {
  const auto world = static_cast<std::int64_t>(layout.node_of.size());
  for (std::int64_t first = 0; first < world; ++first) {
    if (first / stride % size != 0) continue;
    RankIds ranks;
    for (std::int64_t i = 0; i < size; ++i) ranks.push_back(first + i * stride);
    layout.communicators.push_back({Cat(kind, first), kind, ranks});
  }
}

// Tensor within nodes of 8, then data, then pipeline, as Megatron orders them: 8 × 4 × 4.
JobLayout Megatron() {
  JobLayout layout = WorldOf(128, 8);
  AddKind("tensor", 8, 1, layout);
  AddKind("data", 4, 8, layout);
  AddKind("pipeline", 4, 32, layout);
  return layout;
}

std::vector<std::string> RolesOf(const MigrationPlan& plan) {
  std::vector<std::string> roles;
  for (const Mover& mover : plan.movers) roles.push_back(mover.role);
  return roles;
}

std::size_t ChangedOf(const MigrationPlan& plan, std::string_view kind) {
  return static_cast<std::size_t>(
      std::count_if(plan.changed.begin(), plan.changed.end(),
                    [&](const ChangedCommunicator& comm) { return comm.kind == kind; }));
}

TEST(MigrationPlanTest, ANodeOfTensorPipelineAndDataParallelism) {
  const MigrationPlan plan = PlanMigration(Megatron(), "n5", "free");
  ASSERT_THAT(plan.movers, SizeIs(8));
  EXPECT_EQ(plan.movers[0].rank, 40);
  EXPECT_EQ(plan.movers[0].stage, 1U);
  EXPECT_EQ(plan.movers[0].stages, 4U);
  EXPECT_EQ(plan.movers[0].replica, 32);
  EXPECT_THAT(RolesOf(plan), Each(std::string("middle")));
  EXPECT_EQ(plan.moved_whole, 1U);  // its tensor group
  EXPECT_EQ(ChangedOf(plan, "world"), 1U);
  EXPECT_EQ(ChangedOf(plan, "data"), 8U);
  EXPECT_EQ(ChangedOf(plan, "pipeline"), 8U);
  EXPECT_EQ(ChangedOf(plan, "tensor"), 0U);
  EXPECT_EQ(plan.untouched, 15U + 24 + 24);
  EXPECT_THAT(plan.stayers, SizeIs(120));  // the world's
  // Two in each of its data rings, of stage 1; two in each pipeline; the world's ring has two of
  // these besides.
  EXPECT_THAT(plan.changed[0].next_to_movers, ElementsAre(39, 48));
  EXPECT_THAT(plan.next_to_movers, SizeIs(8 * 2 + 8 * 2));
  EXPECT_THAT(plan.missing, Each(Not(HasSubstr("roles"))));
}

TEST(MigrationPlanTest, TheEndsOfAPipelineHaveRolesOfTheirOwn) {
  EXPECT_THAT(RolesOf(PlanMigration(Megatron(), "n0", "free")), Each(std::string("first")));
  EXPECT_THAT(RolesOf(PlanMigration(Megatron(), "n12", "free")), Each(std::string("last")));
  JobLayout two = WorldOf(4, 2);
  AddKind("pipeline", 2, 1, two);
  EXPECT_THAT(RolesOf(PlanMigration(two, "n0", "free")), ElementsAre("first", "last"));
}

TEST(MigrationPlanTest, SharedEmbeddingsAreNoPipelineOfTwoStages) {
  JobLayout layout = Megatron();
  layout.communicators.push_back({"embedding", "pipeline", {0, 96}});
  const MigrationPlan plan = PlanMigration(layout, "n12", "free");
  EXPECT_EQ(plan.movers[0].stages, 4U);
  EXPECT_EQ(plan.movers[0].role, "last");
}

TEST(MigrationPlanTest, DataParallelAloneHasOneRoleAndOneCommunicator) {
  JobLayout layout = WorldOf(16, 4);
  const MigrationPlan plan = PlanMigration(layout, "n1", "free");
  EXPECT_THAT(RolesOf(plan), ElementsAre("only", "only", "only", "only"));
  ASSERT_THAT(plan.changed, SizeIs(1));
  EXPECT_EQ(plan.changed[0].movers, 4U);
  EXPECT_THAT(plan.next_to_movers, ElementsAre(3, 8));
  EXPECT_THAT(plan.prepare, Contains(HasSubstr("records of rank 4 hold every role")));
  EXPECT_EQ(plan.movers[3].replica, 0);
  EXPECT_THAT(plan.missing, Each(Not(HasSubstr("a replica"))));
}

TEST(MigrationPlanTest, ExpertsOfOneNodeChangeAcrossNodesOnly) {
  JobLayout layout = WorldOf(32, 4);
  AddKind("expert", 8, 1, layout);  // two nodes each
  AddKind("data", 4, 8, layout);
  const MigrationPlan plan = PlanMigration(layout, "n2", "free");
  EXPECT_EQ(ChangedOf(plan, "expert"), 1U);
  EXPECT_EQ(ChangedOf(plan, "data"), 4U);
  EXPECT_EQ(plan.movers[0].replica, 0);
  JobLayout within = WorldOf(32, 8);
  AddKind("expert", 8, 1, within);
  EXPECT_EQ(ChangedOf(PlanMigration(within, "n2", "free"), "expert"), 0U);
  EXPECT_EQ(PlanMigration(within, "n2", "free").moved_whole, 1U);
}

TEST(MigrationPlanTest, SaysWhatItDoesNotKnow) {
  JobLayout layout = WorldOf(8, 4);
  layout.communicators.push_back({"7", "unknown", {0, 4}});
  layout.communicators.push_back({"8", "data", {}});
  const MigrationPlan plan = PlanMigration(layout, "n1", "");
  EXPECT_THAT(RolesOf(plan), ElementsAre("unknown", "only", "only", "only"));
  EXPECT_THAT(plan.missing, Contains(HasSubstr("the members of 1 communicator")));
  EXPECT_THAT(plan.missing, Contains(HasSubstr("the roles")));
  EXPECT_THAT(plan.missing, Contains(HasSubstr("a replica")));
  EXPECT_THAT(plan.missing, Contains("a spare to move to"));
  EXPECT_THAT(plan.prepare, Contains(HasSubstr("on the spare")));
  EXPECT_THAT(plan.prepare, Each(Not(HasSubstr("probe"))));
  EXPECT_THAT(plan.missing, Contains(HasSubstr("who does the switch")));
}

TEST(MigrationPlanTest, WithoutRanksOnTheNodeThereIsNothingToMove) {
  const MigrationPlan plan = PlanMigration(WorldOf(8, 4), "n9", "free");
  EXPECT_THAT(plan.movers, IsEmpty());
  EXPECT_THAT(plan.prepare, IsEmpty());
  EXPECT_THAT(plan.missing, ElementsAre("ranks on n9: the job has none there"));
}

TEST(MigrationPlanTest, ReadsTheCollectorsAnswerAndTellsInTextAndJson) {
  const Json told = Json::parse(R"({"name": "train",
    "groups": [{"name": "0", "kind": "world", "ranks": [0, 1, 2, 3]},
               {"name": "a", "kind": "data", "ranks": [1, 3]}],
    "rank_info": [{"rank": 0, "node": "a"}, {"rank": 1, "node": "b"}, {"rank": 2, "node": "a"},
                  {"rank": 3, "node": "a"}]})");
  const MigrationPlan plan = PlanMigration(LayoutOf(told), "b", "c");
  const std::string text = MigrationText(plan);
  EXPECT_THAT(text, HasSubstr("moves       rank 1, from b to c"));
  EXPECT_THAT(text, HasSubstr("changed     2 of 2 communicators"));
  EXPECT_THAT(text, HasSubstr("1 of kind data: 1 members move, 1 stay"));
  const Json json = MigrationJson(plan);
  EXPECT_EQ(json["movers"][0]["replica"], 3);
  EXPECT_EQ(json["changed"][0]["next_to_movers"], Json(RankIds{0, 2}));
}

}  // namespace
}  // namespace fathom::cli
