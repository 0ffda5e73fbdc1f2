// Cases of rule hang that played jobs do not show: facts that are old or missing in part.
#include "diagnosis/hang/live/hang.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/hang/live/hang_job.h"
#include "tests/diagnosis/hang/live/transfer_ring.h"

namespace fathom::diagnosis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kWorld = 1, kTensor = 2;

void Open(RankFacts& facts, std::uint64_t group, std::uint64_t sequence) {
  OpenOp op;
  op.group = GroupId(group);
  op.sequence = Sequence(sequence);
  op.kind = CollectiveKind::kAllReduce;
  op.age = facts.silent_for;
  facts.open_ops.push_back(op);
}

// Ranks 2 and 3 wait for 0 in the group of all; 0 waits for 1 in its tensor group.
JobView Chain() {
  JobView view;
  view.world_size = 4;
  view.now = WallNs(1'000'000'000'000'000);
  view.groups = {{GroupId(kWorld), "0", "", 4, {RankId(0), RankId(1), RankId(2), RankId(3)}},
                 {GroupId(kTensor), "1", "TENSOR", 2, {RankId(0), RankId(1)}}};
  view.ranks = {Facts(0), Facts(1), Facts(2), Facts(3)};
  Open(view.ranks[0], kTensor, 10);
  for (const std::size_t rank : {2, 3}) {
    Open(view.ranks[rank], kWorld, 5);
    view.ranks[rank].groups = {{GroupId(kWorld), 6, 6, 5}};
  }
  view.ranks[0].groups = {{GroupId(kWorld), 5, 5, 5}, {GroupId(kTensor), 11, 11, 10}};
  view.ranks[1].groups = {{GroupId(kWorld), 5, 5, 5}, {GroupId(kTensor), 10, 10, 10}};
  return view;
}

TEST(HangTest, TheEndOfTheChainIsTheCulprit) {
  const Diagnosis said = Say(Chain());
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(1)));
  EXPECT_THAT(said.verdicts[0].evidence,
              Contains(Field(&Evidence::statement,
                             HasSubstr("Rank 0 waits in all_reduce 10 of TENSOR (1) for rank 1"))));
}

TEST(HangTest, OfRanksOutOfReachItNamesTheNodeAndNobody) {
  JobView view = Chain();
  for (RankFacts& facts : view.ranks) facts.node = facts.rank < RankId(2) ? "n0" : "n1";
  view.ranks[1].agent_reachable = false;
  Diagnosis said = Say(view);
  EXPECT_THAT(said.verdicts, IsEmpty()) << "0 waits for 1, and of 1 nothing is known";
  EXPECT_THAT(said.abstained,
              Contains(Field(&Abstention::missing,
                             "who holds up the op that rank 0 is inside of: the agent of n0 is out "
                             "of reach")));
  for (RankFacts& facts : view.ranks) facts.agent_reachable = false;
  said = Say(view);
  EXPECT_THAT(said.verdicts, IsEmpty());
  EXPECT_THAT(said.abstained, Contains(Field(&Abstention::missing, HasSubstr("no agent of"))));
}

// Ranks 2 and 3 on n1 wait in the op of all for 0 and 1 on n0, of whom nothing is known.
JobView CutOff() {
  JobView view = Chain();
  for (RankFacts& facts : view.ranks) {
    facts.node = facts.rank < RankId(2) ? "n0" : "n1";
    facts.agent_reachable = facts.node == "n1";
  }
  return view;
}

TEST(HangTest, ANodeOutOfReachForWhichAllOthersWaitIsALead) {
  const Diagnosis said = Say(CutOff());
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kHypothesis);
  EXPECT_EQ(said.verdicts[0].entity.type, EntityType::kHost);
  EXPECT_EQ(said.verdicts[0].entity.node, "n0");
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(0), RankId(1)));
  EXPECT_THAT(said.verdicts[0].victims, ElementsAre(RankId(2), RankId(3)));
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("Node n0 cannot be reached, and for 20 s all"));
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("works for long (checkpoint, evaluation)"));
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("the communication is stuck"));
  EXPECT_EQ(said.verdicts[0].action_command, "ping -c 3 n0");
  EXPECT_THAT(said.abstained, Contains(Field(&Abstention::missing, HasSubstr("agent of n0"))));
}

