// What of each rank is drawn: shares, cuts, clocks.
#include "collector/export/perfetto/rank_part.h"

#include <gtest/gtest.h>

#include <vector>

namespace fathom::collector::perfetto {
namespace {

using diagnosis::ClockAlignment;
using diagnosis::CommOp;
using diagnosis::DeviceTimelines;
using diagnosis::JobView;

// Two ranks with an op, of one slice each, at 100, 200, … of their clocks.
JobView View(std::size_t ops) {
  JobView view;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    view.ranks.emplace_back().rank = RankId(rank);
    auto& rows = view.rows[RankId(rank)];
    for (std::size_t i = 0; i < ops; ++i) {
      CommOp op;
      op.enter = MonoNs(static_cast<std::int64_t>(100 * (i + 1)));
      rows.ops.push_back(op);
    }
  }
  return view;
}

TEST(RankParts, NothingIsLeftOutBelowTheLimit) {
  const JobView view = View(5);
  for (const RankPart& part : PartsOf(view, nullptr, nullptr, 10)) {
    EXPECT_EQ(part.until, diagnosis::kNothingCut);
    EXPECT_EQ(part.left_out, 0u);
  }
}

TEST(RankParts, EachIsCutWhereItsShareIsUsed) {
  const JobView view = View(5);
  const auto parts = PartsOf(view, nullptr, nullptr, 6);
  ASSERT_EQ(parts.size(), 2u);
  for (const RankPart& part : parts) {
    EXPECT_EQ(part.until, 400);
    EXPECT_EQ(part.left_out, 2u);
  }
}

TEST(RankParts, ARankWithFewSlicesIsWhole) {
  JobView view = View(5);
  view.rows[RankId(1)].ops.resize(2);
  const auto parts = PartsOf(view, nullptr, nullptr, 6);
  EXPECT_EQ(parts[0].left_out, 2u);
  EXPECT_EQ(parts[1].left_out, 0u);
}

TEST(RankParts, WhatWasNotKeptOfTheDeviceCutsTheRestToo) {
  const JobView view = View(5);
  DeviceTimelines timelines;
  auto& timeline = timelines[RankId(0)].emplace_back();
  timeline.work.device.resize(1);
  timeline.left_out = 9;
  timeline.until = 250;
  const auto parts = PartsOf(view, &timelines, nullptr, 100);
  EXPECT_EQ(parts[0].until, 250);
  EXPECT_EQ(parts[0].left_out, 9u + 3u);
  EXPECT_EQ(parts[1].left_out, 0u);
}

class Clocks : public ::testing::Test {
 protected:
  Clocks() {
    clocks_.ranks[RankId(0)] = {Nanos(0), Nanos(0), RankId(0), 0};
    clocks_.ranks[RankId(1)] = {Nanos(5'000'000), Nanos(20'000), RankId(0), 50};
  }
  std::int64_t ShiftOfTheSecond() { return PartsOf(view_, nullptr, &clocks_, 100)[1].shift; }

  JobView view_ = View(3);
  ClockAlignment clocks_;
};

TEST_F(Clocks, AreOfNoUseWhereTheyAreNotKnown) {
  EXPECT_EQ(PartsOf(view_, nullptr, nullptr, 100)[1].shift, 0);
}

TEST_F(Clocks, OfTwoNodesArePutRight) {
  EXPECT_EQ(ShiftOfTheSecond(), 5'000'000);
  view_.ranks[0].node = "a";
  view_.ranks[1].node = "b";
  EXPECT_EQ(ShiftOfTheSecond(), 5'000'000);
}

TEST_F(Clocks, OfOneNodeAreOne) {
  view_.ranks[0].node = view_.ranks[1].node = "a";
  EXPECT_EQ(ShiftOfTheSecond(), 0);
}

TEST_F(Clocks, AreLeftWhereNothingIsSureOfThem) {
  clocks_.ranks[RankId(1)].residual = Nanos(6'000'000);
  EXPECT_EQ(ShiftOfTheSecond(), 0);
}

}  // namespace
}  // namespace fathom::collector::perfetto
