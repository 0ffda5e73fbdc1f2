// Single long iterations of a job that runs well otherwise: whose are they? Seen as a collector
// sees them, in a window that holds one or two at a time.
#include "diagnosis/watch/spikes.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "diagnosis/engine/diagnose.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/live_session.h"

namespace fathom::diagnosis {
namespace {

constexpr double kUsual = 0.010, kStall = 0.300;

struct SpikyJob {
  std::uint32_t ranks = 3;
  std::int64_t iterations = 1000;
  std::map<std::int64_t, int> stalls;  // by iteration: the rank; −1: all wait alike
  Nanos RankIteration::*marked = nullptr;
  bool waits_for_cores = false;
  bool behind_the_last_op = false;
  std::set<std::int64_t> small = {};  // all wait alike, 15 ms
};

std::int64_t Between(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

// The rank stalls once in 50 to 80 iterations, as what comes by the clock does.
std::map<std::int64_t, int> ByTheClock(int rank, std::size_t most = 100) {
  std::mt19937_64 random(7);
  std::map<std::int64_t, int> stalls;
  for (std::int64_t at = 120; at < 1000 && stalls.size() < most; at += Between(random, 50, 80)) {
    stalls[at] = rank;
  }
  return stalls;
}

IterationSummary IterationOf(const SpikyJob& play, std::int64_t index, std::mt19937_64& random) {
  std::normal_distribution<double> jitter(0, 0.0004);
  const auto stall = play.stalls.find(index);
  const bool stalls = stall != play.stalls.end();
  const auto next = play.behind_the_last_op ? play.stalls.find(index + 1) : play.stalls.end();
  const double longer = stalls ? kStall : play.small.contains(index) ? 0.015 : 0;
  IterationSummary it;
  it.index = Iteration(index);
  it.begin = WallNs(1'000'000'000'000 + index * 10'000'000);
  for (std::uint32_t r = 0; r < play.ranks; ++r) {
    const bool mine = stalls && stall->second == static_cast<int>(r);
    RankIteration rank;
    rank.rank = RankId(r);
    const double own = kUsual / 2 + jitter(random);
    rank.duration = Nanos::FromSeconds(kUsual + jitter(random) + longer);
    rank.blocked = Nanos::FromSeconds(kUsual - own + (mine ? 0 : longer));
    rank.cpu = Nanos::FromSeconds(0.8 * own);
    if (mine && play.marked != nullptr) rank.*play.marked = Nanos::FromSeconds(longer);
    if (mine && play.waits_for_cores) rank.runqueue = Nanos::FromSeconds(longer);
    const Nanos stall_time = Nanos::FromSeconds(kStall);
    if (mine && play.behind_the_last_op) rank.duration = rank.duration - stall_time;
    const bool late = next != play.stalls.end() && next->second == static_cast<int>(r);
    if (late) rank.duration = rank.duration + stall_time;
    it.ranks.push_back(rank);
  }
  return it;
}

JobView ViewOf(const SpikyJob& play) {
  std::mt19937_64 random(3);
  JobView view;
  view.world_size = play.ranks;
  for (std::int64_t i = 0; i < play.iterations; ++i) {
    view.window.push_back(IterationOf(play, i, random));
  }
  for (std::uint32_t r = 0; r < play.ranks; ++r) {
    RankFacts facts;
    facts.rank = RankId(r);
    facts.node = "node" + std::to_string(r);
    facts.typical_iteration = Nanos::FromSeconds(kUsual);
    facts.iterations_seen = play.iterations;
    view.ranks.push_back(facts);
  }
  return view;
}

testing::LiveOutcome SeenLive(const SpikyJob& play) {
  return testing::RunLive(ViewOf(play), {}, 20, 89);
}

std::vector<std::string> ConvictedIn(const testing::LiveOutcome& outcome) {
  std::vector<std::string> names;
  for (const Verdict& verdict : outcome.ever) {
    if (Convicts(verdict)) names.push_back(testing::NameOf(verdict));
  }
  return names;
}

TEST(SpikesTest, ARankThatStopsNowAndThenIsNamedThoughOneIsInTheWindowAtATime) {
  const testing::LiveOutcome outcome = SeenLive({.stalls = ByTheClock(2)});
  EXPECT_EQ(ConvictedIn(outcome), std::vector<std::string>{"host_slow 2"});
  ASSERT_EQ(outcome.diagnosis.verdicts.size(), 1u);
  const Verdict& verdict = outcome.diagnosis.verdicts.front();
  EXPECT_EQ(verdict.grade, Grade::kEstablished);
  EXPECT_EQ(verdict.since_iteration.value, 120);
  EXPECT_NEAR(verdict.cost.slowdown, 1.4, 0.1);
  EXPECT_NE(verdict.sentence.find("300 ms more host time"), std::string::npos) << verdict.sentence;
  EXPECT_LT(outcome.first_verdict, 120 + 8 * 80 + 20);
}

TEST(SpikesTest, WhatTheyWentIntoIsTheCause) {
  EXPECT_EQ(ConvictedIn(SeenLive({.stalls = ByTheClock(1), .marked = &RankIteration::gc})),
            std::vector<std::string>{"gc 1"});
  EXPECT_EQ(ConvictedIn(SeenLive({.stalls = ByTheClock(1), .marked = &RankIteration::dataloader})),
            std::vector<std::string>{"dataloader 1"});
  EXPECT_EQ(ConvictedIn(SeenLive({.stalls = ByTheClock(1), .marked = &RankIteration::cpu})),
            std::vector<std::string>{"compute_slow 1"});
}

TEST(SpikesTest, AFewOfThreeRanksAreChance) {
  EXPECT_TRUE(ConvictedIn(SeenLive({.stalls = ByTheClock(2, 7)})).empty());
}

TEST(SpikesTest, OfManyRanksFewAreEnough) {
  EXPECT_EQ(ConvictedIn(SeenLive({.ranks = 16, .stalls = ByTheClock(5, 6)})),
            std::vector<std::string>{"host_slow 5"});
}

TEST(SpikesTest, BehindTheLastOpTheNextIterationIsTheLongOne) {
  EXPECT_EQ(ConvictedIn(SeenLive({.stalls = ByTheClock(2), .behind_the_last_op = true})),
            std::vector<std::string>{"host_slow 2"});
}

TEST(SpikesTest, SmallOnesOfAnybodyAreNotOfTheirKind) {
  SpikyJob play;
  play.stalls = ByTheClock(2);
  for (std::int64_t at = 105; at < 1000; at += 10) play.small.insert(at);
  EXPECT_EQ(ConvictedIn(SeenLive(play)), std::vector<std::string>{"host_slow 2"});
}

TEST(SpikesTest, AllHaveThemByTurns) {
  std::map<std::int64_t, int> stalls = ByTheClock(0);
  int rank = 0;
  for (auto& [at, who] : stalls) who = rank++ % 3;
  EXPECT_TRUE(ConvictedIn(SeenLive({.stalls = stalls})).empty());
}

TEST(SpikesTest, AllWaitAlike) {
  EXPECT_TRUE(ConvictedIn(SeenLive({.stalls = ByTheClock(-1)})).empty());
}

TEST(SpikesTest, WhoHasNoCoreIsNotToBlame) {
  EXPECT_TRUE(ConvictedIn(SeenLive({.stalls = ByTheClock(2), .waits_for_cores = true})).empty());
}

TEST(SpikesTest, ACheckpointInEveryHundredthIterationIsTheProgramsOwn) {
  std::map<std::int64_t, int> stalls;
  for (std::int64_t at = 100; at < 2000; at += 100) stalls[at] = 0;
  stalls.erase(700);  // one that was left out
  EXPECT_TRUE(ConvictedIn(SeenLive({.iterations = 2000, .stalls = stalls})).empty());
}

TEST(SpikesTest, AHealthyJobHasNone) {
  const testing::LiveOutcome outcome = SeenLive(SpikyJob());
  EXPECT_TRUE(outcome.ever.empty());
  EXPECT_TRUE(outcome.suspicion.spikes.spikes.empty());
}

TEST(SpikesTest, OnceItIsOverNothingIsToldAnyMore) {
  const testing::LiveOutcome outcome = SeenLive({.iterations = 1400, .stalls = ByTheClock(2)});
  EXPECT_EQ(ConvictedIn(outcome), std::vector<std::string>{"host_slow 2"});
  EXPECT_TRUE(outcome.diagnosis.verdicts.empty());
  EXPECT_FALSE(outcome.suspicion.differs);
}

TEST(SpikesTest, NoMoreAreKeptThanFit) {
  SpikyJob play;
  play.iterations = 4000;
  std::mt19937_64 random(1);
  for (std::int64_t at = 100; at < 4000; at += Between(random, 30, 50)) play.stalls[at] = 1;
  EXPECT_EQ(SeenLive(play).suspicion.spikes.spikes.size(), kMostSpikes);
}

TEST(SpikesTest, ACountThatBeginsAnewForgetsThem) {
  JobView view = ViewOf(SpikyJob());
  view.spikes.judged = Iteration(1 << 20);
  view.spikes.spikes.resize(20);
  EXPECT_TRUE(Watch(view, {}).spikes.spikes.empty());
}

}  // namespace
}  // namespace fathom::diagnosis
