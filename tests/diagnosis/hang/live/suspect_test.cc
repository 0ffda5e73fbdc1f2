#include "diagnosis/hang/live/suspect.h"

#include <algorithm>

#include "diagnosis/hang/live/recent_use.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

using ::testing::HasSubstr;

RankFacts Silent(double seconds) {
  RankFacts facts;
  facts.state = ProcessState::kSleeping;
  facts.silent_for = Nanos::FromSeconds(seconds);
  return facts;
}

Occupation Of(const RankFacts& facts) { return OccupationOf(facts, DiagnosisConfig()); }

TEST(SuspectTest, ALockIsNoRest) {
  RankFacts facts = Silent(10);
  facts.wait_channel = "futex_wait_queue";
  EXPECT_EQ(Of(facts), Occupation::kBlocked);
  EXPECT_THAT(InWords(Occupation::kBlocked, facts), HasSubstr("a lock (futex_wait_queue)"));
}

TEST(SuspectTest, ATimedSleepAndAPromptMayEnd) {
  RankFacts facts = Silent(10);
  facts.wait_channel = "hrtimer_nanosleep";
  EXPECT_EQ(Of(facts), Occupation::kResting);
  facts.wait_channel = "n_tty_read";
  EXPECT_EQ(Of(facts), Occupation::kResting);
  facts.wait_channel = "do_wait";
  EXPECT_EQ(Of(facts), Occupation::kResting);
  EXPECT_THAT(InWords(Occupation::kResting, facts), HasSubstr("a process that it started"));
}

TEST(SuspectTest, WhoWaitsForAThreadThatWorksRestsUnlessItsOwnOpsMaySpin) {
  RankFacts facts = Silent(10);
  facts.wait_channel = "futex_wait_queue";
  facts.cpu_while_silent = Nanos::FromSeconds(3);
  EXPECT_EQ(Of(facts), Occupation::kResting);
  EXPECT_THAT(InWords(Occupation::kResting, facts), HasSubstr("another thread of its own"));
  facts.open_ops.resize(1);
  EXPECT_EQ(Of(facts), Occupation::kBlocked);
  facts.open_ops.clear();
  facts.cpu_while_silent = Nanos::FromSeconds(0.5);
  EXPECT_EQ(Of(facts), Occupation::kBlocked);
}

TEST(SuspectTest, WhatWaitsForACoreIsNotIdle) {
  RankFacts facts = Silent(10);
  facts.state = ProcessState::kRunning;
  facts.cpu_while_silent = Nanos::FromSeconds(4);
  EXPECT_EQ(Of(facts), Occupation::kBlocked);
  facts.starved_while_silent = Nanos::FromSeconds(5.5);
  EXPECT_EQ(Of(facts), Occupation::kLooping);
}

TEST(SuspectTest, WhoWritesWorksThoughItIsBusy) {
  RankFacts facts = Silent(10);
  facts.cpu_while_silent = facts.silent_for;
  EXPECT_EQ(Of(facts), Occupation::kLooping);
  facts.io_while_silent = 100'000'000;
  EXPECT_EQ(Of(facts), Occupation::kWorking);
  facts.io_while_silent = 1000;
  facts.faults_while_silent = 5000;
  EXPECT_EQ(Of(facts), Occupation::kWorking);
}

TEST(SuspectTest, StacksThatMoveAreWorkAndOneThatStaysIsNot) {
  RankFacts facts = Silent(10);
  facts.cpu_while_silent = facts.silent_for;
  facts.stack = {
      {"spin (train.py:3)", "main (train.py:9)"}, 5, 1, "", "py-spy", Nanos(), Nanos(), false};
  EXPECT_EQ(Of(facts), Occupation::kLooping);
  Verdict verdict;
  DescribeSuspect(Occupation::kLooping, facts, DiagnosisConfig(), verdict);
  EXPECT_THAT(verdict.evidence,
              testing::Contains(testing::Field(
                  &Evidence::statement,
                  "Its training thread is in spin (train.py:3), called by main (train.py:9)")));
  facts.stack.functions = 4;
  EXPECT_EQ(Of(facts), Occupation::kWorking);
}

// One sample a second; `io` grows by `bytes` in each second up to `until`.
RankFacts Sampled(int seconds, std::uint64_t bytes, int until) {
  RankFacts facts = Silent(seconds);
  facts.wait_channel = "futex_wait_queue";
  for (int second = 0; second <= seconds; ++second) {
    ProcessSample sample;
    sample.silent_for = Nanos::FromSeconds(second);
    sample.io = bytes * static_cast<std::uint64_t>(std::min(second, until));
    facts.samples.push_back(sample);
  }
  facts.io_while_silent = facts.samples.back().io;
  return facts;
}