// Agents tell the names of nodes, and whoever reads the verdict may paste its command.
TEST(HangTest, ANameThatAShellWouldReadIsInNoCommand) {
  for (const char* name : {"n0; rm -rf /", "$(id)", "-f", "a b", "n0\n", "h\xc3\xb6he"}) {
    JobView view = CutOff();
    for (RankFacts& facts : view.ranks) {
      if (facts.node == "n0") facts.node = name;
    }
    const Diagnosis said = Say(view);
    ASSERT_EQ(said.verdicts.size(), 1u) << name;
    EXPECT_THAT(said.verdicts[0].action_command, IsEmpty()) << name;
  }
}

TEST(HangTest, ANodeOutOfReachIsNoLeadWhereNotAllWaitForIt) {
  JobView two_nodes = CutOff();
  two_nodes.ranks[1].node = "n2";
  EXPECT_THAT(Say(two_nodes).verdicts, IsEmpty()) << "which of two?";
  JobView unnamed = CutOff();
  for (RankFacts& facts : unnamed.ranks) facts.node.clear();
  EXPECT_THAT(Say(unnamed).verdicts, IsEmpty());
  JobView working = CutOff();
  working.ranks[3].open_ops.clear();
  working.ranks[3].silent_for = Nanos();
  EXPECT_THAT(Say(working).verdicts, IsEmpty()) << "rank 3 works";
  JobView unheard = CutOff();
  unheard.world_size = 6;
  EXPECT_THAT(Say(unheard).verdicts, IsEmpty()) << "ranks 4 and 5 may hang";
  JobView stopped = CutOff();
  stopped.ranks[3].open_ops.clear();
  stopped.ranks[3].state = ProcessState::kStopped;
  stopped.ranks[3].groups = {{GroupId(kWorld), 5, 5, 5}};
  const Diagnosis said = Say(stopped);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(3))) << "a culprit in reach";
}

TEST(HangTest, ACulpritInReachIsNamedThoughOthersAreOutOfReach) {
  JobView view = Chain();
  view.ranks[0].agent_reachable = view.ranks[3].agent_reachable = false;
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(1)));
}

// Rank 1 has come to the tensor group too: the others still wait for both, who wait for nobody.
JobView BothInside() {
  JobView view = Chain();
  Open(view.ranks[1], kTensor, 10);
  view.ranks[1].groups[1] = {GroupId(kTensor), 11, 11, 10};
  return view;
}

TEST(HangTest, AnOpThatAllHaveEnteredAndThatOthersWaitBehindIsStuckItself) {
  const Diagnosis said = Say(BothInside());
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kCommunicationHang);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(0), RankId(1)));
  EXPECT_THAT(said.verdicts[0].victims, ElementsAre(RankId(2), RankId(3)));
}

TEST(HangTest, ThePathThatMovesNothingIsNamedInsteadOfTheGroup) {
  JobView view = BothInside();
  view.ranks[0].paths = {PathTo(1, 5, 1000)};
  view.ranks[1].paths = {PathTo(0, 1, 1000)};
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kCommunicationHang);
  EXPECT_EQ(said.verdicts[0].entity.type, EntityType::kLink);
  EXPECT_EQ(said.verdicts[0].entity.link_src, "rank 0");
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("between ranks 0 and 1 moves nothing"));
}

TEST(HangTest, PathsThatMeetAtARankNameIt) {
  JobView view = BothInside();
  view.groups[1] = {GroupId(kTensor), "1", "TENSOR", 3, {RankId(0), RankId(1), RankId(2)}};
  view.ranks[2].open_ops.clear();
  Open(view.ranks[2], kTensor, 10);
  view.ranks[2].groups = {{GroupId(kWorld), 5, 5, 5}, {GroupId(kTensor), 11, 11, 10}};
  view.ranks[3].groups[0] = {GroupId(kWorld), 6, 6, 5};
  view.ranks[0].paths = {PathTo(2, 4, 1000), PathTo(1, 0, 0)};
  view.ranks[2].paths = {PathTo(1, 4, 1000)};
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(2)));
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("ends at rank 2"));
  EXPECT_THAT(said.verdicts[0].victims, ElementsAre(RankId(0), RankId(1), RankId(3)));
}

