#include "daemon/agent/pipeline/hidden_ops.h"

#include <gtest/gtest.h>

#include <string>

#include "daemon/agent/pipeline/iteration_summary.h"

namespace fathom::agent {
namespace {

constexpr std::int64_t kUnit = 1'000'000;

// Ops of one device, entered in the order in which they are added.
class HiddenOpsTest : public testing::Test {
 protected:
  // `waits`: of streams since the op before.
  OpRow& Add(std::int64_t start, std::int64_t end, std::uint32_t waits = 1,
             std::uint64_t stream = 9) {
    OpRow row;
    row.op_id = log_.next() + 1;
    row.enter_ns = 1 + static_cast<std::int64_t>(log_.next());
    row.exec_start_ns = start * kUnit;
    row.end_ns = end * kUnit;
    row.flags = abi::kFlagDevice | abi::kFlagAsync;
    row.group_slot = 0;
    row.stream = stream;
    waits_ += waits;
    row.device_calls.stream_waits = waits_;
    row.device_calls.syncs = syncs_;
    return log_.At(log_.Add(row));
  }
  // A letter a row: blocks, hidden, unsure; Unsure: the first of its kind.
  std::string Covers() const {
    std::string text;
    for (const OpCover& cover : CoversOf(log_, 0, log_.next() - 1)) {
      const char* const letters = cover.leads ? "BHU" : "bhu";
      text += letters[static_cast<int>(cover.state)];
    }
    return text;
  }
  IterationSummary Summary(std::uint64_t first, std::int64_t begin, std::int64_t end) const {
    return Summarise(log_, ProductLog(), ThreadClock(), HeldBack(),
                     {.first_row = first,
                      .anchor_row = log_.next() - 1,
                      .begin_ns = begin * kUnit,
                      .end_ns = end * kUnit});
  }

  OpLog log_{OpLogLimits()};
  std::uint32_t waits_ = 0, syncs_ = 0;
};

TEST_F(HiddenOpsTest, AnOpIsHiddenWhereTheNextBeganByItself) {
  Add(1, 2);
  for (const int at : {10, 20, 30}) Add(at, at + 4);
  Add(50, 54, 4);  // all four were waited for
  EXPECT_EQ(Covers(), "bhhbb");
}

TEST_F(HiddenOpsTest, EndToEndNothingTellsHowFarComputingHasCome) {
  Add(1, 2);
  Add(10, 14);
  Add(20, 24);
  Add(24, 28);
  Add(28, 32);
  Add(50, 54, 4);
  EXPECT_EQ(Covers(), "bhUubb");
}

TEST_F(HiddenOpsTest, ALaterOneThatBeganByItselfTellsOfAllBeforeIt) {
  Add(1, 2);
  Add(10, 14);
  Add(14, 18);
  Add(18, 22);
  Add(30, 34);
  Add(50, 54, 4);
  EXPECT_EQ(Covers(), "bhhhbb");
}

// As PyTorch does it where the program waits for each op: its stream waits, then computing does.
TEST_F(HiddenOpsTest, WhereComputingWaitsForEachOpAllOfThemBlock) {
  for (const int at : {1, 10, 20, 30}) Add(at, at + 4, 2);
  EXPECT_EQ(Covers(), "bbbb");
}

TEST_F(HiddenOpsTest, OpsOnTheStreamOfComputingBlock) {
  for (const int at : {1, 10, 20, 30}) Add(at, at + 4, 0);
  EXPECT_EQ(Covers(), "bbbb");
}

TEST_F(HiddenOpsTest, AHostThatStoodStillMayHaveWaitedForTheOp) {
  Add(1, 2);
  Add(10, 14);
  ++syncs_;
  Add(20, 24);
  Add(50, 54, 2);
  EXPECT_EQ(Covers(), "bbbb");
}

TEST_F(HiddenOpsTest, AnOpOnAnotherStreamTellsAsMuch) {
  Add(1, 2);
  Add(2, 3, 1, 8);
  Add(10, 14);
  Add(20, 24, 1, 8);
  Add(30, 34);
  Add(50, 54, 4);
  EXPECT_EQ(Covers(), "bhhhbb");
}

TEST_F(HiddenOpsTest, WhatStillRanOnAnotherStreamIsUnsure) {
  Add(1, 2);
  Add(2, 3, 1, 8);
  Add(10, 24);
  Add(20, 22, 1, 8);
  Add(50, 54, 4);
  EXPECT_EQ(Covers(), "bhubb");
}

// Only computing could have waited before an op on its own stream.
TEST_F(HiddenOpsTest, AnOpOnTheStreamOfComputingEndsARun) {
  Add(1, 2);
  Add(3, 4, 0, 8);
  Add(10, 14);
  Add(20, 24, 1, 8);
  Add(30, 34);
  Add(50, 54, 4);
  EXPECT_EQ(Covers(), "bbbbbb");
}

TEST_F(HiddenOpsTest, AnOpThatHasNotBegunLeavesTheOneBeforeItUnsure) {
  Add(1, 2);
  Add(10, 14);
  OpRow& queued = Add(0, 0);
  queued.exec_start_ns = queued.end_ns = 0;
  EXPECT_EQ(Covers(), "bUb");
}

TEST_F(HiddenOpsTest, ASummaryTellsWhatIsKnown) {
  Add(1, 2);
  Add(10, 14);
  Add(20, 24);
  Add(24, 28);
  Add(28, 32);
  const IterationSummary summary = Summary(1, 2, 40);
  EXPECT_EQ(summary.blocked_ns, 12 * kUnit) << "20 to 32";
  EXPECT_EQ(summary.unsure_ns, 8 * kUnit) << "20 to 28";
  EXPECT_EQ(summary.beside_ns, 10 * kUnit) << "10 to 20";
  EXPECT_EQ(summary.leading_ns, 4 * kUnit);
}

}  // namespace
}  // namespace fathom::agent
