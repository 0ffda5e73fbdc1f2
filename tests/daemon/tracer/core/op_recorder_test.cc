#include "daemon/tracer/core/op_recorder.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "daemon/tracer/core/group_table.h"
#include "tests/daemon/tracer/ring_reader.h"

namespace fathom::tracer {
namespace {

using abi::EventRecord;
using abi::RecordKind;

constexpr std::uint64_t kGroup = 0x100;
constexpr std::uint64_t kWork = 0x1000;
constexpr std::uint64_t kBuffer = 0x2000;

// A tracer that is on, with a region in ordinary memory and one group of 4.
class OpRecorderTest : public testing::Test {
 protected:
  OpRecorderTest() : memory_(abi::RegionBytes(abi::kMinRecords) / 8) {
    auto* base = reinterpret_cast<std::uint8_t*>(memory_.data());
    Region& region = state_->region;
    region.control = reinterpret_cast<abi::ControlBlock*>(base + abi::kControlOffset);
    region.groups = reinterpret_cast<abi::GroupSlot*>(base + abi::kGroupsOffset);
    region.arena = base + abi::kArenaOffset;
    region.records = reinterpret_cast<EventRecord*>(base + abi::kRecordsOffset);
    region.slot_mask = abi::kMinRecords - 1;
    state_->epoch = 1;
    state_->sources = abi::kSourceGloo;
    state_->phase.store(Phase::kOn);
    tracer_state.store(state_.get());
    thread_state = ThreadState{};
    ActiveState(abi::kSourceGloo);
    PendingGroup pending;
    AddGroup(*state_, abi::kSourceGloo, kGroup, 0, 4, pending);
  }
  ~OpRecorderTest() override { tracer_state.store(nullptr); }

  static OpCall Call(CollectiveKind kind) {
    OpCall call;
    call.kind = kind;
    call.group = kGroup;
    call.bytes = 12;
    call.bytes_known = true;
    return call;
  }
  // The call is back at once, whatever else this machine does.
  void EndAtOnce(Frame* frame, std::uint64_t work) {
    frame->ticks = CpuTicks();
    EndOp(*state_, frame, work);
  }
  // A collective with one work, as asynchronous ops are.
  void Collective(std::uint64_t tag, std::uint64_t work = kWork) {
    Frame frame;
    BeginOp(*state_, Call(CollectiveKind::kAllReduce), &frame);
    NoteSequence(*state_, kGroup, tag);
    NoteWork(*state_, work);
    EndAtOnce(&frame, work);
  }
  std::vector<EventRecord> All() const {
    std::vector<EventRecord> all;
    EventRecord record;
    for (std::uint64_t t = 0;
         tracer_test::ReadRecord(state_->region.records, abi::kMinRecords - 1, t, &record); ++t) {
      all.push_back(record);
    }
    return all;
  }
  EventRecord Last() const {
    EventRecord record = {};
    const std::uint64_t head = state_->region.control->head.load();
    EXPECT_TRUE(
        tracer_test::ReadRecord(state_->region.records, abi::kMinRecords - 1, head - 1, &record));
    return record;
  }
  const abi::GroupSlot& group() const { return state_->region.groups[0]; }
  std::uint64_t drops(abi::DropReason reason) const {
    return state_->region.control->drops[static_cast<int>(reason)].load();
  }
  static RecordKind KindOf(const EventRecord& r) { return static_cast<RecordKind>(r.record_kind); }

