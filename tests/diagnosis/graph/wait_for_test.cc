#include "diagnosis/graph/wait_for.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Nanos kStuck = Nanos::FromSeconds(3);
const Nanos kGap = Nanos::FromSeconds(0.1);

RankFacts Facts(std::uint32_t rank, std::uint64_t entered) {
  RankFacts facts;
  facts.rank = RankId(rank);
  facts.state = ProcessState::kSleeping;
  facts.groups = {{GroupId(1), entered, entered, entered}};
  return facts;
}

void Open(RankFacts& facts, std::uint64_t sequence, double age_s = 20) {
  OpenOp op;
  op.group = GroupId(1);
  op.sequence = Sequence(sequence);
  op.kind = CollectiveKind::kAllReduce;
  op.age = Nanos::FromSeconds(age_s);
  facts.open_ops.push_back(op);
}

JobView Job(std::vector<RankFacts> ranks) {
  JobView view;
  view.world_size = static_cast<std::uint32_t>(ranks.size());
  Group group;
  group.id = GroupId(1);
  for (const RankFacts& facts : ranks) group.members.push_back(facts.rank);
  view.groups = {group};
  view.ranks = std::move(ranks);
  return view;
}

TEST(WaitForTest, TheOneThatHasNotEnteredIsTheSink) {
  auto a = Facts(0, 42), b = Facts(1, 42), c = Facts(2, 41);
  Open(a, 41);
  Open(b, 41);
  EXPECT_THAT(BuildWaitFor(Job({a, b, c}), kStuck, kGap).Sinks(), ElementsAre(RankId(2)));
}

TEST(WaitForTest, CountersMayStartAnywhere) {
  auto a = Facts(0, 142), b = Facts(1, 141);
  Open(a, 41);
  EXPECT_THAT(BuildWaitFor(Job({a, b}), kStuck, kGap).Sinks(), ElementsAre(RankId(1)));
}

TEST(WaitForTest, LaterOpenOpsAreNotMistakenForTheStuckOne) {
  auto a = Facts(0, 44), b = Facts(1, 42);
  Open(a, 41);
  Open(a, 42);
  Open(a, 43);
  Open(b, 41);
  const WaitFor graph = BuildWaitFor(Job({a, b}), kStuck, kGap);
  ASSERT_FALSE(graph.instances.empty());
  EXPECT_THAT(graph.instances[0].missing, IsEmpty());               // both are in 41
  EXPECT_THAT(graph.instances[1].missing, ElementsAre(RankId(1)));  // 42 is not entered by 1
}

TEST(WaitForTest, YoungOpsAreNotStuck) {
  auto a = Facts(0, 42), b = Facts(1, 41);
  Open(a, 41, 1);
  EXPECT_THAT(BuildWaitFor(Job({a, b}), kStuck, kGap).waiting, IsEmpty());
}

TEST(WaitForTest, WhatARankOutOfReachWasInsideOfIsOldAndThatItEnteredStands) {
  auto a = Facts(0, 42), b = Facts(1, 50), c = Facts(2, 42);
  Open(a, 41);
  a.agent_reachable = false;
  EXPECT_THAT(BuildWaitFor(Job({a, b}), kStuck, kGap).waiting, IsEmpty()) << "the job went on";
  Open(c, 41);
  const WaitFor graph = BuildWaitFor(Job({a, c}), kStuck, kGap);
  ASSERT_EQ(graph.instances.size(), 1u);
  EXPECT_TRUE(graph.instances[0].inside.contains(RankId(0)));
  EXPECT_THAT(graph.instances[0].unknown, IsEmpty());
}

TEST(WaitForTest, AStoppedRankIsASinkThoughItIsInside) {
  auto a = Facts(0, 42), b = Facts(1, 42);
  Open(a, 41);
  Open(b, 41);
  b.state = ProcessState::kStopped;
  const WaitFor graph = BuildWaitFor(Job({a, b}), kStuck, kGap);
  EXPECT_TRUE(graph.WaitsFor(RankId(0), RankId(1)));
}

TEST(WaitForTest, WithoutCountersNothingIsSaid) {
  auto a = Facts(0, 42), b = Facts(1, 41);
  Open(a, 41);
  b.groups.clear();
  const WaitFor graph = BuildWaitFor(Job({a, b}), kStuck, kGap);
  EXPECT_THAT(graph.Sinks(), IsEmpty());
  EXPECT_THAT(graph.instances[0].unknown, ElementsAre(RankId(1)));
}

TEST(WaitForTest, AReceiveWaitsForAPeerThatDoesNotSend) {
  auto a = Facts(0, 0), b = Facts(1, 0);
  OpenOp recv;
  recv.kind = CollectiveKind::kRecv;
  recv.peer = RankId(1);
  recv.age = Nanos::FromSeconds(20);
  a.open_ops = {recv};
  EXPECT_THAT(BuildWaitFor(Job({a, b}), kStuck, kGap).Sinks(), ElementsAre(RankId(1)));
  OpenOp send = recv;
  send.kind = CollectiveKind::kSend;
  send.peer = RankId(0);
  b.open_ops = {send};
  EXPECT_THAT(BuildWaitFor(Job({a, b}), kStuck, kGap).Sinks(), IsEmpty());
}

}  // namespace
}  // namespace fathom::diagnosis
