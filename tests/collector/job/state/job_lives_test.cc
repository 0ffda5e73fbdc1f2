#include "collector/job/state/job_state.h"

#include <gtest/gtest.h>

#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kRoom = 1'000'000;

struct JobLivesTest : testing::Test {
  FakeClock clock;
  JobState job{"train", clock};

  void Start(std::uint32_t world) {
    for (std::uint32_t r = 0; r < world; ++r) {
      ASSERT_FALSE(job.Apply(RankOf(r, world), "n0", kRoom).rejected);
      ASSERT_FALSE(job.Apply(GroupOf(r, world), "n0"));
    }
  }
  static v1::RankInfo Restarted(std::uint32_t rank, std::uint32_t world) {
    v1::RankInfo info = RankOf(rank, world);
    info.set_pid(9000 + rank);
    info.set_restart_count(1);
    info.set_start_time_ticks(500);
    return info;
  }
  diagnosis::JobView View() const {
    return job.View([](std::string_view) { return true; });
  }
};

TEST_F(JobLivesTest, ARestartVoidsWhatWasKnown) {
  Start(2);
  job.Apply(Batch({}), "n0");
  const auto result = job.Apply(Restarted(1, 2), "n0", kRoom);
  EXPECT_TRUE(result.restarted);
  EXPECT_EQ(job.Figures().incarnation, 2u);
  EXPECT_EQ(job.Figures().ranks, 1u);
  EXPECT_TRUE(View().window.empty());
  // What the old rank 0 still sends finds no such rank; the new one joins quietly.
  EXPECT_EQ(job.Apply(Batch({}), "n0").rejected, RejectReason::kUnknownRank);
  EXPECT_FALSE(job.Apply(Restarted(0, 2), "n0", kRoom).restarted);
  EXPECT_EQ(job.Figures().incarnation, 2u);
}

// A log is read again in which the former life still stands.
TEST_F(JobLivesTest, WhatWasLearntOfALifeIsRecalledWhenThatBegins) {
  Learnt learnt;
  {
    JobState earlier("train", clock);
    for (std::uint32_t r = 0; r < 2; ++r) earlier.Apply(Restarted(r, 2), "n0", kRoom);
    BatchShape shape;
    shape.first = 30;
    earlier.Apply(Batch(shape), "n0");
    diagnosis::Suspicion suspicion;
    suspicion.past.push_back({Iteration(30), clock.Wall(), Nanos(5), true});
    earlier.SetSuspicion(suspicion);
    ASSERT_TRUE(earlier.learnt());
    learnt = *earlier.learnt();
    ASSERT_EQ(learnt.numbering.size(), 1u);
  }
  job.Recall(learnt);
  Start(2);
  job.Apply(Batch({}), "n0");
  EXPECT_FALSE(job.Figures().recalled);
  EXPECT_EQ(job.progress().newest, BatchShape{}.first + BatchShape{}.count - 1);
  for (std::uint32_t r = 0; r < 2; ++r) job.Apply(Restarted(r, 2), "n0", kRoom);
  EXPECT_TRUE(job.Figures().recalled);
  // By its own count it would be the first; by its anchor it is known.
  job.Apply(Batch({}), "n0");
  EXPECT_EQ(job.progress().newest, 30 + BatchShape{}.count - 1);
  job.Apply(
      [] {
        v1::RankInfo third = Restarted(0, 2);
        third.set_pid(9900);
        third.set_restart_count(2);
        third.set_start_time_ticks(900);
        return third;
      }(),
      "n0", kRoom);
  EXPECT_FALSE(job.Figures().recalled);
}

TEST_F(JobLivesTest, AnOlderProcessDoesNotRestartTheJob) {
  Start(2);
  ASSERT_TRUE(job.Apply(Restarted(0, 2), "n0", kRoom).restarted);
  EXPECT_EQ(job.Apply(RankOf(0, 2), "n0", kRoom).rejected, RejectReason::kStale);
  EXPECT_EQ(job.Apply(RankOf(1, 2), "n0", kRoom).rejected, RejectReason::kStale);
  EXPECT_EQ(job.Figures().incarnation, 2u);
}

TEST_F(JobLivesTest, TheWallClockDoesNotSayWhichProcessIsYounger) {
  Start(2);
  v1::RankInfo younger = Restarted(0, 2);
  younger.set_started_wall_ns(FakeClock::kStart - 3'600'000'000'000);
  EXPECT_TRUE(job.Apply(younger, "n0", kRoom).restarted) << "the clock was set back by an hour";
  v1::RankInfo older = RankOf(1, 2);
  older.set_pid(77);
  older.set_started_wall_ns(FakeClock::kStart + 3'600'000'000'000);
  EXPECT_EQ(job.Apply(older, "n0", kRoom).rejected, RejectReason::kStale);
  EXPECT_EQ(job.Figures().incarnation, 2u);
}

TEST_F(JobLivesTest, AfterANewBootTheTicksBeginAgain) {
  ASSERT_FALSE(job.Apply(Restarted(0, 2), "n0", kRoom, "first").rejected);
  ASSERT_FALSE(job.Apply(Restarted(1, 2), "n0", kRoom, "first").rejected);
  v1::RankInfo anew = RankOf(0, 2);
  anew.set_start_time_ticks(3);
  EXPECT_TRUE(job.Apply(anew, "n0", kRoom, "second").restarted);
  EXPECT_EQ(job.Apply(Restarted(1, 2), "n0", kRoom, "first").rejected, RejectReason::kStale);
}

