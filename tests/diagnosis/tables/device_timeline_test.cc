// What is kept of a rank's work to be drawn.
#include "diagnosis/tables/device_timeline.h"

#include <gtest/gtest.h>

namespace fathom::diagnosis {
namespace {

RankWork Work() {
  RankWork work;
  work.names = {"gemm", "op"};
  work.streams = {7};
  for (const std::int64_t begin : {300, 100, 500}) {
    DeviceWork& one = work.device.emplace_back();
    one.begin = begin;
    one.end = begin + 50;
  }
  work.host_ops = {{90, 400, 1}, {90, 500, 1}, {480, 490, 1}};
  return work;
}

TEST(DeviceTimeline, KeepsEverythingInOrderOfBegin) {
  const DeviceTimeline timeline = TimelineOf(Work(), 6);
  ASSERT_EQ(timeline.work.device.size(), 3u);
  EXPECT_EQ(timeline.work.device[0].begin, 100);
  EXPECT_EQ(timeline.work.device[2].begin, 500);
  ASSERT_EQ(timeline.work.host_ops.size(), 3u);
  EXPECT_EQ(timeline.work.host_ops[0].end, 500) << "the outer op first";
  EXPECT_EQ(timeline.left_out, 0u);
  EXPECT_EQ(timeline.until, kNothingCut);
}

TEST(DeviceTimeline, KeepsTheFirstOfDeviceAndHostTogether) {
  const DeviceTimeline timeline = TimelineOf(Work(), 4);
  EXPECT_EQ(timeline.work.device.size(), 2u);
  EXPECT_EQ(timeline.work.host_ops.size(), 2u);
  EXPECT_EQ(timeline.left_out, 2u);
  EXPECT_EQ(timeline.until, 480);
}

// Where several begin at the moment of the cut all of them are left out, so that the cut is one.
TEST(DeviceTimeline, DoesNotCutBetweenEqualTimes) {
  const DeviceTimeline timeline = TimelineOf(Work(), 1);
  EXPECT_EQ(timeline.left_out, 6u);
  EXPECT_EQ(timeline.until, 90);
  EXPECT_FALSE(timeline.empty());
}

TEST(DeviceTimeline, IsPutOnTheClockOfTheView) {
  DeviceTimeline cut = TimelineOf(Work(), 4), whole = TimelineOf(Work(), 6);
  Rebase(1'000, cut);
  Rebase(1'000, whole);
  EXPECT_EQ(cut.base, 1'000);
  EXPECT_EQ(cut.until, 1'480);
  EXPECT_EQ(whole.until, kNothingCut);
}

TEST(DeviceTimeline, OfNothingIsEmpty) { EXPECT_TRUE(TimelineOf({}, 10).empty()); }

}  // namespace
}  // namespace fathom::diagnosis
