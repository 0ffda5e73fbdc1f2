// How often a job is looked at that is well, where the budget wants fewer looks, and that none that
// shows something waits for it.
#include <gtest/gtest.h>

#include "collector/budget/centre_work.h"
#include "collector/evaluate/diagnoser.h"
#include "fathom/v1/agent.pb.h"
#include "fathom/v1/job.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

constexpr double kIteration_s = 0.1;

struct CalmLooksTest : testing::Test {
  FakeClock clock;
  CentreWork work{clock};
  JobTable jobs{clock, {}};
  SessionRegistry registry{clock};
  IngestCounters counters;
  RowRequests requests{registry, counters, clock};
  VerdictLedger ledger{[](VerdictChange, const Episode&) {}};
  diagnosis::Suspicion next;
  int looks = 0;
  Diagnoser diagnoser{
      {.jobs = jobs,
       .registry = registry,
       .requests = requests,
       .ledger = ledger,
       .clock = clock,
       .looked = [this](const JobState&) { ++looks; },
       .ended = nullptr,
       .work = &work},
      {[this](const diagnosis::JobView&, const diagnosis::DiagnosisConfig&) { return next; },
       [](const diagnosis::JobView&, const diagnosis::Suspicion&,
          const diagnosis::DiagnosisConfig&) { return diagnosis::Diagnosis(); }},
      {},
      Nanos(60'000'000'000)};
  std::shared_ptr<JobState> job;
  std::int64_t told = 0;

  void SetUp() override {
    next.expected = Nanos::FromSeconds(kIteration_s);
    next.noise = Nanos::FromSeconds(0.002);
    job = jobs.FindOrAdd("train");
    for (std::uint32_t r = 0; r < 2; ++r) job->Apply(RankOf(r, 2), "n0", 10);
    work.Hold(CentreKnob::kLooks, 3);
    Run(3);
    looks = 0;
  }
  // Iterations of so long come one after the other; nobody rests.
  void Run(double seconds, double iteration_s = kIteration_s) {
    for (double gone = 0; gone < seconds; gone += iteration_s) {
      for (double rest = iteration_s; rest > 1e-9; rest -= 0.01) {
        clock.AdvanceSeconds(std::min(rest, 0.01));
        diagnoser.RunDue();
      }
      Tell(iteration_s);
      diagnoser.RunDue();
    }
  }
  void Tell(double iteration_s) {
    for (std::uint32_t r = 0; r < 2; ++r) {
      BatchShape shape;
      shape.rank = r;
      shape.first = told;
      shape.anchor += static_cast<std::uint64_t>(told * shape.step);
      shape.duration_us = static_cast<std::uint32_t>(iteration_s * 1e6);
      job->Apply(Batch(shape), "n0");
    }
    ++told;
    diagnoser.Notify("train");
  }
  // Nothing comes but what keeps the agents in touch.
  void Silence(double seconds) {
    for (double gone = 0; gone < seconds; gone += 0.01) {
      clock.AdvanceSeconds(0.01);
      diagnoser.Notify("train");
      diagnoser.RunDue();
    }
  }
};

TEST_F(CalmLooksTest, AJobThatIsWellIsLookedAtAsSeldomAsTheBudgetWants) {
  Run(20);
  EXPECT_NEAR(looks, 10, 1);
  work.Hold(CentreKnob::kLooks, 0);
  looks = 0;
  Run(20);
  EXPECT_NEAR(looks, 80, 8);
}

TEST_F(CalmLooksTest, AnIterationBeyondTheUsualIsLookedAtAtOnce) {
  Run(0.5);
  looks = 0;
  Run(0.2, 0.2);
  EXPECT_EQ(looks, 1) << "with it, not seconds later";
}

TEST_F(CalmLooksTest, AJobThatIsUneasyKeepsTheShortestGap) {
  next.slow = true;
  next.onset = Iteration(20);
  Run(2);
  looks = 0;
  Run(5);
  EXPECT_GE(looks, 15);
}

TEST_F(CalmLooksTest, ASmallStepIsLookedAtBeforeItsTenthIteration) {
  Run(0.2);
  looks = 0;
  Run(0.9, kIteration_s * 1.005);
  EXPECT_GE(looks, 1) << "each is within the noise, and nine in a row are above the usual";
  looks = 0;
  Run(3, kIteration_s * 1.005);
  EXPECT_GE(looks, 9);
}

TEST_F(CalmLooksTest, AnIterationWithinABatchIsNotMissed) {
  Run(0.5);
  looks = 0;
  clock.AdvanceSeconds(0.3);
  Tell(2 * kIteration_s);
  Tell(kIteration_s);
  diagnoser.RunDue();
  EXPECT_EQ(looks, 1) << "the newest one was as usual";
}

TEST_F(CalmLooksTest, OneThatStopsIsLookedAtWellBeforeItCountsAsStalled) {
  Run(0.3);
  Silence(1.1);
  looks = 0;
  Silence(2);
  EXPECT_GE(looks, 7);
}

TEST_F(CalmLooksTest, ALostRankIsLookedAtAtOnce) {
  Run(0.5);
  looks = 0;
  v1::RankGone gone;
  gone.set_job("train");
  gone.set_rank(1);
  gone.set_pid(1001);
  ASSERT_FALSE(job->Apply(gone, "n0"));
  Silence(0.05);
  EXPECT_EQ(looks, 1);
}

TEST_F(CalmLooksTest, WhatIsUsualMustBeKnown) {
  next.expected = Nanos();
  Run(3);
  looks = 0;
  Run(5);
  EXPECT_GE(looks, 15);
}

TEST_F(CalmLooksTest, LooksAreCountedByWhetherAllIsWell) {
  work.meter.Take();
  Run(10);
  const auto calm = work.meter.Take();
  EXPECT_GE(calm[static_cast<std::size_t>(CentrePart::kLooks)].events, 4u);
  EXPECT_EQ(calm[static_cast<std::size_t>(CentrePart::kUrgent)].events, 0u);
  EXPECT_GT(calm[static_cast<std::size_t>(CentrePart::kTurns)].events, 100u);
  next.slow = true;
  next.onset = Iteration(20);
  Run(3);
  EXPECT_GE(work.meter.Take()[static_cast<std::size_t>(CentrePart::kUrgent)].events, 8u);
}

}  // namespace
}  // namespace fathom::collector
