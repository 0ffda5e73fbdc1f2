#include "diagnosis/graph/timeline.h"

#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr double kFloor = 0.0005;

// An all-reduce entered at `enter` ms and done at `end` ms.
CommOp Op(std::int64_t enter, std::int64_t end, std::int64_t iteration, std::uint64_t sequence) {
  CommOp op;
  op.group = GroupId(1);
  op.sequence = Sequence(sequence);
  op.kind = CollectiveKind::kAllReduce;
  op.bytes = 4;
  op.thread = 9;
  op.iteration = Iteration(iteration);
  op.enter = MonoNs(enter * kMs);
  op.api_return = MonoNs(enter * kMs + 1000);
  op.end = MonoNs(end * kMs);
  return op;
}

void Wait(CommOp& op, std::int64_t from, std::int64_t to) {
  op.wait_start = MonoNs(from * kMs);
  op.wait_end = MonoNs(to * kMs);
}

TEST(TimelineTest, SplitsAGapIntoOwnAndBlocked) {
  RankRows rows;
  rows.ops = {Op(100, 140, 0, 0), Op(200, 210, 0, 1)};
  Wait(rows.ops[0], 110, 140);
  const RankTimeline line = BuildTimeline(RankId(0), rows, {}, kFloor);
  EXPECT_NEAR(line.gaps[1].wall, 0.100, 1e-9);
  EXPECT_NEAR(line.gaps[1].blocked, 0.030, 1e-9);
  EXPECT_NEAR(line.gaps[1].own(), 0.070, 1e-9);
  EXPECT_NEAR(line.gaps[1].after_wait, 0.060, 1e-9);
  EXPECT_EQ(line.gaps[1].waited_op, 0u);
}

TEST(TimelineTest, AWaitWithoutAnEndIsOverWhenItsThreadEntersTheNextOp) {
  RankRows rows;
  rows.ops = {Op(100, 140, 0, 0), Op(200, 210, 0, 1), Op(300, 310, 0, 2), Op(400, 410, 0, 3)};
  rows.ops[0].wait_start = MonoNs(110 * kMs);
  const RankTimeline line = BuildTimeline(RankId(0), rows, {}, kFloor);
  EXPECT_NEAR(line.gaps[1].blocked, 0.090, 1e-9);
  EXPECT_NEAR(line.gaps[2].own(), 0.100, 1e-9);
  EXPECT_NEAR(line.gaps[3].own(), 0.100, 1e-9);
}

TEST(TimelineTest, ItGoesOnWhereOnlyOtherThreadsDo) {
  RankRows rows;
  rows.ops = {Op(100, 140, 0, 0), Op(200, 210, 0, 1), Op(300, 310, 0, 2)};
  rows.ops[0].wait_start = MonoNs(110 * kMs);
  rows.ops[1].thread = rows.ops[2].thread = 8;
  const RankTimeline line = BuildTimeline(RankId(0), rows, {}, kFloor);
  EXPECT_NEAR(line.gaps[2].blocked, 0.100, 1e-9);
}

TEST(TimelineTest, TheFirstGapBeginsWithTheIteration) {
  RankRows rows;
  rows.ops = {Op(100, 140, 3, 0), Op(200, 210, 4, 1)};
  Wait(rows.ops[0], 100, 140);
  const RankTimeline line =
      BuildTimeline(RankId(0), rows,
                    {{Iteration(3), MonoNs(90 * kMs)}, {Iteration(4), MonoNs(140 * kMs)}}, kFloor);
  EXPECT_NEAR(line.gaps[0].wall, 0.010, 1e-9);
  EXPECT_NEAR(line.gaps[1].wall, 0.060, 1e-9);
  EXPECT_NEAR(line.gaps[1].blocked, 0, 1e-9);
}

TEST(TimelineTest, NoGapReachesOverMissingIterations) {
  RankRows rows;
  rows.ops = {Op(100, 140, 3, 0), Op(9000, 9010, 7, 1)};
  const RankTimeline line = BuildTimeline(RankId(0), rows, {}, kFloor);
  EXPECT_EQ(line.gaps[1].wall, 0);
}

TEST(TimelineTest, WithoutTracedWaitsOffCpuTimeUnderAnOpenOpIsBlocked) {
  RankRows rows;
  rows.ops = {Op(100, 150, 0, 0), Op(200, 210, 0, 1)};
  rows.ops[0].cpu_at_enter = Nanos(1 * kMs);
  rows.ops[1].cpu_at_enter = Nanos(31 * kMs);
  const RankTimeline line = BuildTimeline(RankId(0), rows, {}, kFloor);
  EXPECT_FALSE(line.waits_traced);
  EXPECT_NEAR(line.gaps[1].blocked, 0.050, 1e-9);  // open for 50 ms, off the CPU for 70
  EXPECT_NEAR(line.gaps[1].own(), 0.050, 1e-9);
}

