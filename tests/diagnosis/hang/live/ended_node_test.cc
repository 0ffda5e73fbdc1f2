#include "diagnosis/hang/live/ended_node.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/hang/live/hang_job.h"

namespace fathom::diagnosis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kTerminated = 15, kKilled = 9;

// Ranks 0 and 1 of n0 wait for 2 and 3 of n1, which were ended 15 s ago.
JobView Drained() {
  JobView view;
  view.world_size = 4;
  view.now = WallNs(1'000'000'000'000'000);
  view.groups = {{GroupId(1), "0", "", 4, {RankId(0), RankId(1), RankId(2), RankId(3)}}};
  view.ranks = {Facts(0), Facts(1), Facts(2), Facts(3)};
  for (RankFacts& facts : view.ranks) {
    const bool waits = facts.rank < RankId(2);
    facts.node = waits ? "n0" : "n1";
    facts.groups = {{GroupId(1), waits ? 6u : 5u, 5, 5}};
    if (waits) {
      OpenOp op;
      op.group = GroupId(1);
      op.sequence = Sequence(5);
      op.kind = CollectiveKind::kAllReduce;
      op.age = Nanos::FromSeconds(15);
      facts.open_ops.push_back(op);
    } else {
      facts.state = ProcessState::kGone;
      facts.wait_status = kTerminated;
      facts.gone_at = view.now - Nanos::FromSeconds(15);
    }
  }
  return view;
}

TEST(EndedNodeTest, ANodeThatIsTakenAwayAloneIsNamed) {
  const Diagnosis said = Say(Drained());
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kProcessDead);
  EXPECT_EQ(said.verdicts[0].entity.type, EntityType::kHost);
  EXPECT_EQ(said.verdicts[0].entity.node, "n1");
  EXPECT_EQ(said.verdicts[0].grade, Grade::kSupported);
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("All of node n1 was killed by signal 15"));
  EXPECT_THAT(said.verdicts[0].victims, ElementsAre(RankId(0), RankId(1)));
}

TEST(EndedNodeTest, ADeathElsewhereMakesItTheEndOfTheJob) {
  JobView view = Drained();
  view.ranks[1] = view.ranks[2];
  view.ranks[1].rank = RankId(1);
  view.ranks[1].node = "n0";
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

TEST(EndedNodeTest, AKillAmongThemIsAskedForByItself) {
  JobView view = Drained();
  view.ranks[3].wait_status = kKilled;
  for (const Verdict& verdict : Say(view).verdicts) {
    EXPECT_NE(verdict.entity.type, EntityType::kHost);
  }
}

TEST(EndedNodeTest, ARankThatLivesThereLeavesItOpen) {
  JobView view = Drained();
  view.ranks[3].state = ProcessState::kSleeping;
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

TEST(EndedNodeTest, RightAfterItNothingIsSaid) {
  JobView view = Drained();
  for (RankFacts& facts : view.ranks) {
    if (facts.rank >= RankId(2)) facts.gone_at = view.now - Nanos::FromSeconds(1);
  }
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

TEST(BeginningTest, RanksThatHaveNotComeAreMentionedAndNotAccused) {
  JobView view;
  view.world_size = 4;
  view.now = WallNs(1'000'000'000'000'000);
  for (const std::uint32_t rank : {0u, 2u}) {
    view.ranks.push_back(Facts(rank));
    view.ranks.back().iterations_seen = 0;
    view.ranks.back().typical_iteration = Nanos();
    view.ranks.back().silent_for = Nanos::FromSeconds(40);
  }
  Diagnosis said = Say(view);
  EXPECT_THAT(said.verdicts, IsEmpty());
  EXPECT_THAT(said.abstained, Contains(Field(&Abstention::missing,
                                             HasSubstr("what ranks 1 and 3 do: the 2 others of 4 "
                                                       "have begun, and entered no op"))));
  view.ranks[0].silent_for = view.ranks[1].silent_for = Nanos::FromSeconds(20);
  said = Say(view);
  EXPECT_THAT(said.abstained, IsEmpty()) << "a slow start";
}

}  // namespace
}  // namespace fathom::diagnosis
