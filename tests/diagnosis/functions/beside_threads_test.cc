#include "diagnosis/functions/beside_threads.h"

#include <gtest/gtest.h>

#include "diagnosis/functions/name_function.h"
#include "tests/diagnosis/functions/made_captures.h"

namespace fathom::diagnosis {
namespace {

// Another thread of its process, seen for so many of its samples.
void AddBeside(RankStacks& rank, const std::string& frame, std::uint64_t samples) {
  rank.beside_samples += samples;
  rank.beside_stacks.push_back({{static_cast<std::uint32_t>(rank.frames.size())}, samples});
  rank.frames.push_back(FrameOf(frame));
}

Verdict HostSlowOfTwo() {
  Verdict verdict;
  verdict.grade = Grade::kEstablished;
  verdict.cause = Cause::kHostSlow;
  verdict.entity.ranks = {RankId(2)};
  verdict.cost.slowdown = 2;
  verdict.sentence = "Rank 2 holds the job back: 40 ms more host time in each iteration.";
  return verdict;
}

TEST(BesideThreads, NamesAnotherThreadWhereTheTrainingThreadDoesAsItsPeers) {
  StackCapture capture = Captured(Rank(60, 110, {}));
  AddBeside(capture.ranks.at(RankId(2)), "crunch /job/beside.py:7", 390);
  Verdict verdict = HostSlowOfTwo();
  const Detail found = FindFunction(JobView(), capture, verdict);
  ASSERT_TRUE(found.beside);
  EXPECT_EQ(FunctionInWords(found.where), "crunch (beside.py:7)");
  EXPECT_LE(found.where.share, 1);
  TellFunction(found, verdict);
  EXPECT_NE(verdict.sentence.find("another thread of its process is in crunch (beside.py:7)"),
            std::string::npos)
      << verdict.sentence;
  EXPECT_NE(verdict.evidence.front().statement.find("Another thread of its process is in crunch"),
            std::string::npos);
}

TEST(BesideThreads, AThreadThatAllHaveIsNobodys) {
  StackCapture capture = Captured(Rank(60, 110, {}));
  for (auto& [rank, stacks] : capture.ranks) AddBeside(stacks, "log /job/beside.py:7", 390);
  EXPECT_FALSE(FindFunction(JobView(), capture, HostSlowOfTwo()).known());
}

TEST(BesideThreads, WhatTheTrainingThreadDoesGoesBeforeAnotherThread) {
  StackCapture capture =
      Captured(Rank(60, 110, {{{"write_metrics /job/train.py:85", kMain}, 220}}));
  AddBeside(capture.ranks.at(RankId(2)), "crunch /job/beside.py:7", 390);
  const Detail found = FindFunction(JobView(), capture, HostSlowOfTwo());
  EXPECT_FALSE(found.beside);
  EXPECT_EQ(FunctionInWords(found.where), "write_metrics (train.py:85)");
}

}  // namespace
}  // namespace fathom::diagnosis
