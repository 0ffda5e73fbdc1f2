#include "collector/evaluate/look_schedule.h"

#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

constexpr Nanos Ms(std::int64_t ms) { return Nanos(ms * 1'000'000); }

// A job of whole iterations, each look at which costs `cost` and makes of it what `findings` say.
struct LookScheduleTest : testing::Test {
  LookSchedule schedule{{.share = 0.25, .reserve_s = 2}};
  MonoNs now{1'000'000'000};
  LookReasons reasons{.news = true, .newest = 1, .whole = 1, .partial_since = now};
  LookFindings findings;
  Nanos cost = Ms(200);
  Nanos spent;
  int looks = 0;

  void Iteration() {
    reasons.partial_since = now;
    reasons.whole = ++reasons.newest;
  }
  bool Look() {
    if (schedule.Left(reasons, now) > Nanos(0)) return false;
    const MonoNs begin = now;
    now = now + cost;
    schedule.Looked(reasons, findings, begin, now, cost);
    spent += cost;
    ++looks;
    return true;
  }
  // An iteration every `every`, looked at whenever it is due.
  void Run(Nanos time, Nanos every) {
    const MonoNs end = now + time;
    MonoNs next = now;
    while (now < end) {
      if (now >= next) {
        Iteration();
        next = next + every;
      }
      if (!Look()) now = now + Ms(1);
    }
  }
  double Share(Nanos time) const { return spent.Seconds() / time.Seconds(); }
};

TEST_F(LookScheduleTest, AQuietJobKeepsTheGap) {
  Run(Ms(20'000), Ms(100));
  EXPECT_EQ(looks, 25) << "0.2 s of looking in each 0.8 s";
  cost = Ms(1);
  looks = 0;
  Run(Ms(20'000), Ms(100));
  EXPECT_NEAR(looks, 80, 3) << "four a second, however cheap they are";
}

TEST_F(LookScheduleTest, AJobThatIsWellMayBeLeftAloneForLonger) {
  cost = Ms(1);
  reasons.calm_gap = Ms(1000);
  Run(Ms(20'000), Ms(100));
  EXPECT_NEAR(looks, 80, 3) << "as long as something shows it is not";
  reasons.shows = false;
  looks = 0;
  Run(Ms(20'000), Ms(100));
  EXPECT_NEAR(looks, 20, 2);
  findings.uneasy = true;
  looks = 0;
  Run(Ms(20'000), Ms(100));
  EXPECT_NEAR(looks, 80, 5) << "from the first look that found something on";
}

TEST_F(LookScheduleTest, WhatShowsEndsTheLongerRest) {
  cost = Ms(1);
  reasons.shows = false;
  reasons.calm_gap = Ms(2000);
  ASSERT_TRUE(Look());
  now = now + Ms(300);
  EXPECT_EQ(schedule.Left(reasons, now), Ms(1699));
  reasons.shows = true;
  EXPECT_LE(schedule.Left(reasons, now), Nanos(0));
  reasons.shows = false;
  Iteration();
  reasons.slower = true;
  EXPECT_LE(schedule.Left(reasons, now), Nanos(0));
}

TEST_F(LookScheduleTest, ASlowJobsIterationDoesNotWaitForTheGap) {
  findings.uneasy = true;
  ASSERT_TRUE(Look());
  EXPECT_EQ(schedule.Left(reasons, now), Ms(600)) << "nothing has come";
  Iteration();
  EXPECT_EQ(schedule.Left(reasons, now), Ms(50)) << "four a second are enough";
  now = now + Ms(50);
  EXPECT_TRUE(Look());
}

TEST_F(LookScheduleTest, RowsThatAreInDoNotWait) {
  ASSERT_TRUE(Look());
  EXPECT_GT(schedule.Left(reasons, now), Ms(500));
  reasons.rows_are_in = true;
  EXPECT_LE(schedule.Left(reasons, now), Nanos(0));
}

TEST_F(LookScheduleTest, AVerdictIsLookedAtAgainAfterTheShortestGapButOnce) {
  findings.verdict_waits = true;
  ASSERT_TRUE(Look());
  EXPECT_EQ(schedule.Left(reasons, now), Ms(50)) << "250 after the look began, not 800";
  now = now + Ms(50);
  EXPECT_TRUE(Look());
  EXPECT_EQ(schedule.Left(reasons, now), Ms(600)) << "those that come and go are no reason";
}

TEST_F(LookScheduleTest, AVerdictOnHalfAnIterationKeepsTheGap) {
  findings.verdict_waits = true;
  ++reasons.newest;
  reasons.partial_since = now - Ms(5'000);
  ASSERT_TRUE(Look());
  EXPECT_FALSE(Look());
}

TEST_F(LookScheduleTest, AnIterationIsGivenTimeToBecomeWhole) {
  ASSERT_TRUE(Look());
  now = now + Ms(10'000);
  ++reasons.newest;
  reasons.partial_since = now;
  EXPECT_EQ(schedule.Left(reasons, now), Ms(800));
  reasons.whole = reasons.newest;
  EXPECT_LE(schedule.Left(reasons, now), Nanos(0));
  reasons.whole = reasons.newest - 1;
  now = now + Ms(800);
  EXPECT_TRUE(Look()) << "what does not come is not waited for";
  now = now + Ms(800);
  EXPECT_TRUE(Look()) << "nor twice";
}

TEST_F(LookScheduleTest, ARankThatNoLongerReportsHoldsNothingUp) {
  cost = Ms(1);
  reasons.whole = 0;
  for (int i = 0; i < 10'000; ++i) {
    ++reasons.newest;
    Look();
    now = now + Ms(1);
  }
  EXPECT_NEAR(looks, 40, 2) << "of the ten seconds, a new iteration in each millisecond";
}

TEST_F(LookScheduleTest, LooksWithoutNewsNowAndThen) {
  cost = Ms(1);
  ASSERT_TRUE(Look());
  reasons.news = false;
  EXPECT_EQ(schedule.Left(reasons, now), LookSchedule::kGap + LookSchedule::kIdle - cost);
}

TEST_F(LookScheduleTest, AFloodTakesNoMoreThanTheBudget) {
  findings = {.uneasy = true, .verdict_waits = true};
  reasons.rows_are_in = true;
  const MonoNs begin = now;
  Run(Ms(10'000), Ms(1));
  const Nanos first = now - begin;
  EXPECT_LE(spent, Nanos::FromSeconds(0.25 * first.Seconds() + 2) + cost);
  EXPECT_GE(spent, Nanos::FromSeconds(0.25 * first.Seconds() + 2) - cost) << "all of it was used";
  spent = {};
  const MonoNs later = now;
  Run(Ms(100'000), Ms(1));
  EXPECT_LE(Share(now - later), 0.25 + 0.01);
}

TEST_F(LookScheduleTest, AnIterationLongerThanUsualDoesNotWaitForTheGap) {
  ASSERT_TRUE(Look());
  Iteration();
  EXPECT_EQ(schedule.Left(reasons, now), Ms(600));
  reasons.slower = true;
  EXPECT_EQ(schedule.Left(reasons, now), Ms(50));
}

// Of a very large job a look costs more than the reserve.
TEST_F(LookScheduleTest, DearLooksFollowOneAnotherWhereSomethingIsWrong) {
  cost = Ms(5'000);
  Run(Ms(120'000), Ms(1'000));
  EXPECT_NEAR(looks, 6, 1) << "a quarter of a core";
  findings.uneasy = true;
  while (!Look()) now = now + Ms(1);
  const MonoNs seen = now;
  reasons.rows_are_in = true;
  ASSERT_TRUE(Look()) << "rows are in";
  Iteration();
  ASSERT_TRUE(Look()) << "the second sight";
  EXPECT_LT((now - seen).Seconds(), 11);
  while (Look()) {
  }
  EXPECT_LE((now - seen).Seconds(), 25) << "and then the share counts again";
}

TEST_F(LookScheduleTest, AQuietTimeFillsTheReserveAgain) {
  findings = {.uneasy = true};
  reasons.rows_are_in = true;
  while (Look()) {
  }
  EXPECT_GE(looks, 10);
  now = now + Ms(8'000);
  looks = 0;
  while (Look()) {
  }
  EXPECT_GE(looks, 10) << "eight seconds at a quarter";
}

}  // namespace
}  // namespace fathom::collector
