#include "diagnosis/model/rank_times.h"

#include <gtest/gtest.h>

namespace fathom::diagnosis {
namespace {

Nanos Ms(double ms) { return Nanos::FromSeconds(ms / 1e3); }

RankIteration Rank() {
  RankIteration rank;
  rank.duration = Ms(100);
  rank.cpu = Ms(30);
  rank.runqueue = Ms(10);
  rank.blocked = Ms(20);
  rank.dataloader = Ms(25);
  return rank;
}

TEST(RankTimesTest, WhatItWaitedForACoreIsNotItsOwn) {
  EXPECT_EQ(CoreWaitOf(Rank()), Ms(10));
  EXPECT_EQ(OwnTimeOf(Rank()), Ms(70));
  EXPECT_EQ(LoadingOf(Rank()), Ms(25));
  EXPECT_EQ(BusyOf(Rank()), Ms(30));
}

TEST(RankTimesTest, NorIsWhatTheMakersOfItsBatchesWaited) {
  RankIteration rank = Rank();
  rank.loader_starved = Ms(15);
  EXPECT_EQ(LoadingOf(rank), Ms(10));
  EXPECT_EQ(CoreWaitOf(rank), Ms(25));
  EXPECT_EQ(OwnTimeOf(rank), Ms(55));
  rank.loader_starved = Ms(400);
  EXPECT_EQ(LoadingOf(rank), Nanos()) << "no more than it waited for batches";
  EXPECT_EQ(OwnTimeOf(rank), Ms(45));
}

TEST(RankTimesTest, ATimeIsNeverBelowZero) {
  RankIteration rank = Rank();
  rank.runqueue = Ms(200);
  EXPECT_EQ(OwnTimeOf(rank), Nanos());
}

TEST(RankTimesTest, AHostThatWaitsForItsDeviceSpins) {
  RankIteration rank = Rank();
  rank.device_wait = Ms(60);
  EXPECT_EQ(BusyOf(rank), Ms(40)) << "less what its communication took";
  rank.device_wait = Ms(5);
  EXPECT_EQ(BusyOf(rank), Nanos());
  rank.device = Ms(70);
  EXPECT_EQ(BusyOf(rank), Ms(70)) << "its kernels are known";
}

}  // namespace
}  // namespace fathom::diagnosis
