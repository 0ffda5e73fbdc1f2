#include "diagnosis/stats/change_point.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

std::vector<double> Noise(std::size_t count, double mean, std::mt19937_64& random) {
  std::normal_distribution<double> normal(mean, 1);
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(normal(random));
  return out;
}

std::size_t MostLikely(const std::vector<double>& start) {
  return static_cast<std::size_t>(std::max_element(start.begin(), start.end()) - start.begin());
}

TEST(ChangePointTest, PosteriorSumsToOne) {
  std::mt19937_64 random(1);
  const auto start = RunStartPosterior(Noise(100, 0, random), {});
  EXPECT_NEAR(std::accumulate(start.begin(), start.end(), 0.0), 1, 1e-9);
}

TEST(ChangePointTest, FindsAShiftOfThreeSigmaAtItsPlace) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    auto values = Noise(40, 0, random);
    const auto shifted = Noise(8, 3, random);
    values.insert(values.end(), shifted.begin(), shifted.end());
    EXPECT_NEAR(static_cast<double>(MostLikely(RunStartPosterior(values, {}))), 40, 2) << seed;
  }
}

TEST(ChangePointTest, SteadySeriesHasNoRecentChange) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const auto start = RunStartPosterior(Noise(200, 0, random), {});
    EXPECT_LT(std::accumulate(start.end() - 10, start.end(), 0.0), 0.5) << seed;
  }
}

TEST(ChangePointTest, OneClippedSpikeIsForgotten) {
  std::mt19937_64 random(3);
  auto values = Noise(60, 0, random);
  values[40] = 4;
  const auto start = RunStartPosterior(values, {});
  EXPECT_LT(std::accumulate(start.begin() + 38, start.begin() + 44, 0.0), 0.5);
}

TEST(ChangePointTest, RunLengthsAreBounded) {
  ChangePointPrior prior;
  prior.longest_run = 50;
  std::mt19937_64 random(4);
  const auto start = RunStartPosterior(Noise(500, 0, random), prior);
  EXPECT_NEAR(std::accumulate(start.begin(), start.end(), 0.0), 1, 1e-9);
  EXPECT_DOUBLE_EQ(std::accumulate(start.begin(), start.begin() + 400, 0.0), 0);
}

}  // namespace
}  // namespace fathom::diagnosis
