#include "diagnosis/watch/watch.h"

#include <algorithm>
#include <random>
#include <set>

#include "diagnosis/engine/look_ahead.h"
#include "diagnosis/evidence/cost.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/job_builder.h"
#include "tests/diagnosis/live_session.h"

namespace fathom::diagnosis {
namespace {

// A job of `ranks` whose iterations take these times.
JobView JobOf(const std::vector<double>& seconds, std::uint32_t ranks = 2) {
  JobView view;
  view.world_size = ranks;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    IterationSummary it;
    it.index = Iteration(static_cast<std::int64_t>(i));
    it.begin = WallNs(1'000'000'000 + static_cast<std::int64_t>(i));
    for (std::uint32_t r = 0; r < ranks; ++r) {
      RankIteration rank;
      rank.rank = RankId(r);
      rank.duration = Nanos::FromSeconds(seconds[i]);
      it.ranks.push_back(rank);
    }
    view.window.push_back(it);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    RankFacts facts;
    facts.rank = RankId(r);
    facts.typical_iteration = Nanos::FromSeconds(0.1);
    facts.iterations_seen = static_cast<std::int64_t>(seconds.size());
    view.ranks.push_back(facts);
  }
  return view;
}

std::vector<double> Series(std::size_t count, double mean, double sigma, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(mean, sigma);
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(std::max(mean / 2, normal(random)));
  return out;
}

TEST(WatchTest, SaysNothingBeforeItHasABaseline) {
  const Suspicion s = Watch(JobOf({0.1, 0.1, 5, 0.1, 9}), {});
  EXPECT_FALSE(s.slow);
  EXPECT_FALSE(s.settled);
  EXPECT_EQ(s.expected.count, 0);
  EXPECT_TRUE(s.rows.empty());
}

TEST(WatchTest, EmptyJob) {
  const Suspicion s = Watch(JobView(), {});
  EXPECT_FALSE(s.slow || s.stalled || s.settled);
}

TEST(WatchTest, FindsTheOnsetOfADegradation) {
  auto times = Series(50, 0.1, 0.01, 1);
  const auto slow = Series(8, 0.2, 0.01, 2);
  times.insert(times.end(), slow.begin(), slow.end());
  const Suspicion s = Watch(JobOf(times), {});
  EXPECT_TRUE(s.slow);
  EXPECT_EQ(s.onset.value, 50);
  EXPECT_EQ(s.onset_time.ns, 1'000'000'050);
  EXPECT_NEAR(s.expected.Seconds(), 0.1, 0.005);
  EXPECT_NEAR(s.measured.Seconds(), 0.2, 0.01);
  EXPECT_GE(s.change_probability, 0.9);
  EXPECT_EQ(s.irregular.back().kind, "degradation");
  EXPECT_EQ(s.rows.ranks.size(), 2u);
  EXPECT_EQ(s.rows.iterations.size(), 18u);  // 8 slow and 10 before them
  EXPECT_EQ(s.rows.iterations.front().value, 40);
}

// The longer it lasts, the less a spike before it and the regular iterations between weigh.
TEST(WatchTest, ASpikeSomeTimeBeforeADegradationIsNotItsOnset) {
  auto times = Series(80, 0.1, 0.005, 1);
  times[63] = 0.3;
  Episode episode;
  for (int slow = 1; slow <= 120; ++slow) {
    times.push_back(0.25 + 0.001 * (slow % 7));
    JobView view = JobOf(times);
    view.episode = episode;
    const Suspicion live = Watch(view, {});
    episode = live.episode;
    const Suspicion later = Watch(JobOf(times), {});
    ASSERT_EQ(live.slow, slow >= 5);
    ASSERT_EQ(live.onset.value, slow >= 5 ? 80 : -1) << "live, after " << slow;
    ASSERT_EQ(later.onset.value, slow >= 5 ? 80 : -1) << "all at once, after " << slow;
  }
}

// A series as it is seen live, an iteration after the other.
struct Seen {
  std::int64_t told_after = -1;  // the first iteration after which the job counts as slow
  Suspicion last;
};

// `from`: what is told before counts not. `newest`: iterations that the window holds. `every`:
// looks are so many iterations apart.
Seen SeeLive(const std::vector<double>& times, std::size_t from = 0, std::size_t newest = 1 << 20,
             std::size_t every = 1) {
  Seen seen;
  for (std::size_t n = every; n <= times.size(); n += every) {
    JobView view = JobOf({times.begin(), times.begin() + static_cast<std::ptrdiff_t>(n)});
    view.episode = seen.last.episode;
    view.past = seen.last.past;
    view.spikes = seen.last.spikes;
    testing::KeepWindow(newest, view);
    seen.last = Watch(view, {});
    const bool told = seen.last.slow && n > from && seen.told_after < 0;
    if (told) seen.told_after = static_cast<std::int64_t>(n) - 1;
  }
  return seen;
}

std::vector<double> Joined(std::initializer_list<std::vector<double>> parts) {
  std::vector<double> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// What Diagnose() compares with lies before the onset: without it nobody could be named.
void ExpectRowsOnBothSides(const Suspicion& s) {
  const auto& rows = s.rows.iterations;
  const auto before =
      std::count_if(rows.begin(), rows.end(), [&](Iteration i) { return i < s.onset; });
  EXPECT_EQ(before, DiagnosisConfig().baseline_iterations);
  EXPECT_GE(static_cast<std::int32_t>(rows.size()) - before, DiagnosisConfig().min_irregular);
}

// A rank in eight communicators leaves room for 22 iterations: fewer than teach the noise.
TEST(WatchTest, AShortWindowHidesNothing) {
  for (const std::size_t newest : {std::size_t{22}, std::size_t{67}}) {
    for (const double factor : {1.2, 1.4, 2.0}) {
      const auto times = Joined({Series(200, 1, 0.01, 1), Series(100, factor, 0.01, 2)});
      const Seen seen = SeeLive(times, 200, newest);
      EXPECT_EQ(seen.told_after, 204) << factor << " times, " << newest << " iterations";
      EXPECT_EQ(seen.last.onset.value, 200);
      EXPECT_NEAR(seen.last.expected.Seconds(), 1, 0.01);
      ExpectRowsOnBothSides(seen.last);
    }
  }
}

TEST(WatchTest, AFaultThatComesBackIsToldAgain) {
  for (const std::size_t newest : {std::size_t{22}, std::size_t{67}}) {
    for (const std::size_t well : {std::size_t{12}, std::size_t{20}, std::size_t{40}}) {
      const auto times = Joined({Series(100, 1, 0.01, 1), Series(200, 1.4, 0.01, 2),
                                 Series(well, 1, 0.01, 3), Series(40, 1.4, 0.01, 4)});
      const std::size_t again = 300 + well;
      const Seen seen = SeeLive(times, again, newest);
      EXPECT_EQ(seen.told_after, static_cast<std::int64_t>(again) + 4) << well << " between";
      EXPECT_EQ(seen.last.onset.value, static_cast<std::int64_t>(again));
      EXPECT_NEAR(seen.last.expected.Seconds(), 1, 0.01);
    }
  }
}

// Iterations of milliseconds come by the dozen, and an agent that was away sends all it has.
TEST(WatchTest, ManyNewIterationsAtOnceDoNotReplaceTheBaseline) {
  for (std::size_t at = 300; at < 360; at += 7) {
    const auto times = Joined({Series(at, 1, 0.01, 1), Series(200, 1.3, 0.01, 2)});
    const Seen seen = SeeLive(times, at, 42, 60);
    ASSERT_GE(seen.told_after, 0) << "fault at " << at;
    EXPECT_LT(seen.told_after, static_cast<std::int64_t>(at) + 65);
  }
}

// Pinned iterations of a short window are none of the newest ones.
TEST(WatchTest, AnEpisodeEndsInAShortWindowToo) {
  auto times = Joined({Series(200, 1, 0.01, 1), Series(60, 2, 0.01, 2), Series(100, 1, 0.01, 3)});
  for (std::size_t i = 260; i < times.size(); i += 5) times[i] = 1.6;
  for (const std::size_t newest : {std::size_t{22}, std::size_t{67}}) {
    EXPECT_FALSE(SeeLive(times, 0, newest).last.slow) << newest;
  }
}

TEST(WatchTest, MostRanksOutOfReachHideNothingOfTheOthers) {
  JobView view = JobOf(Joined({Series(60, 0.1, 0.005, 1), Series(30, 0.2, 0.005, 2)}), 4);
  for (IterationSummary& it : view.window) {
    if (it.index.value >= 60) it.ranks.resize(1);
  }
  EXPECT_TRUE(Watch(view, {}).slow);
}

// What is lost counts since the onset, of the iterations too that nobody remembers one by one.
TEST(WatchTest, ItCountsWhatItHasSeenSinceTheOnset) {
  const auto times = Joined({Series(60, 1, 0.01, 1), Series(400, 1.5, 0.01, 2)});
  const Seen seen = SeeLive(times, 60, 42);
  EXPECT_EQ(seen.last.onset.value, 60);
  EXPECT_GT(seen.last.seen_since_onset, 40);
  EXPECT_LT(seen.last.seen_since_onset, 140);
  JobView view = JobOf(times);
  view.world_size = 2;
  EXPECT_NEAR(CostOfSlowness(view, seen.last, 1).gpu_hours, 400 * 0.5 * 2 / 3600, 0.002);
}

// With what follows it shortly, a spike is a quarter of the last twenty iterations sooner than
// what follows is a degradation.
TEST(WatchTest, ASpikeShortlyBeforeADegradationIsNotItsOnset) {
  for (std::size_t spike = 20; spike < 48; ++spike) {
    auto times = Series(50, 0.1, 0.005, 1);
    times[spike] = 0.3;
    for (int i = 0; i < 30; ++i) times.push_back(0.25 + 0.001 * (i % 7));
    const Seen seen = SeeLive(times);
    EXPECT_EQ(seen.told_after, 54) << "spike at " << spike;
    EXPECT_EQ(seen.last.onset.value, 50) << "spike at " << spike;
    ExpectRowsOnBothSides(seen.last);
  }
}

// Half of it is slow already; the change is clearest an iteration later.
TEST(WatchTest, TheFirstIterationOfAFaultIsItsOnsetThoughItIsShorter) {
  auto times = Series(50, 0.1, 0.005, 1);
  times.push_back(0.17);
  for (int i = 0; i < 30; ++i) times.push_back(0.3 + 0.001 * (i % 7));
  EXPECT_EQ(SeeLive(times).last.onset.value, 50);
}

TEST(WatchTest, SpikesThatAreAnEpisodeByThemselvesDateWhatFollows) {
  auto times = Series(50, 0.1, 0.005, 1);
  for (std::size_t i = 30; i < 50; i += 3) times[i] = 0.3;
  for (int i = 0; i < 30; ++i) times.push_back(0.3);
  const Seen seen = SeeLive(times);
  EXPECT_TRUE(seen.last.slow);
  EXPECT_EQ(seen.last.onset.value, 30);
  ExpectRowsOnBothSides(seen.last);
}

TEST(WatchTest, WhatComesAndGoesKeepsItsOnsetAndItsBaseline) {
  auto times = Series(50, 0.1, 0.005, 1);
  for (int i = 0; i < 60; ++i) times.push_back(i % 4 < 2 ? 0.3 : 0.1);
  const Seen seen = SeeLive(times);
  EXPECT_LE(seen.told_after, 60);
  EXPECT_EQ(seen.last.onset.value, 50);
  ExpectRowsOnBothSides(seen.last);
}

// The pinned iterations need not be those before the onset: an episode may be dated later than it
// was at first, when they have left the window.
TEST(WatchTest, WhatIsRegularInAnEpisodePushesNoBaselineOut) {
  auto times = Series(100, 0.1, 0.005, 1);
  for (int i = 0; i < 300; ++i) times.push_back(i % 2 == 0 ? 0.3 : 0.1);
  const Suspicion last = SeeLive(times, 0, 22).last;
  EXPECT_EQ(last.onset.value, 100);
  const auto known = std::count_if(last.past.begin(), last.past.end(), [&](const auto& past) {
    return past.regular && past.index < last.onset;
  });
  EXPECT_GE(known, DiagnosisConfig().baseline_iterations);
}

// Longer for good from 40 on, and longer yet from 100 on.
std::vector<double> GrownTwice() {
  return Joined({Series(40, 0.1, 0.01, 1), Series(60, 0.2, 0.01, 2), Series(150, 0.26, 0.01, 3)});
}

TEST(WatchTest, ARiseInAnEpisodeOfNobodysDoingIsComparedWithTheEpisode) {
  for (const std::size_t newest : {std::size_t{22}, std::size_t{96}}) {
    const Suspicion last = SeeLive(GrownTwice(), 0, newest).last;
    EXPECT_EQ(last.onset.value, 40);
    ASSERT_EQ(last.rise.size(), 1u) << newest;
    const Suspicion& rise = last.rise.front();
    EXPECT_EQ(rise.onset.value, 100);
    EXPECT_NEAR(rise.expected.Seconds(), 0.2, 0.005);
    EXPECT_NEAR(rise.measured.Seconds(), 0.26, 0.008);
    ExpectRowsOnBothSides(rise);
    EXPECT_EQ(rise.usual_from.value, 40);
    const std::set<Iteration> asked(last.rows.iterations.begin(), last.rows.iterations.end());
    for (const Iteration iteration : rise.rows.iterations) EXPECT_TRUE(asked.contains(iteration));
    const auto most = static_cast<std::size_t>(3 * DiagnosisConfig().trailing_window());
    EXPECT_LE(last.past.size(), most + newest) << "what is not in the window any more is bounded";
  }
}

TEST(WatchTest, AnEpisodeWithACulpritHasNoRise) {
  Suspicion last;
  const std::vector<double> times = GrownTwice();
  for (std::size_t n = 1; n <= times.size(); ++n) {
    JobView view = JobOf({times.begin(), times.begin() + static_cast<std::ptrdiff_t>(n)});
    view.episode = last.episode;
    view.episode.named = n > 60 && view.episode.onset.value >= 0;
    last = Watch(view, {});
    ASSERT_TRUE(last.rise.empty()) << n;
  }
  EXPECT_EQ(last.onset.value, 40);
}

TEST(WatchTest, ARiseEndsAndTheEpisodeGoesOn) {
  auto times = GrownTwice();
  const auto back = Series(40, 0.2, 0.01, 4);
  times.insert(times.end(), back.begin(), back.end());
  const Suspicion last = SeeLive(times, 0, 96).last;
  EXPECT_TRUE(last.rise.empty());
  EXPECT_EQ(last.onset.value, 40);
}

TEST(WatchTest, WhatGrowsSoonAfterTheOnsetIsNoRise) {
  const auto times =
      Joined({Series(40, 0.1, 0.01, 1), Series(20, 0.2, 0.01, 2), Series(60, 0.26, 0.01, 3)});
  EXPECT_TRUE(SeeLive(times, 0, 96).last.rise.empty());
}

TEST(WatchTest, ADegradationThatGetsWorseBeganWhenItBegan) {
  auto times = Series(60, 0.1, 0.005, 1);
  for (int i = 0; i < 20; ++i) times.push_back(0.2);
  for (int i = 0; i < 40; ++i) times.push_back(0.4);
  EXPECT_EQ(Watch(JobOf(times), {}).onset.value, 60);
}

TEST(WatchTest, NeedsMinIrregularIterations) {
  auto times = Series(50, 0.1, 0.01, 1);
  for (int i = 0; i < 4; ++i) times.push_back(0.2);
  EXPECT_FALSE(Watch(JobOf(times), {}).slow);
  times.push_back(0.2);
  EXPECT_TRUE(Watch(JobOf(times), {}).slow);
}

// The last iterations, in units of the usual one: is it worth looking ahead?
struct Soon {
  const char* what;
  std::vector<double> last;
  bool may_be;
};

TEST(WatchTest, LooksAheadAnIterationBeforeTheLastThatIsNeeded) {
  const std::vector<Soon> cases = {
      {"three slow ones", {2, 2, 2}, false},
      {"four", {2, 2, 2, 2}, true},
      {"enough by themselves", {2, 2, 2, 2, 2}, false},
      {"four with a regular one between", {2, 2, 1, 2, 2}, false},
      {"four that are over", {2, 2, 2, 2, 1}, false},
  };
  for (const Soon& test : cases) {
    std::vector<double> times = Series(50, 0.1, 0.002, 1);
    for (double factor : test.last) times.push_back(0.1 * factor);
    const JobView view = JobOf(times);
    const Suspicion now = Watch(view, {});
    EXPECT_EQ(MayBeSlowSoon(view, now, {}), test.may_be) << test.what;
    if (!test.may_be) continue;
    EXPECT_FALSE(now.slow) << test.what;
    EXPECT_TRUE(Watch(view, LookingAhead({})).slow) << test.what;
  }
}

TEST(WatchTest, ASlowFirstStepIsNoBaseline) {
  auto times = Series(40, 0.1, 0.005, 3);
  times[0] = 8;
  const Suspicion s = Watch(JobOf(times), {});
  EXPECT_FALSE(s.slow);
  EXPECT_NEAR(s.expected.Seconds(), 0.1, 0.01);
  EXPECT_LT(s.noise.Seconds(), 0.02);
}

TEST(WatchTest, ANoisyJobIsNotSlow) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto times = Series(600, 0.04, 0.012, seed);
    for (std::size_t n = 10; n <= times.size(); n += 7) {
      const std::vector<double> so_far(times.begin(), times.begin() + static_cast<long>(n));
      EXPECT_FALSE(Watch(JobOf(so_far), {}).slow) << "seed " << seed << " after " << n;
    }
  }
}

TEST(WatchTest, AnEpisodeHandedBackKeepsItsBaseline) {
  const auto slow = Series(60, 0.2, 0.01, 2);  // the window has forgotten what was before
  JobView view = JobOf(slow);
  EXPECT_FALSE(Watch(view, {}).slow);
  view.episode = {Iteration(-0), WallNs(5), Nanos::FromSeconds(0.1), Nanos::FromSeconds(0.01)};
  view.window.erase(view.window.begin(), view.window.begin() + 20);
  const Suspicion s = Watch(view, {});
  EXPECT_TRUE(s.slow);
  EXPECT_EQ(s.onset.value, 0);
  EXPECT_EQ(s.onset_time.ns, 5);
  EXPECT_NEAR(s.expected.Seconds(), 0.1, 1e-6);
  EXPECT_EQ(s.episode.onset.value, 0);
}

TEST(WatchTest, SettlesWhenRegularAgain) {
  auto times = Series(40, 0.1, 0.005, 1);
  const auto slow = Series(20, 0.2, 0.005, 2);
  const auto well = Series(12, 0.1, 0.005, 3);
  times.insert(times.end(), slow.begin(), slow.end());
  EXPECT_FALSE(Watch(JobOf(times), {}).settled);
  times.insert(times.end(), well.begin(), well.end());
  const Suspicion s = Watch(JobOf(times), {});
  EXPECT_TRUE(s.settled);
  EXPECT_FALSE(s.slow);
}

TEST(WatchTest, StalledWhenSilentForLongerThanItsHistoryExplains) {
  JobView view = JobOf(Series(40, 0.1, 0.005, 1));
  view.ranks[1].silent_for = Nanos::FromSeconds(2.9);
  EXPECT_FALSE(Watch(view, {}).stalled);
  view.ranks[1].silent_for = Nanos::FromSeconds(3.1);
  const Suspicion s = Watch(view, {});
  EXPECT_TRUE(s.stalled);
  EXPECT_EQ(s.rows.iterations.back().value, 40);  // the one it is stuck in
}

TEST(WatchTest, ALongCheckpointOfThePastExplainsSilence) {
  auto times = Series(40, 0.1, 0.005, 1);
  times[20] = 6;
  JobView view = JobOf(times);
  view.ranks[1].silent_for = Nanos::FromSeconds(8);
  EXPECT_FALSE(Watch(view, {}).stalled);
  view.ranks[1].silent_for = Nanos::FromSeconds(13);
  EXPECT_TRUE(Watch(view, {}).stalled);
}

TEST(WatchTest, AProcessThatVanishedIsStalledAtOnceOneThatLeftIsNot) {
  JobView view = JobOf(Series(40, 0.1, 0.005, 1));
  view.ranks[0].state = ProcessState::kGone;
  EXPECT_TRUE(Watch(view, {}).stalled);
  view.ranks[0].exited_orderly = true;
  EXPECT_FALSE(Watch(view, {}).stalled);
}

TEST(WatchTest, SilenceOfARankOutOfReachIsOldUnlessAllAre) {
  JobView view = JobOf(Series(40, 0.1, 0.005, 1));
  view.ranks[0].silent_for = Nanos::FromSeconds(9);
  view.ranks[0].agent_reachable = false;
  EXPECT_FALSE(Watch(view, {}).stalled) << "the job may have moved on since";
  view.ranks[1].silent_for = Nanos::FromSeconds(9);
  EXPECT_TRUE(Watch(view, {}).stalled);
  view.ranks[1].silent_for = {};
  view.ranks[1].agent_reachable = false;
  EXPECT_TRUE(Watch(view, {}).stalled) << "the last word stands";
  view.ranks[1].agent_reachable = true;
  view.ranks[0].silent_for = {};
  view.ranks[0].state = ProcessState::kGone;
  EXPECT_TRUE(Watch(view, {}).stalled) << "dead is dead";
}

TEST(WatchTest, AJobWithoutAPeriodIsMeasuredByItsLongestPause) {
  JobView view = JobOf({0.1, 0.1});
  view.ranks[0].recent_pause = Nanos::FromSeconds(0.8);
  view.ranks[0].silent_for = Nanos::FromSeconds(3.9);
  EXPECT_FALSE(Watch(view, {}).stalled);
  view.ranks[0].silent_for = Nanos::FromSeconds(4.1);
  EXPECT_TRUE(Watch(view, {}).stalled);
  view.ranks[0].longest_pause = Nanos::FromSeconds(5);  // a checkpoint of some while ago
  EXPECT_FALSE(Watch(view, {}).stalled);
}

TEST(WatchTest, StartUpHasALongFloor) {
  JobView view = JobOf({0.1, 0.1});
  view.ranks[0].silent_for = Nanos::FromSeconds(25);
  EXPECT_FALSE(Watch(view, {}).stalled);
  view.ranks[0].silent_for = Nanos::FromSeconds(31);
  EXPECT_TRUE(Watch(view, {}).stalled);
}

TEST(WatchTest, IterationsThatFewRanksReportedDoNotCount) {
  JobView view = JobOf(Series(40, 0.1, 0.005, 1), 4);
  for (int i = 0; i < 6; ++i) {
    IterationSummary partly = view.window.back();
    partly.index = Iteration(40 + i);
    partly.ranks.resize(1);
    partly.ranks[0].duration = Nanos::FromSeconds(3);
    view.window.push_back(partly);
  }
  EXPECT_FALSE(Watch(view, {}).slow);
}

}  // namespace
}  // namespace fathom::diagnosis
