#include "daemon/agent/pipeline/op_joiner.h"

#include <gtest/gtest.h>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using abi::RecordKind;
using fakes::FakeOp;
using fakes::RecordOf;
using fakes::RecordsOf;
using What = OpJoiner::Outcome::What;

class OpJoinerTest : public testing::Test {
 protected:
  OpJoiner::Outcome Take(const FakeOp& op, RecordKind kind, std::int64_t time,
                         std::uint8_t flags = 0) {
    abi::EventRecord record = RecordOf(op, kind, time);
    record.flags |= flags;
    return joiner_.Take(record);
  }
  const OpRow& Row(std::uint64_t number) { return log_.At(number); }

  OpLog log_{OpLogLimits{}};
  OpJoiner joiner_{log_};
};

TEST_F(OpJoinerTest, JoinsAWholeOpById) {
  for (const auto& record :
       RecordsOf({.op_id = 1, .sequence = 4, .enter_ns = 100, .end_ns = 500})) {
    joiner_.Take(record);
  }
  const OpRow& row = Row(0);
  EXPECT_EQ(row.sequence, 4u);
  EXPECT_EQ(row.enter_ns, 100);
  EXPECT_EQ(row.exec_start_ns, 120);
  EXPECT_EQ(row.return_ns, 130);
  EXPECT_EQ(row.wait_start_ns, 140);
  EXPECT_EQ(row.end_ns, 500);
  EXPECT_EQ(row.wait_end_ns, 510);
  EXPECT_EQ(joiner_.counters().ended, 1u);
  EXPECT_TRUE(joiner_.OpenRows().empty());
}

TEST_F(OpJoinerTest, JoinsByWorkAddressWhenTheWorkerIsFaster) {
  const FakeOp op{.op_id = 1, .work = 0xabc};
  Take(op, RecordKind::kOpEnter, 100);
  Take(op, RecordKind::kExecStart, 110);
  Take(op, RecordKind::kExecEnd, 120);
  EXPECT_EQ(Take(op, RecordKind::kOpReturn, 130).what, What::kEnded);
  EXPECT_EQ(Row(0).exec_start_ns, 110);
  EXPECT_EQ(Row(0).end_ns, 120);
}

TEST_F(OpJoinerTest, AnAddressUsedAgainBelongsToTheNewOp) {
  const FakeOp first{.op_id = 1, .work = 0xabc};
  const FakeOp second{.op_id = 2, .work = 0xabc};
  Take(first, RecordKind::kOpEnter, 100);
  Take(first, RecordKind::kOpReturn, 105);
  Take(first, RecordKind::kExecStart, 110);
  Take(first, RecordKind::kExecEnd, 120);
  Take(second, RecordKind::kOpEnter, 200);
  Take(second, RecordKind::kExecStart, 210);  // before its return: bound to the first op still
  Take(second, RecordKind::kOpReturn, 220);
  Take(second, RecordKind::kExecEnd, 230);
  EXPECT_EQ(Row(0).exec_start_ns, 110);
  EXPECT_EQ(Row(0).end_ns, 120);
  EXPECT_EQ(Row(1).exec_start_ns, 210);
  EXPECT_EQ(Row(1).end_ns, 230);
}

TEST_F(OpJoinerTest, WhatAnOldOpLeftUnderAnAddressIsNotTakenIn) {
  const FakeOp lost{.op_id = 1, .work = 0xabc};
  const FakeOp op{.op_id = 2, .work = 0xabc};
  Take(lost, RecordKind::kExecStart, 50);
  Take(lost, RecordKind::kExecEnd, 60);
  Take(op, RecordKind::kOpEnter, 100);
  EXPECT_EQ(Take(op, RecordKind::kOpReturn, 110).what, What::kNothing);
  EXPECT_FALSE(Row(0).done());
}