TEST(HangTest, ARankThatDoesNotReadIsNotTheLink) {
  JobView view = BothInside();
  view.ranks[0].paths = {PathTo(1, 5, 1000)};
  view.ranks[1].paths = {PathTo(0, 0, 0)};
  view.ranks[1].paths[0].unread = 4000;
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(1)));
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("lies unread at rank 1"));
}

TEST(HangTest, OneRetransmissionIsAnOrdinaryLoss) {
  JobView view = BothInside();
  view.ranks[0].paths = {PathTo(1, 1, 1000)};
  EXPECT_THAT(Say(view).verdicts.at(0).entity.ranks, ElementsAre(RankId(0), RankId(1)));
}

// All four ranks are inside the op of all; the ring under it stands still at rank `stuck`.
JobView StuckRing(std::uint32_t stuck) {
  JobView view;
  view.world_size = 4;
  view.now = WallNs(1'000'000'000'000'000);
  view.groups = {{GroupId(kWorld), "0", "", 4, {RankId(0), RankId(1), RankId(2), RankId(3)}}};
  for (std::uint32_t r = 0; r < 4; ++r) {
    view.ranks.push_back(Facts(r));
    view.ranks.back().node = "n" + std::to_string(r);
    Open(view.ranks.back(), kWorld, 5);
    view.ranks.back().open_ops[0].started = true;
    view.ranks.back().groups = {{GroupId(kWorld), 6, 6, 5}};
  }
  StickRing(view, stuck);
  return view;
}

TEST(HangTest, OfAnOpOverNcclTheLinkIsNamedOnWhichStepsAreLost) {
  for (std::uint32_t stuck = 1; stuck < 4; ++stuck) {
    const Diagnosis said = Say(StuckRing(stuck));
    ASSERT_EQ(said.verdicts.size(), 1u);
    EXPECT_EQ(said.verdicts[0].grade, Grade::kSupported);
    EXPECT_EQ(said.verdicts[0].entity.type, EntityType::kLink);
    EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(stuck - 1), RankId(stuck)));
    EXPECT_EQ(said.verdicts[0].victims.size(), 2u);
    EXPECT_THAT(
        said.verdicts[0].evidence,
        Contains(Field(&Evidence::statement,
                       HasSubstr("the network has taken 7 of 12 steps and 3 have arrived"))));
  }
}

TEST(HangTest, WithoutAStepThatIsLostTheGroupStays) {
  JobView view = StuckRing(2);
  for (RankFacts& facts : view.ranks) facts.transfers.clear();
  EXPECT_EQ(Say(view).verdicts.at(0).entity.ranks.size(), 4u);
  view = StuckRing(2);
  std::erase_if(view.ranks[1].transfers, [](const Transfer& t) { return t.sends; });
  EXPECT_EQ(Say(view).verdicts.at(0).entity.ranks.size(), 4u) << "one end is not known";
}

TEST(HangTest, AnOpWhoseStepsStillMoveIsNotHung) {
  JobView view = StuckRing(2);
  view.ranks[3].transfers[0].still_for = Nanos();
  const Diagnosis said = Say(view);
  EXPECT_THAT(said.verdicts, IsEmpty());
  EXPECT_THAT(said.abstained, Contains(Field(&Abstention::missing, HasSubstr("still move"))));
}

TEST(HangTest, LostStepsThatMeetAtARankNameIt) {
  JobView view = StuckRing(2);
  view.ranks[2].transfers[1].moved = view.ranks[2].transfers[1].gpu = 9;
  ASSERT_TRUE(view.ranks[2].transfers[1].sends);
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(2)));
  EXPECT_EQ(said.verdicts[0].entity.type, EntityType::kRank);
}

TEST(HangTest, WhatLiesUnreadAtTheReceiverHasComeOverTheLink) {
  JobView view = StuckRing(2);
  view.ranks[2].paths = {PathTo(1, 0, 0)};
  view.ranks[2].paths[0].unread = 4000;
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(2)));
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("lies unread at rank 2"));
}

