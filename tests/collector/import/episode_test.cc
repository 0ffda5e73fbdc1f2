#include "collector/import/episode.h"

#include <gtest/gtest.h>

#include <random>

#include "collector/import/passed_stretch.h"
#include "collector/import/short_recording.h"

namespace fathom::collector {
namespace {

diagnosis::JobView ViewOf(const std::vector<double>& milliseconds) {
  diagnosis::JobView view;
  for (std::size_t i = 0; i < milliseconds.size(); ++i) {
    diagnosis::IterationSummary summary;
    summary.index = Iteration(static_cast<std::int64_t>(i) + 10);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      diagnosis::RankIteration iteration;
      iteration.rank = RankId(rank);
      iteration.duration = Nanos::FromSeconds(milliseconds[i] * 1e-3);
      summary.ranks.push_back(iteration);
    }
    view.window.push_back(summary);
  }
  return view;
}

Iteration OnsetOf(const std::vector<double>& milliseconds) {
  return FindEpisode(ViewOf(milliseconds), {}).onset;
}

TEST(ChanceOfRise, IsExact) {
  // Of the C(6, 3) = 20 orders one is as extreme, of C(12, 6) = 924 also one.
  EXPECT_DOUBLE_EQ(ChanceOfRise({1, 2, 3, 4, 5, 6}, 3), 1.0 / 20);
  EXPECT_DOUBLE_EQ(ChanceOfRise({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 6), 1.0 / 924);
  EXPECT_DOUBLE_EQ(ChanceOfRise({6, 5, 4, 3, 2, 1}, 3), 1.0);
  EXPECT_DOUBLE_EQ(ChanceOfRise({1, 2, 4, 3, 5, 6}, 3), 2.0 / 20);
}

TEST(FindEpisode, FindsAStepInNoise) {
  const auto episode = FindEpisode(ViewOf({62, 63, 46, 56, 47, 40, 78, 80, 76, 91, 80, 126}), {});
  EXPECT_EQ(episode.onset, Iteration(16));
  EXPECT_NEAR(episode.expected.Millis(), 51.5, 1);
  const diagnosis::DiagnosisConfig config;
  const double limit = episode.expected.Millis() + config.noise_factor * episode.noise.Millis();
  EXPECT_GT(limit, 63);
  EXPECT_LT(limit, 76);
}

TEST(FindEpisode, LeavesOutTheStartOfTheProfiler) {
  EXPECT_EQ(OnsetOf({290, 62, 63, 46, 56, 47, 40, 78, 80, 76, 91, 80, 126}), Iteration(17));
  EXPECT_EQ(OnsetOf({290, 62, 63, 46, 56, 47, 40, 61, 44, 58, 49, 63, 51}), Iteration(-1));
}

TEST(FindEpisode, IsSilentWithoutAStep) {
  EXPECT_EQ(OnsetOf({62, 63, 46, 56, 47, 40, 61, 44, 58, 49, 63, 51}), Iteration(-1));
  EXPECT_EQ(OnsetOf({62, 63, 46, 56, 47, 40, 61, 44, 258, 49, 63, 51}), Iteration(-1));
  EXPECT_EQ(OnsetOf({80, 79, 81, 80, 78, 82, 40, 41, 39, 42, 40, 38}), Iteration(-1)) << "faster";
}

TEST(FindEpisode, IsSilentBelowDelta) {
  EXPECT_EQ(OnsetOf({50, 50.1, 50.2, 50, 50.1, 50.2, 51, 51.1, 51.2, 51, 51.1, 51.2}),
            Iteration(-1));
}

TEST(FindEpisode, WantsEnoughIterations) {
  EXPECT_EQ(OnsetOf({50, 51, 52, 100, 101, 102}), Iteration(-1));
  EXPECT_EQ(OnsetOf({}), Iteration(-1));
}

// One false alarm in a hundred is what recorded_chance promises, with noise of any shape.
TEST(FindEpisode, KeepsItsPromiseOnNoise) {
  std::mt19937 random(3);
  std::lognormal_distribution<double> noise(4, 0.4);
  int alarms = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> series(12);
    for (double& value : series) value = noise(random);
    alarms += OnsetOf(series) != Iteration(-1);
  }
  EXPECT_LE(alarms, 20);
}

const std::vector<double> kStretch = {44,  40,  61,  48, 52, 45, 50, 47, 150, 141,
                                      160, 155, 149, 46, 51, 60, 43, 49, 55,  47};

Iteration OnsetOfPassed(const std::vector<double>& milliseconds) {
  const auto passed = FindPassedStretch(ViewOf(milliseconds), {});
  return passed ? passed->episode.onset : Iteration(-1);
}

TEST(FindPassedStretch, FindsWhatIsOver) {
  const auto passed = FindPassedStretch(ViewOf(kStretch), {});
  ASSERT_TRUE(passed.has_value());
  EXPECT_EQ(passed->episode.onset, Iteration(18));
  EXPECT_EQ(passed->until, Iteration(22));
  EXPECT_EQ(passed->end, 13);
  EXPECT_NEAR(passed->episode.expected.Millis(), 47.5, 0.1);
  EXPECT_EQ(OnsetOf(kStretch), Iteration(-1)) << "no step that lasts";
}

TEST(FindPassedStretch, FindsItInALongRecording) {
  std::mt19937 random(3);
  std::lognormal_distribution<double> noise(4, 0.2);
  std::vector<double> series(120);
  for (std::size_t i = 0; i < series.size(); ++i) {
    series[i] = noise(random) * (i >= 40 && i < 70 ? 2.5 : 1);
  }
  const auto passed = FindPassedStretch(ViewOf(series), {});
  ASSERT_TRUE(passed.has_value());
  EXPECT_EQ(passed->episode.onset, Iteration(50));
  EXPECT_EQ(passed->until, Iteration(79));
}

TEST(FindPassedStretch, IsSilentOtherwise) {
  const Iteration none(-1);
  EXPECT_EQ(OnsetOfPassed({44, 40, 61, 48, 52, 45, 50, 47, 150, 141, 46, 51, 60, 43, 49, 55, 47}),
            none)
      << "two may be chance";
  EXPECT_EQ(OnsetOfPassed({150, 141, 160, 155, 149, 46, 51, 60, 43, 49, 55, 47, 50, 45, 48, 47}),
            none)
      << "a warm-up has nothing before it";
  EXPECT_EQ(OnsetOfPassed({50, 50.1, 50.2, 50, 50.1, 51,   51.1, 51.2, 51,   51.1,
                           50, 50.1, 50.2, 50, 50.3, 50.2, 50.1, 50.3, 50.2, 50.1}),
            none)
      << "below delta";
  EXPECT_EQ(OnsetOfPassed({44,  140, 61, 148, 52,  145, 50, 47,  150, 141, 160, 155, 149,
                           146, 151, 60, 143, 149, 55,  47, 140, 150, 46,  149, 50,  141}),
            none)
      << "what comes and goes is no stretch";
  EXPECT_EQ(OnsetOfPassed({}), none);
}

TEST(FindPassedStretch, KeepsItsPromiseOnNoise) {
  std::mt19937 random(5);
  std::lognormal_distribution<double> noise(4, 0.4);
  int alarms = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> series(20);
    for (double& value : series) value = noise(random);
    alarms += OnsetOfPassed(series) != Iteration(-1);
  }
  EXPECT_LE(alarms, 20);
}

TEST(ConfigForRecording, FitsShortRecordingsOnly) {
  const diagnosis::DiagnosisConfig live;
  const auto small = ConfigForRecording(live, 12, 4);
  EXPECT_EQ(small.baseline_iterations, 4);
  EXPECT_EQ(small.min_irregular, 3);
  EXPECT_DOUBLE_EQ(small.prior_rank, 0.125);
  EXPECT_EQ(small.supported_odds, live.supported_odds);
  const auto large = ConfigForRecording(live, 1000, 4096);
  EXPECT_EQ(large.baseline_iterations, live.baseline_iterations);
  EXPECT_EQ(large.min_irregular, live.min_irregular);
  EXPECT_EQ(large.recent_window(), live.recent_window());
  EXPECT_DOUBLE_EQ(large.prior_rank, live.prior_rank);
}

}  // namespace
}  // namespace fathom::collector
