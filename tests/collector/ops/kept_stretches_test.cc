#include "collector/ops/kept_stretches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr WallNs At(double s) {
  return WallNs(1'000'000'000'000 + static_cast<std::int64_t>(s * 1e9));
}

TEST(KeptStretchesTest, RanksThatTellTogetherAreOneStretchThatGoesOn) {
  KeptStretches stretches;
  stretches.Heard("train", {0, 1}, At(0));
  stretches.Heard("train", {2, 3, 7}, At(2));
  auto told = stretches.TakeChanged();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].ranks, "0-3,7");
  EXPECT_EQ(told[0].from, At(0));
  EXPECT_EQ(told[0].to, At(2));
  EXPECT_THAT(stretches.TakeChanged(), IsEmpty());
  stretches.Heard("train", {0, 1}, At(20));
  told = stretches.TakeChanged();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].from, At(0));
  EXPECT_EQ(told[0].to, At(20));
}

TEST(KeptStretchesTest, ARankThatComesLaterOrIsSilentBeginsTheNext) {
  KeptStretches stretches;
  stretches.Heard("train", {0, 1}, At(0));
  stretches.Heard("train", {0, 1}, At(30));
  stretches.Heard("train", {4}, At(31));
  auto told = stretches.TakeChanged();
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_EQ(told[0].ranks, "0-1");
  EXPECT_EQ(told[0].to, At(30));
  EXPECT_EQ(told[1].ranks, "0-1,4");
  EXPECT_EQ(told[1].from, At(31));
  for (int s = 32; s < 120; s += 2) stretches.Heard("train", {4}, At(s));
  told = stretches.TakeChanged();
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_EQ(told[0].ranks, "0-1,4");
  EXPECT_EQ(told[1].ranks, "4");
  EXPECT_EQ(told[1].to, At(118));
}

TEST(KeptStretchesTest, APauseEndsOne) {
  KeptStretches stretches;
  stretches.Heard("train", {0, 1}, At(0));
  stretches.Heard("train", {0, 1}, At(400));
  const auto told = stretches.TakeChanged();
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_EQ(told[0].to, At(0));
  EXPECT_EQ(told[1].from, At(400));
}

TEST(KeptStretchesTest, JobsHaveStretchesOfTheirOwn) {
  KeptStretches stretches;
  stretches.Heard("one", {0}, At(0));
  stretches.Heard("two", {5}, At(50));
  const auto told = stretches.TakeChanged();
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_EQ(told[0].job + told[0].ranks, "one0");
  EXPECT_EQ(told[1].job + told[1].ranks, "two5");
}

}  // namespace
}  // namespace fathom::collector
