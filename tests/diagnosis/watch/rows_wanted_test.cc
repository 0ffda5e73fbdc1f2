#include "diagnosis/watch/rows_wanted.h"

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "diagnosis/watch/watch.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

constexpr std::uint32_t kRanks = 512;
constexpr std::uint32_t kTensor = 8;    // neighbours
constexpr std::uint32_t kPipeline = 4;  // a quarter of the job apart
constexpr int kRegular = 40;
constexpr int kSlow = 6;

// Own time that a rank takes more since the onset, and that all wait for; seconds.
using More = std::function<double(std::uint32_t rank)>;

void AddGroups(JobView& view) {
  std::uint64_t id = 1;
  const auto add = [&](std::uint32_t first, std::uint32_t count, std::uint32_t stride) {
    Group group;
    group.id = GroupId(id++);
    group.size = count;
    for (std::uint32_t i = 0; i < count; ++i) group.members.emplace_back(first + i * stride);
    view.groups.push_back(group);
  };
  for (std::uint32_t r = 0; r < kRanks; r += kTensor) add(r, kTensor, 1);
  for (std::uint32_t r = 0; r < kRanks / kPipeline; ++r) add(r, kPipeline, kRanks / kPipeline);
  add(0, kRanks, 1);
}

// 60 ms of own time a rank, an iteration of 0.1 s; `slower`: what an iteration takes more.
void AddIteration(double slower, const More& more, std::mt19937_64& random, JobView& view) {
  std::normal_distribution<double> noise(0, 0.001);
  IterationSummary it;
  it.index = Iteration(static_cast<std::int64_t>(view.window.size()));
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    RankIteration rank;
    rank.rank = RankId(r);
    rank.duration = Nanos::FromSeconds(0.1 + slower);
    const double own = 0.06 + noise(random) + (slower > 0 ? more(r) : 0);
    rank.blocked = rank.duration - Nanos::FromSeconds(own);
    it.ranks.push_back(rank);
  }
  view.window.push_back(it);
}

JobView JobOf(double slower, const More& more) {
  JobView view;
  view.world_size = kRanks;
  AddGroups(view);
  std::mt19937_64 random(7);
  for (int i = 0; i < kRegular + kSlow; ++i) {
    AddIteration(i < kRegular ? 0 : slower, more, random, view);
  }
  return view;
}

std::set<std::uint32_t> Asked(const JobView& view) {
  std::set<std::uint32_t> ranks;
  for (RankId rank : Watch(view, {}).rows.ranks) ranks.insert(rank.value);
  return ranks;
}

More Of(std::set<std::uint32_t> ranks, double seconds) {
  return [=](std::uint32_t rank) { return ranks.contains(rank) ? seconds : 0; };
}

bool HoldsAll(const std::set<std::uint32_t>& asked, std::initializer_list<std::uint32_t> ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [&](auto rank) { return asked.contains(rank); });
}

TEST(RowsWantedTest, OneSuspectItsCompanyAndAFewOthers) {
  const auto asked = Asked(JobOf(0.05, Of({9}, 0.05)));
  EXPECT_EQ(asked.size(), 16u);
  EXPECT_TRUE(HoldsAll(asked, {8, 9, 10, 11, 12, 13, 14, 15})) << "its tensor group";
  EXPECT_TRUE(HoldsAll(asked, {137, 265, 393})) << "its pipeline";
}

TEST(RowsWantedTest, SoManyForEachSuspect) {
  const auto asked = Asked(JobOf(0.05, Of({9, 300}, 0.05)));
  EXPECT_EQ(asked.size(), 32u);
  EXPECT_TRUE(HoldsAll(asked, {9, 137, 265, 393, 296, 300, 303, 44, 172, 428}));
}

TEST(RowsWantedTest, TheSameRanksAgain) {
  const More more = Of({9}, 0.05);
  JobView view = JobOf(0.05, more);
  std::mt19937_64 random(8);
  const auto first = Asked(view);
  for (int i = 0; i < 5; ++i) {
    view.episode = Watch(view, {}).episode;
    AddIteration(0.05, more, random, view);
    EXPECT_EQ(Asked(view), first);
  }
}

TEST(RowsWantedTest, ANewSuspectIsAskedForAtOnce) {
  JobView view = JobOf(0.05, Of({9}, 0.05));
  view.episode = Watch(view, {}).episode;
  std::mt19937_64 random(8);
  for (int i = 0; i < 12; ++i) AddIteration(0.05, Of({300}, 0.05), random, view);
  const auto asked = Asked(view);
  EXPECT_EQ(asked.size(), 16u);
  EXPECT_TRUE(HoldsAll(asked, {296, 300, 303, 44, 172, 428}));
}

TEST(RowsWantedTest, MoreRanksWhereFewDidNotTell) {
  JobView view = JobOf(0.05, Of({9}, 0.05));
  view.episode = Watch(view, {}).episode;
  EXPECT_FALSE(view.episode.wide);
  view.episode.wide = true;
  EXPECT_EQ(Asked(view).size(), 64u);
  EXPECT_TRUE(Watch(view, {}).episode.wide) << "as long as the episode lasts";
}

// A slow link: all wait, and nobody takes longer by itself.
TEST(RowsWantedTest, MoreRanksWhereNobodyIsSuspect) {
  EXPECT_EQ(Asked(JobOf(0.05, Of({}, 0))).size(), 64u);
  EXPECT_EQ(Asked(JobOf(0.05, Of({9}, 0.01))).size(), 64u) << "too little to be why";
}

TEST(RowsWantedTest, MoreRanksWhereManyAre) {
  const More all = [](std::uint32_t) { return 0.05; };
  EXPECT_EQ(Asked(JobOf(0.05, all)).size(), 64u);
  EXPECT_EQ(Asked(JobOf(0.05, Of({8, 9, 10, 11}, 0.05))).size(), 64u);
}

TEST(RowsWantedTest, OfIterationsWithManyOpsFewerRanksAreAskedFor) {
  JobView view = JobOf(0.1, Of({100, 200, 300, 400, 500}, 0.1));
  EXPECT_EQ(Asked(view).size(), 64u);
  for (IterationSummary& it : view.window) {
    for (RankIteration& rank : it.ranks) rank.ops = 600;
  }
  const auto asked = Asked(view);
  EXPECT_EQ(asked.size(), 400'000u / (600 * 20));
  EXPECT_TRUE(HoldsAll(asked, {100, 200, 300, 400, 500}));
}

}  // namespace
}  // namespace fathom::diagnosis