// One call that came back late, as any may on a busy host, must not hide the waits of its device.
TEST(TimelineTest, InADevicesTimeTheReturnOfACallIsNoWait) {
  RankRows rows;
  rows.ops = {Op(100, 101, 0, 0), Op(200, 700, 0, 1), Op(710, 711, 0, 2)};
  for (CommOp& op : rows.ops) {
    op.thread = 0;
    op.exec_start = op.enter;
    op.api_return = MonoNs();
  }
  rows.ops[0].api_return = MonoNs(120 * kMs);
  const RankTimeline line = BuildTimeline(RankId(0), rows, {}, kFloor);
  EXPECT_NEAR(line.gaps[2].blocked, 0.500, 1e-9);
  EXPECT_NEAR(line.gaps[2].own(), 0.010, 1e-9);
  EXPECT_EQ(line.gaps[2].waited_op, 1u);
}

// Beside them an op of which the device tells nothing (all-to-all, say) has the times of its call.
TEST(TimelineTest, NorIsThatOfAnOpBesideIt) {
  RankRows rows;
  rows.ops = {Op(100, 100, 0, 0), Op(200, 700, 0, 1), Op(710, 711, 0, 2)};
  rows.ops[0].api_return = MonoNs(120 * kMs);
  for (std::size_t k = 1; k < 3; ++k) {
    rows.ops[k].thread = 0;
    rows.ops[k].exec_start = rows.ops[k].enter;
  }
  const RankTimeline line = BuildTimeline(RankId(0), rows, {}, kFloor);
  EXPECT_NEAR(line.gaps[2].blocked, 0.500, 1e-9);
}

TEST(TimelineTest, OnAHostACallThatReturnsDoneIsAWait) {
  RankRows rows;
  rows.ops = {Op(100, 140, 0, 0), Op(200, 201, 0, 1)};
  rows.ops[0].api_return = MonoNs(140 * kMs);
  const RankTimeline line = BuildTimeline(RankId(0), rows, {}, kFloor);
  EXPECT_NEAR(line.gaps[1].blocked, 0.040, 1e-9);
}

TEST(TimelineTest, MarksOfOtherThreadsAreNotItsOwn) {
  RankRows rows;
  rows.ops = {Op(100, 101, 0, 0), Op(200, 201, 0, 1)};
  rows.marks = {{MarkKind::kGc, MonoNs(120 * kMs), MonoNs(150 * kMs), 9, Iteration(0)},
                {MarkKind::kGc, MonoNs(120 * kMs), MonoNs(190 * kMs), 8, Iteration(0)},
                {MarkKind::kDataLoader, MonoNs(160 * kMs), MonoNs(), 9, Iteration(0)}};
  const RankTimeline line = BuildTimeline(RankId(0), rows, {}, kFloor);
  EXPECT_NEAR(line.gaps[1].gc, 0.030, 1e-9);
  EXPECT_NEAR(line.gaps[1].dataloader, 0.040, 1e-9);  // still open
}

TEST(TimelineTest, CountersOfAnotherThreadTellNothing) {
  RankRows rows;
  rows.ops = {Op(100, 101, 0, 0), Op(200, 201, 0, 1)};
  rows.ops[0].cpu_at_enter = Nanos(1 * kMs);
  rows.ops[1].cpu_at_enter = Nanos(31 * kMs);
  rows.ops[1].thread = 10;
  EXPECT_FALSE(BuildTimeline(RankId(0), rows, {}, kFloor).gaps[1].cpu_known);
}

TEST(TimelineTest, TheSamePlaceHasTheSameKeyInEveryIteration) {
  RankRows rows;
  rows.ops = {Op(100, 101, 0, 0), Op(120, 121, 0, 1), Op(200, 201, 1, 2), Op(220, 221, 1, 3)};
  rows.ops[1].bytes = rows.ops[3].bytes = 1024;
  const RankTimeline line = BuildTimeline(RankId(0), rows, {}, kFloor);
  EXPECT_EQ(line.gaps[0].key, line.gaps[2].key);
  EXPECT_EQ(line.gaps[1].key, line.gaps[3].key);
  EXPECT_NE(line.gaps[0].key, line.gaps[1].key);
}

}  // namespace
}  // namespace fathom::diagnosis
