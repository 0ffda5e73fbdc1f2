#include "diagnosis/history/issue_shift.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom::diagnosis {
namespace {

IssueLatency Sketch(std::initializer_list<std::int64_t> micros) {
  IssueLatency sketch;
  for (const std::int64_t us : micros) sketch.Add(us * 1000);
  return sketch;
}

TEST(IssueLatency, CountsByHalvesOfADecade) {
  const IssueLatency sketch = Sketch({-5, 0, 9, 10, 31, 32, 99'999, 100'000, 5'000'000});
  EXPECT_EQ(sketch.counts[0], 3u);
  EXPECT_EQ(sketch.counts[1], 2u);
  EXPECT_EQ(sketch.counts[2], 1u);
  EXPECT_EQ(sketch.counts[8], 1u);
  EXPECT_EQ(sketch.counts[9], 2u);
  EXPECT_EQ(sketch.ops(), 9u);
}

TEST(IssueLatency, MergesByAddition) {
  IssueLatency sum = Sketch({5, 50});
  sum += Sketch({500, 50'000});
  EXPECT_EQ(sum, Sketch({5, 50, 500, 50'000}));
  EXPECT_FALSE(IssueLatency().known());
}

TEST(IssueShift, TheDistanceOfTwoPointsIsHowFarTheyLieApart) {
  const IssueShares low = SharesOf(Sketch({20, 20})), high = SharesOf(Sketch({2'000}));
  EXPECT_NEAR(IssueDistance(low, high), 2, 1e-6);
  EXPECT_NEAR(IssueDistance(high, low), 2, 1e-6);
  EXPECT_NEAR(IssueDistance(low, low), 0, 1e-6);
  EXPECT_NEAR(IssueDistance(low, SharesOf(Sketch({20, 2'000}))), 1, 1e-6);
}

TEST(IssueShift, TypicalIsTheGeometricMean) {
  EXPECT_NEAR(TypicalIssue_s(SharesOf(Sketch({15, 1'500}))), std::sqrt(17.8e-6 * 1.78e-3), 2e-6);
  EXPECT_EQ(TypicalIssue_s(IssueShares{}), 0);
}

TEST(IssueShift, AHostThatIsNoLongerAheadHasFallen) {
  const std::vector<IssueShares> history(4, SharesOf(Sketch({3'000, 5'000, 9'000, 800})));
  const IssueShift shift = ShiftOf(SharesOf(Sketch({15, 20, 9'000, 50})), history);
  EXPECT_TRUE(shift.known);
  EXPECT_TRUE(shift.fallen);
  EXPECT_LT(shift.after_s, shift.before_s / 2);
}

TEST(IssueShift, AHostThatIsFurtherAheadHasNot) {
  const std::vector<IssueShares> history(4, SharesOf(Sketch({50, 80, 90})));
  EXPECT_FALSE(ShiftOf(SharesOf(Sketch({5'000, 8'000, 9'000})), history).fallen);
}

TEST(IssueShift, WhatEarlierRunsDifferByIsNoFall) {
  const IssueShares high = SharesOf(Sketch({5'000})), low = SharesOf(Sketch({50}));
  EXPECT_FALSE(ShiftOf(low, {high, low, high, low}).fallen);
  // Lower than all of theirs, and by less than they differ.
  EXPECT_FALSE(ShiftOf(SharesOf(Sketch({5})), {high, low, high, low}).fallen);
}

TEST(IssueShift, IsNotKnownWhereOneOfThemDoesNotTell) {
  const IssueShares told = SharesOf(Sketch({50}));
  EXPECT_FALSE(ShiftOf(IssueShares{}, {told, told, told}).known);
  EXPECT_FALSE(ShiftOf(told, {told, IssueShares{}, told}).known);
  EXPECT_FALSE(ShiftOf(told, {}).known);
}

}  // namespace
}  // namespace fathom::diagnosis