// Rank 1 has called broadcasts in its tensor group where rank 0 called, as ever, an all-reduce.
JobView TwoAgainstEachOther() {
  JobView view = BothInside();
  view.ranks[1].open_ops[0].kind = CollectiveKind::kBroadcast;
  for (const std::uint32_t rank : {0u, 1u}) {
    for (std::uint64_t i = 0; i <= 20; ++i) {
      CommOp op;
      op.group = GroupId(i % 2 == 0 ? kTensor : kWorld);
      op.sequence = Sequence(i / 2);
      const bool odd = rank == 1 && i == 20;
      op.kind = odd ? CollectiveKind::kBroadcast : CollectiveKind::kAllReduce;
      view.rows[RankId(rank)].ops.push_back(op);
    }
  }
  return view;
}

TEST(HangTest, OfTwoThatDisagreeTheOneThatLeftItsHabitIsNamed) {
  const Diagnosis said = Say(TwoAgainstEachOther());
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kMismatch);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kSupported);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(1)));
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("Rank 1 called broadcast where ranks 0 called"));
}

TEST(HangTest, OfTwoThatDisagreeWithoutAHabitBothAreNamed) {
  JobView view = TwoAgainstEachOther();
  view.rows.clear();
  EXPECT_THAT(Say(view).verdicts.at(0).entity.ranks, ElementsAre(RankId(0), RankId(1)));
}

TEST(HangTest, StacksComeWithTheVerdict) {
  JobView view = Chain();
  view.ranks[1].stack.frames = {"get (queue.py:1)", "main (job.py:2)"};
  view.ranks[0].stack.frames = {"all_reduce (torch.py:1)", "main (job.py:9)"};
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.at(0).stacks.size(), 2u);
  EXPECT_TRUE(said.verdicts[0].stacks[0].culprit);
  EXPECT_EQ(said.verdicts[0].stacks[0].differs_at, 0);
}

TEST(HangTest, AMemberWhoseDeviceHasNotBegunTheOpMayBeWhatKeepsIt) {
  JobView view = BothInside();
  view.ranks[0].open_ops[0].started = true;
  const Diagnosis said = Say(view);
  EXPECT_THAT(said.verdicts, IsEmpty());
  EXPECT_THAT(said.abstained,
              Contains(Field(&Abstention::missing, HasSubstr("ranks 0 and 1 are inside of"))));
}

TEST(HangTest, AnOlderOpenOpOfAnotherGroupMayKeepAMemberFromBeginning) {
  JobView view = BothInside();
  Open(view.ranks[1], kWorld, 4);
  view.ranks[1].open_ops.back().age += Nanos::FromSeconds(1);
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

TEST(HangTest, ARankInsideAnOpIsNoCulpritWhenItsPeerIsNotSeen) {
  JobView view = Chain();
  view.ranks[1].groups.clear();
  view.ranks[1].silent_for = Nanos::FromSeconds(1);
  const Diagnosis said = Say(view);
  EXPECT_THAT(said.verdicts, IsEmpty());
  EXPECT_THAT(said.abstained, Contains(Field(&Abstention::missing, HasSubstr("rank 0 is inside"))));
}

TEST(HangTest, AnElementTypeThatDiffersIsAMismatchUnlessOneDoesNotTell) {
  JobView view = Chain();
  for (RankFacts& facts : view.ranks) {
    facts.open_ops.clear();
    Open(facts, kWorld, 5);
    facts.open_ops[0].data_type = facts.rank == RankId(3) ? DataType::kFloat64 : DataType::kFloat32;
  }
  Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kMismatch);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(3)));
  view.ranks[0].open_ops[0].data_type = DataType::kUnknown;
  said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kCommunicationHang);
}

TEST(HangTest, ADataLoaderIsSlowAndNotHung) {
  JobView view = Chain();
  view.ranks[1].open_mark = "dataloader";
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kDataLoader);
  EXPECT_EQ(said.verdicts[0].problem, ProblemClass::kNonCommunicationSlow);
}