  std::vector<std::uint64_t> memory_;
  std::unique_ptr<TracerState> state_ = std::make_unique<TracerState>();
};

TEST_F(OpRecorderTest, AWorkerMayBeQuickerThanTheCall) {
  Frame op;
  BeginOp(*state_, Call(CollectiveKind::kAllReduce), &op);
  NoteSequence(*state_, kGroup, 0);
  NoteWork(*state_, kWork);
  Frame* caller = thread_state.frame;
  thread_state.frame = nullptr;  // the worker is another thread
  Frame exec;
  BeginExec(*state_, kWork, &exec);
  EndExec(*state_, &exec);
  thread_state.frame = caller;
  EndAtOnce(&op, kWork);
  const auto all = All();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(KindOf(all[1]), RecordKind::kExecStart);
  for (const EventRecord& record : all) EXPECT_EQ(record.op_id, 1u);
}

TEST_F(OpRecorderTest, PointToPointEndsWhereTheBufferDoes) {
  Frame frame;
  BeginOp(*state_, Call(CollectiveKind::kSend), &frame);
  NoteBuffer(*state_, kBuffer);
  NoteBufferDone(*state_, kBuffer);  // a short message goes at once, before there is a work
  NoteBufferWork(*state_, kWork);
  EndAtOnce(&frame, kWork);
  const auto all = All();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(KindOf(all[1]), RecordKind::kExecStart);
  EXPECT_EQ(KindOf(all[2]), RecordKind::kExecEnd);
  EXPECT_EQ(all[2].op_id, 1u);
  EXPECT_EQ(all[0].sequence, abi::kNoSequence64);
  EXPECT_EQ(group().entered.load(), 0u) << "only collectives are counted";
  Frame wait;
  EXPECT_TRUE(BeginWait(*state_, kWork, &wait));
  EndWait(*state_, &wait);
}

TEST_F(OpRecorderTest, BuffersOfCollectivesAreNoOnesEnd) {
  NoteBuffer(*state_, kBuffer);
  NoteBufferDone(*state_, kBuffer);
  EXPECT_TRUE(All().empty());
}

TEST_F(OpRecorderTest, AnAbandonedBufferDoesNotEndLater) {
  Frame frame;
  BeginOp(*state_, Call(CollectiveKind::kRecv), &frame);
  NoteBuffer(*state_, kBuffer);
  EndOp(*state_, &frame, kWork);
  NoteBuffer(*state_, kBuffer);  // its address again, for a collective
  const std::size_t before = All().size();
  NoteBufferDone(*state_, kBuffer);
  EXPECT_EQ(All().size(), before);
}

TEST_F(OpRecorderTest, AWorkThatIsGoneIsNobodysWork) {
  Collective(0);
  NoteWorkGone(*state_, kWork);
  Frame wait;
  EXPECT_FALSE(BeginWait(*state_, kWork, &wait)) << "another object at the same address";
  Frame exec;
  BeginExec(*state_, kWork, &exec);
  EXPECT_EQ(Last().op_id, 0u);
  EXPECT_EQ(Last().extra, kWork);
  EndExec(*state_, &exec);
}

TEST_F(OpRecorderTest, AnOpInSeveralWorksStaysBalanced) {
  Frame frame;
  BeginOp(*state_, Call(CollectiveKind::kReduceScatter), &frame);
  NoteSequence(*state_, kGroup, 0);
  NoteSequence(*state_, kGroup, 1);
  NoteWork(*state_, kWork);
  NoteWork(*state_, kWork + 64);
  EndOp(*state_, &frame, kWork + 128);
  EXPECT_EQ(Last().sequence, 0u) << "the first number it drew";
  for (const std::uint64_t work : {kWork, kWork + 64}) {
    Frame exec;
    BeginExec(*state_, work, &exec);
    EXPECT_EQ(Last().op_id, 1u);
    EndExec(*state_, &exec);
  }
  EXPECT_EQ(group().entered.load(), group().completed.load());
  Collective(2);
  EXPECT_EQ(Last().sequence, 2u);
  EXPECT_EQ(drops(abi::DropReason::kSequenceMismatch), 0u);
}

TEST_F(OpRecorderTest, TheFrameworksNumberWinsAndTheDifferenceIsCounted) {
  Collective(0);
  Collective(5);
  EXPECT_EQ(Last().sequence, 5u);
  EXPECT_EQ(drops(abi::DropReason::kSequenceMismatch), 1u);
  Collective(6);
  EXPECT_EQ(drops(abi::DropReason::kSequenceMismatch), 1u);
}

TEST_F(OpRecorderTest, AReturnIsToldWhereItSaysSomething) {
  Collective(0);
  EXPECT_EQ(KindOf(Last()), RecordKind::kOpEnter) << "one work, the number that was due, soon back";
  Frame slow;
  BeginOp(*state_, Call(CollectiveKind::kAllReduce), &slow);
  NoteSequence(*state_, kGroup, 1);
  NoteWork(*state_, kWork);
  slow.ticks = CpuTicks() - 10'000'000;  // some milliseconds ago
  EndOp(*state_, &slow, kWork);
  EXPECT_EQ(KindOf(Last()), RecordKind::kOpReturn);
  EXPECT_EQ(Last().flags, abi::kFlagAsync);
  EXPECT_EQ(Last().extra, kWork);
  EXPECT_EQ(Last().bytes, 12u) << "it repeats its entry";
  EXPECT_EQ(Last().peer, abi::kNoPeer);
  Collective(7);
  EXPECT_EQ(KindOf(Last()), RecordKind::kOpReturn) << "another number than the one told";
  EXPECT_EQ(Last().sequence, 7u);
}

TEST_F(OpRecorderTest, AWorkThatTheTableHasNoRoomForIsToldAtReturn) {
  std::uint64_t work = 0x10000;
  for (std::uint64_t tag = 0; drops(abi::DropReason::kInternal) == 0; ++tag, work += 64) {
    ASSERT_LT(tag, 10'000u);
    Collective(tag, work);
  }
  EXPECT_EQ(KindOf(Last()), RecordKind::kOpReturn);
  EXPECT_EQ(Last().extra, work - 64);
}

TEST_F(OpRecorderTest, WithoutTagsItCountsAndSaysSo) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    Frame frame;
    BeginOp(*state_, Call(CollectiveKind::kAllReduce), &frame);
    EndOp(*state_, &frame, kWork);
    EXPECT_EQ(Last().sequence, i);
    EXPECT_TRUE(Last().flags & abi::kFlagSequenceGuess);
  }
}

TEST_F(OpRecorderTest, ACallThatThrowsIsOverAndTakesNoNumber) {
  Frame frame;
  BeginOp(*state_, Call(CollectiveKind::kAllReduce), &frame);
  FailFrame();
  EXPECT_EQ(KindOf(Last()), RecordKind::kOpReturn);
  EXPECT_TRUE(Last().flags & abi::kFlagFailed);
  EXPECT_EQ(thread_state.frame, nullptr);
  EXPECT_EQ(group().entered.load(), group().completed.load());
  Collective(0);
  EXPECT_EQ(drops(abi::DropReason::kSequenceMismatch), 0u);
}

TEST_F(OpRecorderTest, WhatAnOpDoesInsideIsItsOwnAffair) {
  Frame frame;
  BeginOp(*state_, Call(CollectiveKind::kBarrier), &frame);
  EXPECT_TRUE(InsideOp());
  NoteBuffer(*state_, kBuffer);
  NoteBufferWork(*state_, kWork);  // a monitored barrier sends and receives
  EndOp(*state_, &frame, 0);
  EXPECT_EQ(All().size(), 2u);
  EXPECT_EQ(group().completed.load(), 1u) << "done at return";
  Frame wait;
  EXPECT_FALSE(BeginWait(*state_, kWork, &wait));
}

TEST_F(OpRecorderTest, TheEndOfAnExecutionIsWrittenOnceAndBeforeWaitersWake) {
  Collective(0);
  Frame exec;
  BeginExec(*state_, kWork, &exec);
  NoteExecDone(*state_, true);
  EXPECT_EQ(KindOf(Last()), RecordKind::kExecEnd);
  EXPECT_EQ(Last().flags, abi::kFlagFailed);
  const std::size_t before = All().size();
  EndExec(*state_, &exec);
  EXPECT_EQ(All().size(), before);
  EXPECT_EQ(group().completed.load(), 1u);
  EXPECT_EQ(thread_state.frame, nullptr);
}

TEST_F(OpRecorderTest, AFrameLeftBehindByAJumpIsForgotten) {
  Frame frames[2];  // frames[0] lies deeper in the stack than frames[1]
  BeginOp(*state_, Call(CollectiveKind::kAllReduce), &frames[0]);
  BeginOp(*state_, Call(CollectiveKind::kAllReduce), &frames[1]);
  EXPECT_EQ(frames[1].outer, nullptr);
  EndOp(*state_, &frames[1], kWork);
  EXPECT_EQ(thread_state.frame, nullptr);
}

TEST_F(OpRecorderTest, AnOpOfAnUnknownGroupHasNoSlotAndNoSequence) {
  Frame frame;
  OpCall call = Call(CollectiveKind::kAllReduce);
  call.group = 0x999;
  BeginOp(*state_, call, &frame);
  EndOp(*state_, &frame, kWork);
  EXPECT_EQ(Last().group_slot, abi::kNoGroupSlot);
  EXPECT_EQ(Last().sequence, abi::kNoSequence64);
}

}  // namespace
}  // namespace fathom::tracer
