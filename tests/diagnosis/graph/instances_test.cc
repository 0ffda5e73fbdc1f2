// Arrival, wait and transfer without a common clock: methods on a handful of ops.
#include "diagnosis/graph/instances.h"

#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr double kFloor = 0.0005;

// Rank `rank` spends `elapsed_ms` in the op; its clock starts anywhere.
RankRows Rank(std::uint32_t rank, CollectiveKind kind, std::int64_t elapsed_ms, RankId peer) {
  RankRows rows;
  CommOp op;
  op.group = GroupId(1);
  op.sequence = IsPointToPoint(kind) ? kNoSequence : Sequence(7);
  op.kind = kind;
  op.bytes = 4096;
  op.peer = peer;
  op.iteration = Iteration(1);
  op.enter = MonoNs((1000 + 5000 * std::int64_t{rank}) * kMs);
  if (elapsed_ms >= 0) op.end = op.enter + Nanos(elapsed_ms * kMs);
  rows.ops = {op};
  return rows;
}

struct World {
  std::vector<RankRows> rows;
  std::vector<RankTimeline> lines;
  std::vector<Group> groups;

  World(CollectiveKind kind, const std::vector<std::int64_t>& elapsed_ms, RankId root = kNoRank) {
    Group group;
    group.id = GroupId(1);
    for (std::uint32_t r = 0; r < elapsed_ms.size(); ++r) {
      rows.push_back(Rank(r, kind, elapsed_ms[r], root));
      group.members.push_back(RankId(r));
    }
    groups = {group};
    for (std::uint32_t r = 0; r < rows.size(); ++r) {
      lines.push_back(BuildTimeline(RankId(r), rows[r], {}, kFloor));
    }
  }
};

TEST(InstancesTest, TheLastToArriveIsTheOneWithTheShortestTime) {
  const World w(CollectiveKind::kAllReduce, {100, 98, 3, 101});
  const Instances instances(w.lines, w.groups);
  EXPECT_NEAR(instances.TransferSeconds(instances.all()[0]), 0.003, 1e-9);
  const LastArrival last = instances.WhoCameLast({0, 0}, kFloor);
  EXPECT_TRUE(last.known);
  EXPECT_FALSE(last.self);
  EXPECT_EQ(last.who.line, 2u);
  EXPECT_NEAR(last.lead_s, 0.097, 1e-9);
}

TEST(InstancesTest, TheLastOneHasNobodyToWaitFor) {
  const World w(CollectiveKind::kAllReduce, {100, 98, 3, 101});
  const Instances instances(w.lines, w.groups);
  EXPECT_TRUE(instances.WhoCameLast({2, 0}, kFloor).self);
}

TEST(InstancesTest, WithinTheFloorNobodyIsLate) {
  const World w(CollectiveKind::kBarrier, {3, 3, 3});
  const Instances instances(w.lines, w.groups);
  EXPECT_TRUE(instances.WhoCameLast({0, 0}, kFloor).self);
}

TEST(InstancesTest, AnOpThatIsNotDoneTellsNothing) {
  const World w(CollectiveKind::kAllReduce, {100, -1, 3});
  const Instances instances(w.lines, w.groups);
  EXPECT_FALSE(instances.WhoCameLast({0, 0}, kFloor).known);
}

TEST(InstancesTest, AMissingMemberLeavesTheInstanceIncomplete) {
  World w(CollectiveKind::kAllReduce, {100, 98, 90});
  w.groups[0].members.push_back(RankId(3));
  const Instances instances(w.lines, w.groups);
  EXPECT_FALSE(instances.all()[0].complete);
}

TEST(InstancesTest, InABroadcastOnlyTheRootIsWaitedFor) {
  const World w(CollectiveKind::kBroadcast, {2, 100, 1}, RankId(0));
  const Instances instances(w.lines, w.groups);
  const LastArrival last = instances.WhoCameLast({1, 0}, kFloor);
  EXPECT_EQ(last.who.line, 0u);
  EXPECT_FALSE(last.self);
  EXPECT_EQ(instances.TransferSeconds(instances.all()[0]), 0);  // elapsed tells nothing there
}

TEST(InstancesTest, AReceiveWaitsForItsSender) {
  World w(CollectiveKind::kSend, {1}, RankId(1));
  w.rows.push_back(Rank(1, CollectiveKind::kRecv, 80, RankId(0)));
  w.lines = {BuildTimeline(RankId(0), w.rows[0], {}, kFloor),
             BuildTimeline(RankId(1), w.rows[1], {}, kFloor)};
  const Instances instances(w.lines, w.groups);
  ASSERT_EQ(instances.all().size(), 1u);
  EXPECT_EQ(instances.WhoCameLast({1, 0}, kFloor).who.line, 0u);
}

TEST(InstancesTest, AReceiveWithoutItsSendersRowsIsAGap) {
  World w(CollectiveKind::kRecv, {80}, RankId(5));
  const Instances instances(w.lines, w.groups);
  EXPECT_FALSE(instances.WhoCameLast({0, 0}, kFloor).known);
}

}  // namespace
}  // namespace fathom::diagnosis
