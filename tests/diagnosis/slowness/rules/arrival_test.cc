// For whom the others wait: three ranks that meet in an op after work of their own, and once more
// at the end of the iteration.
#include "diagnosis/slowness/rules/arrival.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace fathom::diagnosis {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kBaseline = 8, kIrregular = 4;
constexpr GroupId kMeet{7}, kEnd{8};
constexpr std::array<double, 3> kOnTime = {10, 10, 10};

// When each rank comes to the first and to the last op, in ms from the begin of the iteration, in
// the irregular iterations; in the others all are on time.
struct Meeting {
  std::array<double, 3> comes = kOnTime;
  std::array<double, 3> ends = {100, 100, 100};
  CollectiveKind kind = CollectiveKind::kAllReduce;
  RankId peer = kNoRank;
  bool blocked = true;  // its callers wait for the first op
  std::vector<bool> rows = {true, true, true};
  std::array<double, 3> clock_s = {0, 0, 0};
};

Nanos FromMs(double ms) { return Nanos::FromSeconds(ms * 1e-3); }

CommOp OpAt(GroupId group, CollectiveKind kind, int iteration, MonoNs enter, MonoNs end) {
  CommOp op;
  op.group = group;
  op.kind = kind;
  op.sequence = Sequence(static_cast<std::uint64_t>(iteration));
  op.iteration = Iteration(iteration);
  op.enter = enter;
  op.end = end;
  return op;
}

void AddIteration(const Meeting& job, const Meeting& times, int iteration, JobView& view) {
  double last = 0, end = 0;
  for (std::size_t r = 0; r < 3; ++r) {
    last = std::max(last, times.comes[r]);
    end = std::max(end, times.ends[r]);
  }
  IterationSummary& summary = view.window.emplace_back();
  summary.index = Iteration(iteration);
  for (std::uint32_t r = 0; r < 3; ++r) {
    if (!job.rows[r]) continue;
    const MonoNs begin{1'000'000'000LL * (iteration + 1) +
                       Nanos::FromSeconds(job.clock_s[r]).count};
    RankIteration& row = summary.ranks.emplace_back();
    row.rank = RankId(r);
    row.begin = begin;
    CommOp meet =
        OpAt(kMeet, job.kind, iteration, begin + FromMs(times.comes[r]), begin + FromMs(last + 2));
    meet.peer = job.peer;
    if (job.blocked) {
      meet.wait_start = meet.enter;
      meet.wait_end = meet.end;
    }
    CommOp over = OpAt(kEnd, CollectiveKind::kBarrier, iteration, begin + FromMs(times.ends[r]),
                       begin + FromMs(end + 1));
    over.wait_start = over.enter;
    over.wait_end = over.end;
    view.rows[RankId(r)].ops.push_back(meet);
    view.rows[RankId(r)].ops.push_back(over);
  }
}

std::vector<CausedWait> CausedIn(const Meeting& job, bool irregular = true) {
  JobView view;
  for (const GroupId group : {kMeet, kEnd}) {
    view.groups.push_back({group, "", "", 3, {RankId(0), RankId(1), RankId(2)}, false});
  }
  std::set<Iteration> slow;
  for (int i = 0; i < kBaseline + kIrregular; ++i) {
    if (i >= kBaseline) slow.insert(Iteration(i));
    AddIteration(job, i >= kBaseline ? job : Meeting{}, i, view);
  }
  const DiagnosisConfig config;
  Suspicion suspicion;
  suspicion.slow = true;
  const ExecutionGraph graph(view, slow, Iteration(kBaseline), config);
  Findings findings;
  ArrivalRule().examine({view, suspicion, graph, config}, findings);
  std::erase_if(findings.caused_waits,
                [&](const CausedWait& wait) { return wait.irregular != irregular; });
  return findings.caused_waits;
}

// That in each iteration of that kind they waited for that rank, for so long, and for nobody else.
void ExpectWaits(const Meeting& job, RankId rank, GroupId group, double ms, bool irregular = true) {
  const std::vector<CausedWait> waits = CausedIn(job, irregular);
  ASSERT_THAT(waits, SizeIs(irregular ? kIrregular : kBaseline));
  for (const CausedWait& wait : waits) {
    EXPECT_EQ(wait.rank, rank);
    EXPECT_EQ(wait.group, group);
    EXPECT_NEAR(wait.seconds, ms * 1e-3, 1e-9);
  }
}

TEST(ArrivalRule, PositiveTheLongestWaitForWhoCameLastCountsOnce) {
  ExpectWaits({.comes = {10, 20, 60}}, RankId(2), kMeet, 52);
}

TEST(ArrivalRule, PositiveAtTheOpThatEndsTheIteration) {
  ExpectWaits({.ends = {100, 140, 100}}, RankId(1), kEnd, 40);
}

TEST(ArrivalRule, ClocksOfRanksAreNotCompared) {
  ExpectWaits({.comes = {10, 20, 60}, .clock_s = {0, -0.5, 4000}}, RankId(2), kMeet, 52);
}

TEST(ArrivalRule, OfABroadcastTheRootIsWaitedForAlsoWhereItIsOnTime) {
  const Meeting job{.comes = {10, 20, 60}, .kind = CollectiveKind::kBroadcast, .peer = RankId(2)};
  ExpectWaits(job, RankId(2), kMeet, 52);
  ExpectWaits(job, RankId(2), kMeet, 2, false);
}

TEST(ArrivalRule, NobodyIsWaitedForBeforeTheFaultBegins) {
  EXPECT_THAT(CausedIn({.comes = {10, 20, 60}}, false), IsEmpty());
}

TEST(ArrivalRule, NearMissALeadBelowTheFloorIsNoise) {
  EXPECT_THAT(CausedIn({.comes = {10, 10, 10.4}}), IsEmpty());
  EXPECT_THAT(CausedIn({.comes = {10, 10, 10.6}}), SizeIs(kIrregular));
}

TEST(ArrivalRule, MissingRowOfTheLateOneLeavesTheLastOfThoseThatAreHere) {
  ExpectWaits({.comes = {10, 20, 60}, .rows = {true, true, false}}, RankId(1), kMeet, 52);
  EXPECT_THAT(CausedIn({.comes = {10, 10, 60}, .rows = {true, true, false}}), IsEmpty())
      << "of two that came together nobody is last";
  EXPECT_THAT(CausedIn({.comes = {10, 20, 60}, .rows = {true, false, false}}), IsEmpty());
}

TEST(ArrivalRule, ConfuserWhoIsLateWhileNobodyIsBlockedMadeNobodyWait) {
  EXPECT_THAT(CausedIn({.comes = {10, 20, 60}, .blocked = false}), IsEmpty());
}

TEST(ArrivalRule, HealthyIsSilent) {
  EXPECT_THAT(CausedIn({}), IsEmpty());
  EXPECT_THAT(CausedIn({}, false), IsEmpty());
}

TEST(ArrivalRule, OnlyASlowJobIsAskedAbout) {
  Suspicion suspicion;
  EXPECT_FALSE(ArrivalRule().applies(suspicion));
  suspicion.slow = true;
  EXPECT_TRUE(ArrivalRule().applies(suspicion));
}

}  // namespace
}  // namespace fathom::diagnosis
