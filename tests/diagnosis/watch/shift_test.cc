#include "diagnosis/watch/shift.h"

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kBefore = 60, kAfter = 16;

// `noise` and `step` as shares of 0.1 s; `drift`: how much it grows over the whole series.
JobSeries SeriesOf(double noise, double step, std::uint64_t seed, double drift = 0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, noise);
  JobSeries series;
  for (std::size_t i = 0; i < kBefore + kAfter; ++i) {
    const double grown = drift * static_cast<double>(i) / (kBefore + kAfter);
    const double times = 1 + normal(random) + grown + (i < kBefore ? 0 : step);
    series.points.push_back({Iteration(static_cast<std::int64_t>(i)), WallNs(), 0.1 * times, true});
  }
  series.reference = 0.1;
  series.noise = 0.002;
  return series;
}

TEST(ShiftTest, ASmallStepOfAQuietJobIsSeenWhereItIs) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto shift = FindShift(SeriesOf(0.003, 0.03, seed), {});
    ASSERT_TRUE(shift) << seed;
    EXPECT_EQ(shift->first, kBefore) << seed;
    EXPECT_NEAR(shift->before, 0.1, 0.0005);
    EXPECT_NEAR(shift->limit, 0.1015, 0.0005);
  }
}

// The many replicas of a large job make it so noisy; no iteration of it is irregular by itself. Few
// points tell their own noise badly, and a later look has more of them.
TEST(ShiftTest, AStepThatNoIterationShowsByItselfIsSeenInALargeJob) {
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto shift = FindShift(SeriesOf(0.0105, 0.064, seed), {});
    if (!shift) continue;
    ++seen;
    EXPECT_NEAR(static_cast<double>(shift->first), kBefore, 1) << seed;
  }
  EXPECT_GE(seen, 80);
}

struct Silent {
  const char* why;
  double noise, step, drift;
};

class NoShiftTest : public ::testing::TestWithParam<Silent> {};

TEST_P(NoShiftTest, IsNotTakenForAStep) {
  const Silent& test = GetParam();
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const JobSeries series = SeriesOf(test.noise, test.step, seed, test.drift);
    EXPECT_FALSE(FindShift(series, {})) << test.why << ", seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, NoShiftTest,
                         ::testing::Values(Silent{"healthy", 0.003, 0, 0},
                                           Silent{"too small a step", 0.001, 0.008, 0},
                                           Silent{"as noisy as a large one", 0.0125, 0, 0},
                                           Silent{"and growing", 0.0125, 0, 0.04},
                                           Silent{"a noisy job", 0.03, 0.04, 0},
                                           Silent{"a slow drift", 0.003, 0, 0.02}));

// Every seventh iteration takes one to three times as long: no single one of the step is irregular.
JobSeries Spiky(double step, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> more(0, 2), often(0, 1);
  JobSeries series = SeriesOf(0.05, step, seed);
  for (SeriesPoint& point : series.points) {
    if (often(random) < 1.0 / 7) point.seconds *= 1 + more(random);
  }
  series.noise = 0.06;
  return series;
}

TEST(ShiftTest, ALargeStepOfANoisyJobIsSeen) {
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto shift = FindShift(Spiky(1, seed), {});
    if (!shift) continue;
    ++seen;
    EXPECT_NEAR(static_cast<double>(shift->first), kBefore, 8) << seed << ": spikes may lead to it";
  }
  EXPECT_GE(seen, 95);
}

// The first 25 iterations take up to four times as long, each by chance.
JobSeries AfterAWildStart(double noise, double step, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> more(0.2, 3);
  JobSeries series = SeriesOf(noise, step, seed);
  for (std::size_t i = 0; i < 25; ++i) series.points[i].seconds *= 1 + more(random);
  return series;
}

TEST(ShiftTest, AStepSoonAfterAWildStartIsSeen) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (const auto& [noise, step] : {std::pair(0.003, 0.03), std::pair(0.03, 0.7)}) {
      const auto shift = FindShift(AfterAWildStart(noise, step, seed), {});
      ASSERT_TRUE(shift) << seed << ", step " << step;
      EXPECT_NEAR(static_cast<double>(shift->first), kBefore, 1) << seed;
      EXPECT_NEAR(shift->before, 0.1, 0.003);
    }
  }
}