TEST(HangTest, ACheckpointIsSlowAndNotHungHoweverIdleItsProcessIs) {
  JobView view = Chain();
  view.ranks[1].open_mark = "checkpoint (torch.save)";
  view.ranks[1].in_mark_for = Nanos::FromSeconds(19);
  Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kHostSlow);
  EXPECT_EQ(said.verdicts[0].problem, ProblemClass::kNonCommunicationSlow);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kHypothesis);
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("is in a checkpoint (torch.save)"));
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("since 19 s ago"));
  view.ranks[1].silent_for = Nanos::FromSeconds(100);
  said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kSupported) << "slow, and that is sure by now";
  EXPECT_EQ(said.verdicts[0].problem, ProblemClass::kNonCommunicationSlow);
}

TEST(HangTest, WhoStartedACompilerThatWorksIsNotHung) {
  JobView view = Chain();
  view.ranks[1].wait_channel = "futex_wait_queue";
  Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kNonCommunicationHang);
  ProcessSample sample;
  sample.descendants_known = true;
  for (int second = 0; second <= 20; second += 2) {
    sample.silent_for = Nanos::FromSeconds(second);
    sample.descendants_cpu = Nanos::FromSeconds(0.9 * second);
    view.ranks[1].samples.push_back(sample);
  }
  said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kHostSlow);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kHypothesis);
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("processes that it started work"));
}

TEST(HangTest, WhoWaitsForStorageIsGivenTime) {
  JobView view = Chain();
  view.ranks[1].state = ProcessState::kUninterruptible;
  view.ranks[1].wait_channel = "rpc_wait_bit_killable";
  Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].grade, Grade::kHypothesis);
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("waits for storage (rpc_wait_bit_killable)"));
  EXPECT_EQ(said.verdicts[0].owner, Owner::kOperations);
}

TEST(HangTest, ARankThatGoesOnInAnotherGroupIsMentionedAndNotAccused) {
  JobView view = Chain();
  view.groups.push_back({GroupId(9), "2", "EVAL", 2, {RankId(1), RankId(3)}});
  view.ranks[1].silent_for = Nanos::FromSeconds(0.1);
  view.ranks[1].newest_group = GroupId(9);
  const Diagnosis said = Say(view);
  EXPECT_THAT(said.verdicts, IsEmpty());
  EXPECT_THAT(said.abstained,
              Contains(Field(&Abstention::missing,
                             HasSubstr("why rank 1 goes on with ops of EVAL (2) and does not enter "
                                       "the all_reduce of"))));
}

TEST(HangTest, AStandstillCostsWhatAllRanksCost) {
  const Diagnosis said = Say(Chain());
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_NEAR(said.verdicts[0].cost.gpu_hours, 4 * 20 / 3600.0, 1e-9);
  EXPECT_NEAR(said.verdicts[0].cost.gpu_hours_per_minute, 4 / 60.0, 1e-9);
}

TEST(HangTest, ARankThatLeftInOrderBeforeItsTimeHoldsUpTheOthers) {
  JobView view = Chain();
  RankFacts& left = view.ranks[1];
  left.state = ProcessState::kGone;
  left.exited_orderly = true;
  left.wait_status = 0;
  left.gone_at = view.now - left.silent_for;
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kProcessDead);
  EXPECT_THAT(said.verdicts[0].entity.ranks, ElementsAre(RankId(1)));
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("exited with status 0; ranks 0, 2 and 3 wait"));
}

TEST(HangTest, WhoFreezesIsStopped) {
  JobView view = Chain();
  view.ranks[1].frozen = true;
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 1u);
  EXPECT_EQ(said.verdicts[0].cause, Cause::kProcessStopped);
  EXPECT_THAT(said.verdicts[0].sentence, HasSubstr("frozen by its control group"));
}

TEST(HangTest, ADeathAfterTheJobStoodStillExplainsNothing) {
  JobView view = Chain();
  RankFacts& dead = view.ranks[3];
  dead.state = ProcessState::kGone;
  dead.wait_status = 9;
  dead.gone_at = view.now - Nanos::FromSeconds(1);
  const Diagnosis said = Say(view);
  EXPECT_THAT(said.verdicts, IsEmpty());
  EXPECT_THAT(said.abstained, Contains(Field(&Abstention::missing, HasSubstr("stood still"))));
}

}  // namespace
}  // namespace fathom::diagnosis
