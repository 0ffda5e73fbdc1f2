// A rank's own time takes a step at the iteration at which the job became a little slower.
#include "diagnosis/watch/rank_shift.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "diagnosis/watch/watch.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

constexpr std::uint32_t kRanks = 64, kCulprit = 21;
constexpr int kBefore = 34, kAfter = 14;

struct Play {
  double job_step = 0.011;  // of 0.36 s, from the onset on
  double own_step = 0.07;   // of the culprit's own 0.18 s
  double job_noise = 0.005, own_noise = 0.012;
  double memory = 0;   // of own noise: what goes on from one iteration to the next
  bool heavy = false;  // own noise with heavy tails
  bool blocked_known = true;
  double all_step = 0;   // own time of all ranks
  double job_drift = 0;  // over the whole, of the job and of the culprit's own time
  int own_late = 0;      // iterations by which the rank's step comes after the job's
  std::function<double(int iteration, std::uint32_t rank)> more = nullptr;  // seconds
};

class Player {
 public:
  Player(const Play& play, std::uint64_t seed) : play_(play), random_(seed), noise_(kRanks) {}

  JobView To(int iterations) {
    JobView view;
    view.world_size = kRanks;
    for (int i = 0; i < iterations; ++i) view.window.push_back(Next(i));
    return view;
  }

  IterationSummary Next(int i) {
    const double share = static_cast<double>(i) / (kBefore + kAfter);
    const double step = i < kBefore ? 0 : play_.job_step;
    const double job = 0.36 * (1 + step + play_.job_drift * share + play_.job_noise * Normal());
    IterationSummary it;
    it.index = Iteration(i);
    for (std::uint32_t r = 0; r < kRanks; ++r) it.ranks.push_back(RankOf(i, r, job));
    return it;
  }

 private:
  double Normal() { return normal_(random_); }

  RankIteration RankOf(int i, std::uint32_t r, double job) {
    const double fresh = play_.heavy ? student_(random_) : Normal();
    noise_[r] = play_.memory * noise_[r] + std::sqrt(1 - play_.memory * play_.memory) * fresh;
    double own = 1 + play_.own_noise * noise_[r] + (i < kBefore ? 0 : play_.all_step);
    if (r == kCulprit) {
      own += i < kBefore + play_.own_late ? 0 : play_.own_step;
      own += play_.job_drift * static_cast<double>(i) / (kBefore + kAfter);
    }
    RankIteration rank;
    rank.rank = RankId(r);
    rank.duration = Nanos::FromSeconds(job);
    const double seconds = 0.18 * own + (play_.more ? play_.more(i, r) : 0);
    if (play_.blocked_known) rank.blocked = rank.duration - Nanos::FromSeconds(seconds);
    return rank;
  }

  const Play play_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> student_{2};
  std::vector<double> noise_;
};

std::optional<Shift> Find(const JobView& view) {
  return FindRankShift(view, BuildSeries(view, {}), {});
}

JobView Played(const Play& play, std::uint64_t seed) {
  return Player(play, seed).To(kBefore + kAfter);
}

TEST(RankShiftTest, AStepOfOneRankTellsAStepOfTheJobThatItsOwnTimesDoNot) {
  int by_the_job_alone = 0, by_the_rank = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const JobView view = Played({}, seed);
    by_the_job_alone += FindShift(BuildSeries(view, {}), {}).has_value();
    const auto shift = Find(view);
    if (!shift) continue;
    ++by_the_rank;
    EXPECT_EQ(shift->first, static_cast<std::size_t>(kBefore)) << seed;
    EXPECT_NEAR(shift->before, 0.36, 0.002);
    EXPECT_GT(shift->limit, shift->before);
  }
  EXPECT_GE(by_the_rank, 45);
  EXPECT_LE(by_the_job_alone, 15);
}

TEST(RankShiftTest, TheJobIsLookedIntoSinceThen) {
  const JobView view = Played({}, 3);
  const Suspicion suspicion = Watch(view, {});
  EXPECT_TRUE(suspicion.slow);
  EXPECT_EQ(suspicion.onset, Iteration(kBefore));
  EXPECT_GE(suspicion.irregular.size(), 6U);
}

struct Silent {
  const char* why;
  Play play;
};

class NoRankShiftTest : public ::testing::TestWithParam<Silent> {};

TEST_P(NoRankShiftTest, IsNotLookedInto) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Player player(GetParam().play, seed);
    JobView view = player.To(kBefore + 10);
    for (int i = kBefore + 10; i <= kBefore + kAfter + 12; ++i) {
      EXPECT_FALSE(Find(view)) << GetParam().why << ", seed " << seed << ", at " << i;
      view.window.push_back(player.Next(i));
    }
  }
}

double Checkpoint(int i, std::uint32_t) { return i % 10 == 0 ? 0.09 : 0; }
double LoneSpike(int i, std::uint32_t r) { return r == 9 && i == kBefore + 2 ? 0.5 : 0; }
double Burst(int i, std::uint32_t r) { return r == 9 && i > kBefore && i < kBefore + 6 ? 0.05 : 0; }

