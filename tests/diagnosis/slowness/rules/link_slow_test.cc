// Which path of a ring: four ranks, rank i sends to i − 1, with times per byte as a transport
// counts them.
#include "diagnosis/slowness/rules/link_slow.h"

#include "diagnosis/hardware/tell/path_flows.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

constexpr std::uint64_t kMegabytes = 1'000'000;
const std::vector<RankId> kMembers = {RankId(0), RankId(1), RankId(2), RankId(3)};

struct Path {
  std::uint32_t src, dst;
  int before_ms, since_ms;  // busy, for 100 MB each
};

JobView Job(const std::vector<Path>& paths) {
  JobView view;
  for (RankId rank : kMembers) {
    view.ranks.emplace_back();
    view.ranks.back().rank = rank;
  }
  for (const Path& path : paths) {
    view.ranks[path.src].flows.push_back({RankId(path.dst), 100 * kMegabytes, 100 * kMegabytes,
                                          Nanos(path.before_ms * 1'000'000LL),
                                          Nanos(path.since_ms * 1'000'000LL)});
  }
  return view;
}

std::optional<SlowNetwork> Find(const std::vector<Path>& paths) {
  return FindSlowNetwork(Job(paths), kMembers, DiagnosisConfig{});
}

TEST(LinkSlow, DeviceOfTheRankThatAllSlowPathsShare) {
  const auto found =
      Find({{0, 3, 400, 800}, {1, 0, 400, 2400}, {2, 1, 400, 2000}, {3, 2, 400, 900}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->end, RankId(1));
}

TEST(LinkSlow, PathThatStandsOutAlone) {
  const auto found =
      Find({{0, 3, 400, 800}, {1, 0, 400, 2400}, {2, 1, 400, 900}, {3, 2, 400, 900}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->end, kNoRank);
  EXPECT_EQ(found->paths.front().src, RankId(1));
  EXPECT_EQ(found->paths.front().dst, RankId(0));
}

TEST(LinkSlow, NearMissNothingTwiceAsSlow) {
  EXPECT_FALSE(Find({{0, 3, 400, 410}, {1, 0, 400, 780}, {2, 1, 400, 700}, {3, 2, 400, 420}}));
}

TEST(LinkSlow, HealthyIsSilent) {
  EXPECT_FALSE(Find({{0, 3, 400, 400}, {1, 0, 400, 390}, {2, 1, 400, 420}, {3, 2, 400, 400}}));
}

TEST(LinkSlow, ConfuserAllPathsSlow) {
  EXPECT_FALSE(Find({{0, 3, 400, 2300}, {1, 0, 400, 2400}, {2, 1, 400, 2200}, {3, 2, 400, 1500}}));
}

TEST(LinkSlow, ConfuserSlowBefore) {
  EXPECT_FALSE(Find({{0, 3, 400, 420}, {1, 0, 2400, 2400}, {2, 1, 2000, 2000}, {3, 2, 400, 420}}));
}

TEST(LinkSlow, MissingPaths) {
  EXPECT_FALSE(Find({}));
  EXPECT_FALSE(Find({{1, 0, 400, 2400}, {2, 1, 400, 2000}}));
}

JobView YoungJob(const std::vector<Path>& paths) {
  JobView view = Job(paths);
  for (RankFacts& facts : view.ranks) {
    facts.node = "n" + std::to_string(facts.rank.value);
    for (PathFlow& flow : facts.flows) flow.bytes_before = 0;
  }
  return view;
}

TEST(LinkSlow, WithoutAPastPathsAreComparedWithTheFastest) {
  JobView view = YoungJob({{0, 3, 0, 420}, {1, 0, 0, 2400}, {2, 1, 0, 2000}, {3, 2, 0, 400}});
  const auto found = FindSlowNetwork(view, kMembers, DiagnosisConfig{});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->young);
  EXPECT_EQ(found->end, RankId(1));
  Verdict verdict;
  NameSlowNetwork(view, *found, verdict);
  EXPECT_THAT(verdict.sentence,
              ::testing::HasSubstr("24 ms a megabyte instead of 4.0 ms as on the fastest"));
}

TEST(LinkSlow, WithoutAPastPathsWithinAndBetweenNodesAreNotCompared) {
  JobView view = YoungJob({{0, 3, 0, 420}, {1, 0, 0, 2400}, {2, 1, 0, 2000}, {3, 2, 0, 400}});
  view.ranks[3].node = view.ranks[0].node;
  EXPECT_FALSE(FindSlowNetwork(view, kMembers, DiagnosisConfig{}));
}

TEST(LinkSlow, WithoutAPastAllAlikeNamesNobody) {
  const JobView view = YoungJob({{0, 3, 0, 420}, {1, 0, 0, 440}, {2, 1, 0, 410}, {3, 2, 0, 400}});
  EXPECT_FALSE(FindSlowNetwork(view, kMembers, DiagnosisConfig{}));
}

// Of a job that began so many seconds ago, and was slow from its fifth second on.
JobView JobWithoutPaths(int seconds, bool awaited) {
  JobView view = Job({});
  for (int second = 0; second <= seconds; ++second) {
    IterationSummary& it = view.window.emplace_back();
    it.index = Iteration(second);
    it.begin = WallNs(second * 1'000'000'000LL);
  }
  view.iterations_seen = seconds + 1;
  if (awaited) view.signals.push_back({kPathsAwaited, SignalState::Level::kPartly, ""});
  return view;
}

bool MayTellSoon(const JobView& view) {
  Suspicion suspicion;
  suspicion.onset_time = WallNs(5'000'000'000);
  return NetworkMayTellSoon(view, kMembers, suspicion, DiagnosisConfig{});
}

TEST(LinkSlow, OfAJobThatHasJustBegunPathsAreWaitedFor) {
  EXPECT_TRUE(MayTellSoon(JobWithoutPaths(8, true)));
  EXPECT_FALSE(MayTellSoon(JobWithoutPaths(8, false))) << "nobody looks for them";
  EXPECT_FALSE(MayTellSoon(JobWithoutPaths(13, true))) << "they would have been found";
  JobView old = JobWithoutPaths(8, true);
  old.iterations_seen = 1000;
  EXPECT_FALSE(MayTellSoon(old));
}

TEST(LinkSlow, WhereThePathsNameNobodyYetMoreIsWaitedFor) {
  JobView view = Job({{0, 3, 400, 800}, {1, 0, 400, 900}, {2, 1, 400, 800}, {3, 2, 400, 900}});
  view.window = JobWithoutPaths(8, false).window;
  view.iterations_seen = 1000;
  const auto after = [&](std::uint64_t megabytes) {
    for (RankFacts& facts : view.ranks) facts.flows[0].bytes_since = megabytes * kMegabytes;
    return MayTellSoon(view);
  };
  EXPECT_TRUE(after(2));
  EXPECT_FALSE(after(5));
}

TEST(LinkSlow, SmallFlowsMeasureNothing) {
  JobView view = Job({{0, 3, 400, 800}, {1, 0, 400, 2400}, {2, 1, 400, 2000}, {3, 2, 400, 900}});
  for (RankFacts& facts : view.ranks) facts.flows[0].bytes_since = kMegabytes / 2;
  EXPECT_FALSE(FindSlowNetwork(view, kMembers, DiagnosisConfig{}));
}

TEST(LinkSlow, NamesTheDeviceWithItsNumbers) {
  const JobView view =
      Job({{0, 3, 400, 800}, {1, 0, 400, 2400}, {2, 1, 400, 2000}, {3, 2, 400, 900}});
  Verdict verdict;
  verdict.cause = Cause::kCommunicationSlow;
  NameSlowNetwork(view, *FindSlowNetwork(view, kMembers, DiagnosisConfig{}), verdict);
  EXPECT_EQ(verdict.cause, Cause::kLinkSlow);
  EXPECT_EQ(verdict.entity.type, EntityType::kNic);
  EXPECT_THAT(verdict.entity.ranks, ::testing::ElementsAre(RankId(1)));
  EXPECT_EQ(verdict.evidence.size(), 2U);
  EXPECT_EQ(verdict.counter_evidence.size(), 2U);
  EXPECT_THAT(verdict.sentence, ::testing::HasSubstr("24 ms a megabyte instead of 4.0 ms"));
}

}  // namespace
}  // namespace fathom::diagnosis
