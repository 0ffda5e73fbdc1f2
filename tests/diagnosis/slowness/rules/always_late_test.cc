// A recording in which one rank is late from the first iteration on.
#include "diagnosis/slowness/rules/always_late.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/engine/diagnose.h"

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Recorded {
  int iterations = 6;
  int late_in = 6;  // of them, the last ones
  double late_ms = 60;
  double cpu_share = 0.9;  // of the late rank's own time
  double start_ms = 0;     // that starting the profiler takes of the first iteration, on all ranks
  double all_wait_ms = 0;  // for something else
  bool messages = false;
  bool waits_next = false;  // the others wait twice as long in every other iteration, else not
  DiagnosisConfig config = [] {
    DiagnosisConfig of_recordings;
    of_recordings.always_late_iterations = 3;
    return of_recordings;
  }();
};

// Four ranks with 20 ms of their own; rank 2 takes longer, and the others wait for it.
JobView ViewOf(const Recorded& job) {
  JobView view;
  view.world_size = 4;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    RankFacts facts;
    facts.rank = RankId(rank);
    view.ranks.push_back(facts);
    CommOp op;
    op.kind = job.messages ? CollectiveKind::kSend : CollectiveKind::kAllReduce;
    view.rows[RankId(rank)].ops.push_back(op);
  }
  for (int i = 0; i < job.iterations; ++i) {
    IterationSummary summary;
    summary.index = Iteration(i);
    const double late = i >= job.iterations - job.late_in ? job.late_ms : 0;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      RankIteration row;
      row.rank = RankId(rank);
      const double start = i == 0 ? job.start_ms : 0;
      const double wait = !job.waits_next || rank == 2 ? late : i % 2 == 1 ? 2 * late : 0;
      row.duration = Nanos::FromSeconds((25 + wait + start + job.all_wait_ms) * 1e-3);
      const double own = (rank == 2 ? 20 + late : 20) + start;
      row.blocked = row.duration - Nanos::FromSeconds(own * 1e-3);
      row.cpu = Nanos::FromSeconds((20 + (rank == 2 ? late * job.cpu_share : 0)) * 1e-3);
      summary.ranks.push_back(row);
    }
    view.window.push_back(summary);
  }
  return view;
}

Diagnosis JudgedOf(const Recorded& job) { return Diagnose(ViewOf(job), Suspicion{}, job.config); }

TEST(AlwaysLate, StartOfTheProfilerHidesNoLead) {
  const Diagnosis found = JudgedOf({.late_in = 5, .start_ms = 300});
  ASSERT_THAT(found.verdicts, SizeIs(1));
  EXPECT_THAT(found.verdicts[0].entity.ranks, ElementsAre(RankId(2)));
  EXPECT_THAT(found.verdicts[0].sentence,
              HasSubstr("late all through the recorded iterations, from the second of 6 on"));
  EXPECT_THAT(JudgedOf({.late_in = 4}).verdicts, IsEmpty()) << "on time in ordinary iterations";
}

TEST(AlwaysLate, IsALeadOnTheRankAndItsCause) {
  const Diagnosis found = JudgedOf({});
  ASSERT_THAT(found.verdicts, SizeIs(1));
  const Verdict& lead = found.verdicts[0];
  EXPECT_EQ(lead.grade, Grade::kHypothesis);
  EXPECT_EQ(lead.cause, Cause::kComputeSlow);
  EXPECT_THAT(lead.entity.ranks, ElementsAre(RankId(2)));
  EXPECT_THAT(lead.victims, ElementsAre(RankId(0), RankId(1), RankId(3)));
  EXPECT_NEAR(lead.cost.seconds_per_iteration, 0.060, 1e-6);
  EXPECT_THAT(
      lead.sentence,
      HasSubstr("Rank 2 was late all through the recorded iterations, from the first of 6"));
}

TEST(AlwaysLate, TheOthersMayWaitInTheNextIteration) {
  for (const int iterations : {5, 6, 7, 8}) {
    for (const double start_ms : {0.0, 300.0}) {
      SCOPED_TRACE(testing::Message() << iterations << " iterations, start " << start_ms << " ms");
      const Diagnosis found = JudgedOf({.iterations = iterations,
                                        .late_in = iterations,
                                        .start_ms = start_ms,
                                        .waits_next = true});
      ASSERT_THAT(found.verdicts, SizeIs(1));
      EXPECT_THAT(found.verdicts[0].entity.ranks, ElementsAre(RankId(2)));
    }
  }
}

TEST(AlwaysLate, NobodyWhereTheOthersHardlyWait) {
  JobView view = ViewOf({});
  for (IterationSummary& it : view.window) {
    for (RankIteration& r : it.ranks) {
      if (r.rank != RankId(1)) continue;
      r.duration = r.duration - r.blocked;
      r.blocked = Nanos{};
    }
  }
  EXPECT_THAT(Diagnose(view, Suspicion{}, Recorded{}.config).verdicts, IsEmpty());
}

TEST(AlwaysLate, NobodyWhereTheOthersWaitForSomethingElse) {
  EXPECT_THAT(JudgedOf({.late_ms = 15}).verdicts, SizeIs(1));
  EXPECT_THAT(JudgedOf({.late_ms = 15, .all_wait_ms = 100}).verdicts, IsEmpty());
}

TEST(AlwaysLate, TimeThatIsNoWorkIsTheHosts) {
  const Diagnosis found = JudgedOf({.cpu_share = 0.1});
  ASSERT_THAT(found.verdicts, SizeIs(1));
  EXPECT_EQ(found.verdicts[0].cause, Cause::kHostSlow);
}

TEST(AlwaysLate, SaysNothingOfLessThanItsThresholds) {
  EXPECT_THAT(JudgedOf({.late_ms = 0}).verdicts, IsEmpty()) << "healthy";
  EXPECT_THAT(JudgedOf({.late_ms = 8}).verdicts, IsEmpty()) << "not half as much again";
  EXPECT_THAT(JudgedOf({.late_in = 4}).verdicts, IsEmpty()) << "not from the first on";
  EXPECT_THAT(JudgedOf({.iterations = 2, .late_in = 2}).verdicts, IsEmpty()) << "too short";
}

TEST(AlwaysLate, FewIterationsMustShowMore) {
  EXPECT_THAT(JudgedOf({.iterations = 3, .late_in = 3, .late_ms = 15}).verdicts, IsEmpty());
  EXPECT_THAT(JudgedOf({.iterations = 3, .late_in = 3, .late_ms = 25}).verdicts, SizeIs(1));
  EXPECT_THAT(JudgedOf({.late_ms = 15}).verdicts, SizeIs(1));
}

TEST(AlwaysLate, LeavesPipelinesAndLiveJobsAlone) {
  EXPECT_THAT(JudgedOf({.messages = true}).verdicts, IsEmpty());
  EXPECT_THAT(JudgedOf({.config = {}}).verdicts, IsEmpty());
}

}  // namespace
}  // namespace fathom::diagnosis