TEST(ShiftTest, AWildStartAloneIsNoStep) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_FALSE(FindShift(AfterAWildStart(0.003, 0, seed), {})) << seed;
    EXPECT_FALSE(FindShift(AfterAWildStart(0.03, 0.1, seed), {})) << seed << ": noisy, and small";
  }
}

TEST(ShiftTest, ASmallerStepOfANoisyJobIsNot) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_FALSE(FindShift(Spiky(0, seed), {})) << seed;
    EXPECT_FALSE(FindShift(Spiky(0.15, seed), {})) << seed;
  }
}

TEST(ShiftTest, NeedsABaselineAndIterationsSince) {
  JobSeries series = SeriesOf(0.003, 0.03, 1);
  series.points.resize(kBefore + 5);
  EXPECT_FALSE(FindShift(series, {}));
  JobSeries young = SeriesOf(0.003, 0.03, 1);
  young.points.erase(young.points.begin(), young.points.begin() + 41);
  EXPECT_FALSE(FindShift(young, {}));
  EXPECT_FALSE(FindShift(JobSeries(), {}));
}

TEST(ShiftTest, OneSpikeIsNoStep) {
  JobSeries series = SeriesOf(0.003, 0, 1);
  for (std::size_t i = kBefore + 2; i < kBefore + 5; ++i) series.points[i].seconds = 0.5;
  EXPECT_FALSE(FindShift(series, {}));
}

TEST(ShiftTest, InAnEpisodeItGoesOnAgainstTheBaselineFromBefore) {
  JobSeries series = SeriesOf(0.003, 0.03, 1);
  series.episode = Iteration(kBefore);
  series.points.erase(series.points.begin(), series.points.begin() + kBefore - 4);
  const auto shift = FindShift(series, {});
  ASSERT_TRUE(shift);
  EXPECT_EQ(series.points[shift->first].index.value, static_cast<std::int64_t>(kBefore));
  JobSeries well = SeriesOf(0.003, 0, 1);
  well.episode = Iteration(kBefore);
  EXPECT_FALSE(FindShift(well, {}));
}

struct Lasting {
  const char* what;
  double noise, step;
};

class LastingShiftTest : public ::testing::TestWithParam<Lasting> {};

// A step that was told once is told at every look afterwards, and over when it is gone.
TEST_P(LastingShiftTest, IsToldUntilItIsOver) {
  constexpr std::size_t kRecovered = 40, kGone = 6;  // points after the onset; looks
  const Lasting& test = GetParam();
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, test.noise);
    JobSeries series = SeriesOf(test.noise, 0, seed);
    series.points.resize(kBefore);
    bool told = false;
    for (std::size_t after = 0; after < kRecovered + 12; ++after) {
      const double step = after < kRecovered ? test.step : 0;
      series.points.push_back({Iteration(static_cast<std::int64_t>(kBefore + after)), WallNs(),
                               0.1 * (1 + step + normal(random)), true});
      const auto shift = FindShift(series, {});
      if (after < kRecovered) {
        EXPECT_TRUE(shift || !told) << test.what << ", seed " << seed << ", point " << after;
      }
      if (after >= kRecovered + kGone) {
        EXPECT_FALSE(shift) << test.what << ", seed " << seed << ", point " << after;
      }
      series.episode = shift ? series.points[shift->first].index : Iteration(-1);
      series.reference = shift ? shift->before : 0.1;
      told = told || shift;
      if (told && !shift) break;
    }
    EXPECT_TRUE(told) << test.what << ", seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LastingShiftTest,
                         ::testing::Values(Lasting{"as a slow memory costs a large job", 0.0045,
                                                   0.021},
                                           Lasting{"twice as far from the noise", 0.003, 0.03},
                                           Lasting{"a noisier job", 0.006, 0.04}));

}  // namespace
}  // namespace fathom::diagnosis