TEST_F(JobLivesTest, ALivingJobIsNobodyElsesToBeginAnew) {
  Start(2);
  ASSERT_EQ(job.Apply(Batch({}), "n0").rows, 1);
  for (const std::uint32_t rank : {0u, 1u, 5u}) {
    v1::RankInfo info = Restarted(rank, rank == 5 ? 8 : 2);
    EXPECT_EQ(job.Apply(info, "evil", kRoom).rejected, RejectReason::kNotOwner) << rank;
    EXPECT_EQ(job.Apply(Batch({}), "evil").rejected, RejectReason::kNotOwner);
  }
  EXPECT_EQ(job.Figures().incarnation, 1u);
  EXPECT_EQ(job.Figures().nodes, 1u);
  EXPECT_EQ(View().window.size(), 1u);
  EXPECT_FALSE(job.Apply(HealthOf(0), "n0")) << "its owner goes on";
}

TEST_F(JobLivesTest, WhoIsNotHeardOfLosesTheJobToWhoBeginsIt) {
  Start(2);
  clock.Advance(RankTable::kOwnerSilence);
  EXPECT_EQ(job.Apply(Restarted(0, 2), "n7", kRoom).rejected, RejectReason::kNotOwner);
  clock.Advance(Nanos(1));
  EXPECT_TRUE(job.Apply(Restarted(0, 2), "n7", kRoom).restarted);
  EXPECT_EQ(job.Apply(RankOf(0, 2), "n0", kRoom).rejected, RejectReason::kStale)
      << "a process of the former life";
}

TEST_F(JobLivesTest, ARankThatMovesBetweenItsJobsNodesNeedsARestartOrAGap) {
  ASSERT_FALSE(job.Apply(RankOf(0, 2), "n0", kRoom).rejected);
  ASSERT_FALSE(job.Apply(RankOf(1, 2), "n1", kRoom).rejected);
  v1::RankInfo moved = Restarted(0, 2);
  moved.set_restart_count(0);
  EXPECT_EQ(job.Apply(moved, "n1", kRoom).rejected, RejectReason::kNotOwner);
  v1::RankGone gone;
  gone.set_job("train");
  gone.set_pid(1000);
  gone.set_how("exited");
  ASSERT_FALSE(job.Apply(gone, "n0"));
  EXPECT_TRUE(job.Apply(moved, "n1", kRoom).restarted);
  EXPECT_FALSE(job.Apply(RankOf(1, 2), "n0", kRoom).rejected);
  EXPECT_TRUE(job.Apply(Restarted(1, 2), "n1", kRoom).restarted) << "restarted once more, moved";
}

// torchrun counts restarts for each agent: those that lost a worker say 1, the standby says 0.
TEST_F(JobLivesTest, AStandbyTakesThePlaceOfANodeThatLeft) {
  ASSERT_FALSE(job.Apply(RankOf(0, 2), "n0", kRoom).rejected);
  ASSERT_FALSE(job.Apply(RankOf(1, 2), "n1", kRoom).rejected);
  v1::RankInfo standby = RankOf(1, 2);
  standby.set_pid(4242);
  EXPECT_EQ(job.Apply(standby, "n2", kRoom).rejected, RejectReason::kNotOwner)
      << "the place is taken";
  ASSERT_TRUE(job.Apply(Restarted(0, 2), "n0", kRoom).restarted);
  EXPECT_FALSE(job.Apply(standby, "n2", kRoom).rejected);
  EXPECT_EQ(job.Figures().ranks, 2u);
  EXPECT_EQ(job.Figures().incarnation, 2u);
  EXPECT_EQ(job.Apply(RankOf(1, 2), "n1", kRoom).rejected, RejectReason::kStale)
      << "what is left of the node that left";
}

TEST_F(JobLivesTest, OnOneNodeTheRanksOfAJobAreOneUsers) {
  v1::RankInfo mine = RankOf(0, 2);
  mine.set_user(1000);
  ASSERT_FALSE(job.Apply(mine, "n0", kRoom).rejected);
  v1::RankInfo theirs = Restarted(0, 2);
  theirs.set_user(1001);
  EXPECT_EQ(job.Apply(theirs, "n0", kRoom).rejected, RejectReason::kNotOwner);
  theirs.set_rank(1);
  theirs.set_restart_count(0);
  EXPECT_EQ(job.Apply(theirs, "n0", kRoom).rejected, RejectReason::kNotOwner);
  EXPECT_FALSE(job.Apply(theirs, "n1", kRoom).rejected) << "nodes may number users differently";
}

TEST_F(JobLivesTest, TheSameProcessAnnouncedAgainIsNoRestart) {
  Start(2);
  job.Apply(Batch({}), "n0");
  EXPECT_FALSE(job.Apply(RankOf(0, 2), "n0", kRoom).restarted);
  EXPECT_EQ(View().window.size(), 1u);
}

}  // namespace
}  // namespace fathom::collector