TEST_F(OpJoinerTest, AnOpThatNeverEndsStaysOpen) {
  for (const auto& record : RecordsOf({.op_id = 1, .enter_ns = 100})) joiner_.Take(record);
  EXPECT_EQ(joiner_.OpenRows(), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(Row(0).wait_start_ns, 140);
}

TEST_F(OpJoinerTest, AnAsynchronousOpNeedsNoReturn) {
  const FakeOp op{.op_id = 1, .sequence = 5};  // its worker names it, as the tracer can
  Take(op, RecordKind::kOpEnter, 100);
  Take(op, RecordKind::kExecStart, 110);
  Take(op, RecordKind::kWaitStart, 120);
  EXPECT_EQ(joiner_.OpenRows(), (std::vector<std::uint64_t>{0})) << "as long as it runs";
  EXPECT_EQ(Take(op, RecordKind::kExecEnd, 500).what, What::kEnded);
  Take(op, RecordKind::kWaitEnd, 510);
  EXPECT_EQ(Row(0).sequence, 5u);
  EXPECT_EQ(Row(0).return_ns, 0) << "not told";
  EXPECT_EQ(Row(0).end_ns, 500);
  EXPECT_EQ(Row(0).wait_end_ns, 510);
  EXPECT_EQ(joiner_.counters().orphans, 0u);
}

TEST_F(OpJoinerTest, ASynchronousCallEndsAtItsReturn) {
  const FakeOp op{.op_id = 1};
  Take(op, RecordKind::kOpEnter, 100);
  abi::EventRecord back = RecordOf(op, RecordKind::kOpReturn, 150);
  back.flags = 0;
  EXPECT_EQ(joiner_.Take(back).what, What::kEnded);
  EXPECT_EQ(Row(0).end_ns, 150);
}

TEST_F(OpJoinerTest, AFailedCallEndsAndIsMarked) {
  const FakeOp op{.op_id = 1};
  Take(op, RecordKind::kOpEnter, 100);
  Take(op, RecordKind::kOpReturn, 150, abi::kFlagFailed);
  EXPECT_TRUE(Row(0).failed());
  EXPECT_EQ(Row(0).end_ns, 150);
}

TEST_F(OpJoinerTest, AFailedExecutionIsMarked) {
  const FakeOp op{.op_id = 1};
  Take(op, RecordKind::kOpEnter, 100);
  Take(op, RecordKind::kExecStart, 110);
  Take(op, RecordKind::kExecEnd, 150, abi::kFlagFailed);
  EXPECT_TRUE(Row(0).failed());
}

TEST_F(OpJoinerTest, AnOpInPartsEndsWithItsLastOne) {
  const FakeOp op{.op_id = 1};
  Take(op, RecordKind::kOpEnter, 100);
  Take(op, RecordKind::kExecStart, 110);
  Take(op, RecordKind::kExecEnd, 120);
  Take(op, RecordKind::kExecStart, 130);
  Take(op, RecordKind::kExecEnd, 140);
  EXPECT_EQ(Row(0).exec_start_ns, 110);
  EXPECT_EQ(Row(0).end_ns, 140);
  EXPECT_EQ(joiner_.counters().ended, 1u);
}

TEST_F(OpJoinerTest, WithoutAWorkerTheEndOfTheWaitIsTheEnd) {
  const FakeOp op{.op_id = 1, .kind = CollectiveKind::kRecv};
  Take(op, RecordKind::kOpEnter, 100);
  Take(op, RecordKind::kOpReturn, 110);
  Take(op, RecordKind::kWaitStart, 120);
  EXPECT_EQ(Take(op, RecordKind::kWaitEnd, 190).what, What::kEnded);
  EXPECT_EQ(Row(0).end_ns, 190);
}

TEST_F(OpJoinerTest, AWaitForAllIsToldToTheOpenOpsOfThatThread) {
  const FakeOp a{.op_id = 1, .thread = 7};
  const FakeOp b{.op_id = 2, .thread = 7};
  const FakeOp other{.op_id = 3, .thread = 8};
  const FakeOp done{.op_id = 4, .thread = 7};
  for (const FakeOp& op : {done, a, other, b}) {
    Take(op, RecordKind::kOpEnter, 100);
    Take(op, RecordKind::kExecStart, 110);
  }
  Take(done, RecordKind::kExecEnd, 120);
  const FakeOp last{.op_id = 4, .thread = 7};
  Take(last, RecordKind::kWaitStart, 150, abi::kFlagWaitAll);
  Take(a, RecordKind::kExecEnd, 160);
  Take(b, RecordKind::kExecEnd, 170);
  Take(last, RecordKind::kWaitEnd, 175, abi::kFlagWaitAll);
  EXPECT_EQ(Row(0).wait_start_ns, 0);    // was done
  EXPECT_EQ(Row(1).wait_start_ns, 150);  // a
  EXPECT_EQ(Row(1).wait_end_ns, 175);
  EXPECT_EQ(Row(2).wait_start_ns, 0);  // another thread's
  EXPECT_EQ(Row(3).wait_end_ns, 175);  // b
  EXPECT_EQ(Row(3).end_ns, 170);
}

TEST_F(OpJoinerTest, RecordsWithoutTheirOpAreCounted) {
  Take({.op_id = 9}, RecordKind::kOpReturn, 100);
  Take({.op_id = 9}, RecordKind::kExecEnd, 110);
  EXPECT_EQ(joiner_.counters().orphans, 2u);
  EXPECT_TRUE(log_.empty());
}

TEST_F(OpJoinerTest, TheTagsNumberReplacesTheGuess) {
  Take({.op_id = 1, .sequence = 3}, RecordKind::kOpEnter, 100);
  Take({.op_id = 1, .sequence = 5}, RecordKind::kOpReturn, 110);
  EXPECT_EQ(Row(0).sequence, 5u);
}

TEST_F(OpJoinerTest, AnOpThatLeftTheLogIsForgotten) {
  OpLog small({.max_rows = 2});
  OpJoiner joiner(small);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    joiner.Take(RecordOf({.op_id = id}, RecordKind::kOpEnter, 100));
  }
  joiner.Take(RecordOf({.op_id = 1}, RecordKind::kExecEnd, 200));
  EXPECT_EQ(joiner.OpenRows(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(joiner.counters().open_dropped, 1u);
  EXPECT_EQ(joiner.counters().orphans, 1u);
}

TEST_F(OpJoinerTest, UnboundAddressesAreBounded) {
  for (std::uint64_t work = 1; work <= 3 * OpJoiner::kMaxUnbound; ++work) {
    Take({.op_id = 1, .work = work}, RecordKind::kExecStart, 100);
  }
  EXPECT_GE(joiner_.counters().orphans, OpJoiner::kMaxUnbound);
}

abi::EventRecord MarkRecord(abi::MarkKind kind, std::uint64_t pair, std::int64_t time) {
  abi::EventRecord r{};
  r.record_kind = static_cast<std::uint8_t>(RecordKind::kMark);
  r.extra = static_cast<std::uint64_t>(kind);
  r.op_id = pair;
  r.time_ns = time;
  r.thread_id = 7;
  return r;
}

TEST_F(OpJoinerTest, PairsMarksEvenNested) {
  joiner_.Take(MarkRecord(abi::MarkKind::kDataLoaderBegin, 10, 100));
  joiner_.Take(MarkRecord(abi::MarkKind::kGcBegin, 11, 110));
  joiner_.Take(MarkRecord(abi::MarkKind::kGcEnd, 11, 120));
  joiner_.Take(MarkRecord(abi::MarkKind::kDataLoaderEnd, 10, 130));
  ASSERT_EQ(log_.marks().size(), 2u);
  EXPECT_EQ(log_.marks()[0].end_ns, 130);
  EXPECT_EQ(log_.marks()[1].end_ns, 120);
}

TEST_F(OpJoinerTest, AMarksEndWithoutItsBeginIsCounted) {
  joiner_.Take(MarkRecord(abi::MarkKind::kGcEnd, 11, 120));
  EXPECT_TRUE(log_.marks().empty());
  EXPECT_EQ(joiner_.counters().orphans, 1u);
}

// Ops on a GPU whose clock reads kGpu where the host's reads 0; ends are heard of 5 ns later.
constexpr std::uint64_t kGpu = 1'700'000'000'000'000'000;

class DeviceOpTest : public OpJoinerTest {
 protected:
  void Enter(std::uint64_t op_id, std::int64_t time, std::uint8_t flags = abi::kFlagAsync) {
    Take({.op_id = op_id, .sequence = op_id}, RecordKind::kOpEnter, time,
         static_cast<std::uint8_t>(flags | abi::kFlagDevice));
  }
  void Start(std::uint64_t op_id, std::int64_t time) {
    Gpu(op_id, RecordKind::kGpuStart, time + 5, time);
  }
  void End(std::uint64_t op_id, std::int64_t time) {
    Gpu(op_id, RecordKind::kGpuEnd, time + 5, time);
  }

 private:
  void Gpu(std::uint64_t op_id, RecordKind kind, std::int64_t heard, std::int64_t happened) {
    abi::EventRecord record = RecordOf({.op_id = op_id}, kind, heard);
    record.flags = abi::kFlagDevice;
    record.bytes = 0;
    record.extra = kGpu + static_cast<std::uint64_t>(happened);
    joiner_.Take(record);
  }
};

TEST_F(DeviceOpTest, MapsTheGpusClock) {
  Enter(1, 100);
  Start(1, 150);
  End(1, 400);
  Enter(2, 500);
  Start(2, 600);
  End(2, 700);
  EXPECT_EQ(Row(0).exec_start_ns, 155) << "before the first end: when the host heard of it";
  EXPECT_EQ(Row(0).end_ns, 405);
  EXPECT_EQ(Row(1).exec_start_ns, 605);
  EXPECT_EQ(Row(1).end_ns, 705);
  EXPECT_EQ(Row(1).arrival_ns(), 605);
  EXPECT_EQ(Row(1).device_busy_ns - Row(0).device_busy_ns, 105) << "launched at 500, ran at 605";
  EXPECT_TRUE(joiner_.OpenRows().empty());
}

TEST_F(DeviceOpTest, AnOpWithoutNewsIsOverWithItsCall) {
  Enter(1, 100, 0);
  EXPECT_EQ(Row(0).end_ns, 100);
  EXPECT_EQ(Row(0).arrival_ns(), 100);
  EXPECT_TRUE(joiner_.OpenRows().empty());
}

TEST_F(DeviceOpTest, NewsThatWereNotAnnouncedOpenItAgain) {
  Enter(1, 100, 0);
  Start(1, 150);
  EXPECT_EQ(joiner_.OpenRows().size(), 1u);
  End(1, 400);
  EXPECT_EQ(Row(0).end_ns, 405);
  EXPECT_EQ(joiner_.counters().ended, 1u);
}

TEST_F(DeviceOpTest, AFailedOrCapturedCallEndsItsOp) {
  Enter(1, 100);
  Enter(2, 110);
  Take({.op_id = 1}, RecordKind::kOpReturn, 120, abi::kFlagDevice | abi::kFlagFailed);
  Take({.op_id = 2}, RecordKind::kOpReturn, 130,
       abi::kFlagDevice | abi::kFlagAsync | abi::kFlagCaptured);
  EXPECT_EQ(Row(0).end_ns, 120);
  EXPECT_EQ(Row(1).end_ns, 130);
}

TEST_F(DeviceOpTest, WhatWasCapturedHasNoNumber) {
  Enter(1, 100);
  ASSERT_NE(Row(0).sequence, abi::kNoSequence64);
  Take({.op_id = 1, .sequence = abi::kNoSequence64}, RecordKind::kOpReturn, 130,
       abi::kFlagDevice | abi::kFlagCaptured);
  EXPECT_EQ(Row(0).sequence, abi::kNoSequence64);
  EXPECT_EQ(Row(0).end_ns, 130);
}

TEST_F(DeviceOpTest, TheLastOfSeveralEndsCounts) {
  Enter(1, 100);
  Start(1, 150);
  End(1, 400);
  End(1, 420);
  EXPECT_EQ(Row(0).end_ns, 425);
  EXPECT_EQ(joiner_.counters().ended, 1u);
}

TEST_F(DeviceOpTest, ALostEndIsInferredFromALaterOpOfTheSameCommunicator) {
  Enter(1, 100);
  Start(1, 150);
  Enter(2, 300);
  Start(2, 500);
  End(2, 600);
  EXPECT_EQ(Row(0).end_ns, Row(1).exec_start_ns);
  EXPECT_EQ(joiner_.counters().ends_inferred, 1u);
}

TEST_F(DeviceOpTest, WhatStandsStaysOpen) {
  Enter(1, 100);
  Start(1, 150);
  Enter(2, 160);
  EXPECT_EQ(joiner_.OpenRows().size(), 2u);
}

TEST_F(OpJoinerTest, WhatAStoppedCommunicatorHadInFlightIsOver) {
  const FakeOp stuck{.op_id = 1, .group = 3}, other{.op_id = 2, .group = 4};
  const FakeOp later{.op_id = 3, .group = 3};
  Take(stuck, RecordKind::kOpEnter, 100);
  Take(other, RecordKind::kOpEnter, 110);
  Take(later, RecordKind::kOpEnter, 400);  // of a communicator that was only cut short
  joiner_.Stop(3, 300);
  EXPECT_EQ(joiner_.OpenRows(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(Row(0).end_ns, 300);
  EXPECT_EQ(joiner_.counters().stopped, 1u);
  joiner_.Stop(3, 300);
  EXPECT_EQ(joiner_.counters().stopped, 1u) << "told again and again";
}

TEST_F(OpJoinerTest, AnEndThatWasToldStandsWhenItsCommunicatorIsStopped) {
  const FakeOp op{.op_id = 1, .group = 3, .enter_ns = 100, .end_ns = 200};
  for (const auto& record : RecordsOf(op)) joiner_.Take(record);
  joiner_.Stop(3, 300);
  EXPECT_EQ(Row(0).end_ns, 200);
  EXPECT_EQ(joiner_.counters().stopped, 0u);
}

}  // namespace
}  // namespace fathom::agent