TEST(SuspectTest, WhatItDidLongAgoIsNotWhatItDoes) {
  const DiagnosisConfig config;
  const RankFacts facts = Sampled(40, 100'000'000, 10);
  EXPECT_EQ(Of(facts), Occupation::kBlocked) << "it has written a GB, and then nothing for 30 s";
  EXPECT_EQ(IdleFor(facts, config), Nanos::FromSeconds(30)) << "no more than that counts";
  EXPECT_EQ(Of(Sampled(15, 100'000'000, 10)), Occupation::kWorking) << "a pause in a burst";
  EXPECT_EQ(Of(Sampled(40, 100'000'000, 40)), Occupation::kWorking);
  EXPECT_EQ(IdleFor(Sampled(40, 100'000'000, 40), config), Nanos());
}

TEST(SuspectTest, WhoNeverWorkedIsIdleForItsWholeSilence) {
  EXPECT_EQ(IdleFor(Sampled(40, 10, 40), DiagnosisConfig()), Nanos::FromSeconds(40));
  EXPECT_EQ(IdleFor(Silent(40), DiagnosisConfig()), Nanos::FromSeconds(40)) << "not sampled";
}

TEST(SuspectTest, ProcessesThatItStartedWorkForIt) {
  RankFacts facts = Sampled(20, 0, 0);
  facts.wait_channel = "do_wait";
  EXPECT_EQ(Of(facts), Occupation::kResting);
  for (ProcessSample& sample : facts.samples) {
    sample.descendants_known = sample.silent_for > Nanos::FromSeconds(3);
    sample.descendants_cpu = sample.silent_for;
  }
  EXPECT_EQ(Of(facts), Occupation::kHelped);
  for (ProcessSample& sample : facts.samples) sample.descendants_cpu = Nanos::FromSeconds(500);
  EXPECT_EQ(Of(facts), Occupation::kResting) << "workers of a data loader that has all it needs";
}

TEST(SuspectTest, ALongStepThatTheProgramIsInIsSlow) {
  RankFacts facts = Silent(40);
  facts.wait_channel = "futex_wait_queue";
  for (const char* mark : {"checkpoint (torch.save)", "compile (torch.compile)", "gc"}) {
    facts.open_mark = mark;
    EXPECT_EQ(Of(facts), Occupation::kInLongStep) << mark;
    EXPECT_TRUE(IsSlowOnly(Of(facts)));
  }
  facts.open_mark = "my_module:checkpoint";
  EXPECT_EQ(Of(facts), Occupation::kBlocked) << "what the user named tells nothing";
}

TEST(SuspectTest, AWaitForAFileSystemIsNoneForALock) {
  RankFacts facts = Silent(10);
  facts.state = ProcessState::kUninterruptible;
  for (const char* channel :
       {"rpc_wait_bit_killable", "folio_wait_bit_common", "io_schedule", "request_wait_answer"}) {
    facts.wait_channel = channel;
    EXPECT_EQ(Of(facts), Occupation::kOnStorage) << channel;
  }
  facts.wait_channel = "nvidia_poll";
  EXPECT_EQ(Of(facts), Occupation::kUninterruptible);
}

TEST(SuspectTest, AFrozenGroupExplainsEverything) {
  RankFacts facts = Silent(10);
  facts.frozen = true;
  facts.open_mark = "dataloader";
  EXPECT_EQ(Of(facts), Occupation::kFrozen);
}

TEST(SuspectTest, TheMarkOfTheLoaderIsBelieved) {
  RankFacts facts = Silent(10);
  facts.open_mark = "dataloader";
  EXPECT_EQ(Of(facts), Occupation::kLoadingData);
}

TEST(SuspectTest, PatienceGrowsWithWhatMayEnd) {
  const DiagnosisConfig config;
  EXPECT_LT(PatienceWith(Occupation::kBlocked, config), PatienceWith(Occupation::kLooping, config));
  EXPECT_LT(PatienceWith(Occupation::kLooping, config), PatienceWith(Occupation::kResting, config));
}

TEST(SuspectTest, SaysHowAProcessEnded) {
  RankFacts facts;
  EXPECT_EQ(EndInWords(facts), "");
  facts.wait_status = 3 << 8;
  EXPECT_EQ(EndInWords(facts), "exited with status 3");
  facts.wait_status = 9;
  facts.oom_kills = 1;
  EXPECT_EQ(EndInWords(facts), "was killed by signal 9 (SIGKILL), out of memory");
}

}  // namespace
}  // namespace fathom::diagnosis