INSTANTIATE_TEST_SUITE_P(
    All, NoRankShiftTest,
    ::testing::Values(
        Silent{"healthy", {.job_step = 0, .own_step = 0}},
        Silent{"a rank that nobody waits for", {.job_step = 0}},
        Silent{"near miss: too small a step of the job", {.job_step = 0.003, .job_noise = 0.001}},
        Silent{"near miss: too small a step of the rank", {.own_step = 0.012}},
        Silent{"near miss: the rank changed later", {.job_noise = 0.003, .own_late = 9}},
        Silent{"missing signal: waits are not told", {.blocked_known = false}},
        Silent{"a noisy job", {.job_step = 0.02, .job_noise = 0.03}},
        Silent{"confuser: all ranks take longer", {.own_step = 0, .all_step = 0.07}},
        Silent{"confuser: the job grows, nobody by itself", {.own_step = 0}},
        Silent{"heavy tails", {.job_step = 0.008, .own_step = 0, .heavy = true}},
        Silent{"noise that goes on", {.job_step = 0.008, .own_step = 0, .memory = 0.9}},
        Silent{"a slow drift", {.job_step = 0, .own_step = 0, .job_drift = 0.03}},
        Silent{"a lone spike", {.own_step = 0, .more = LoneSpike}},
        Silent{"some iterations of one rank", {.own_step = 0, .more = Burst}},
        Silent{"checkpoints", {.own_step = 0, .more = Checkpoint}}));

TEST(RankShiftTest, NeedsABaselineAndIterationsSince) {
  JobView view = Played({}, 1);
  JobView late = view, early = view;
  late.window.erase(late.window.begin(), late.window.begin() + 10);
  EXPECT_FALSE(Find(late));
  early.window.resize(kBefore + 5);
  EXPECT_FALSE(Find(early));
  EXPECT_FALSE(Find(JobView()));
}

TEST(RankShiftTest, RanksThatLackAnIterationAreLeftOut) {
  JobView view = Played({}, 1);
  auto& ranks = view.window[5].ranks;
  ranks.erase(ranks.begin() + kCulprit);
  EXPECT_FALSE(Find(view));
  JobView others = Played({}, 1);
  others.window[5].ranks.erase(others.window[5].ranks.begin());
  others.window[7].ranks.pop_back();
  EXPECT_TRUE(Find(others));
}

// A step that was told once is told at every look afterwards, with the baseline that the caller
// keeps, and over when it is gone.
TEST(RankShiftTest, IsToldUntilItIsOver) {
  constexpr int kRecovered = kBefore + 40, kGone = 8, kKept = 36;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Play well;
    well.job_step = well.own_step = 0;
    Player slow({}, seed), recovered(well, seed + 1000);
    JobView view = slow.To(kBefore);
    bool told = false;
    for (int i = kBefore; i < kRecovered + 14; ++i) {
      view.window.push_back(i < kRecovered ? slow.Next(i) : recovered.Next(i));
      if (i > kBefore + kKept) view.window.erase(view.window.begin() + kBefore);
      const Suspicion suspicion = Watch(view, {});
      EXPECT_TRUE(suspicion.slow || !told || i >= kRecovered) << seed << ", at " << i;
      EXPECT_FALSE(suspicion.slow && i >= kRecovered + kGone) << seed << ", at " << i;
      told = told || suspicion.slow;
      view.episode = suspicion.episode;
    }
    EXPECT_TRUE(told) << "seed " << seed;
  }
}

// Of many communicators the window holds fewer iterations than teach a baseline: what it has let go
// tells the job's step, and what it holds whose it is.
Iteration OnsetInAShortWindow(const Play& play, std::uint64_t seed) {
  constexpr std::size_t kSlots = 24;
  Player player(play, seed);
  JobView view;
  view.world_size = kRanks;
  for (int i = 0; i < kBefore + kAfter; ++i) {
    view.window.push_back(player.Next(i));
    if (view.window.size() > kSlots) view.window.erase(view.window.begin());
    const JobSeries series = BuildSeries(view, {});
    if (const auto shift = FindRankShift(view, series, {}))
      return series.points[shift->first].index;
    view.past = PastOf(series, {}, {});
  }
  return Iteration(-1);
}

TEST(RankShiftTest, IsToldFromAShortWindowOfANoisyJob) {
  const Play slow{.job_step = 0.055, .own_step = 0.4, .job_noise = 0.018};
  const Play others{.job_step = 0.055, .own_step = 0, .job_noise = 0.018};
  int right = 0, told = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    right += std::abs(OnsetInAShortWindow(slow, seed).value - kBefore) <= 3 ? 1 : 0;
    told += OnsetInAShortWindow(others, seed).value >= 0 ? 1 : 0;
  }
  EXPECT_GE(right, 30);
  EXPECT_EQ(told, 0) << "a step that no rank explains";
}

}  // namespace
}  // namespace fathom::diagnosis
