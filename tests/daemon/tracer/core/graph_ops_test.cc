#include "daemon/tracer/core/graph_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "daemon/tracer/core/group_table.h"
#include "daemon/tracer/core/table/handle_table.h"
#include "tests/daemon/tracer/ring_reader.h"

namespace fathom::tracer {
namespace {

using abi::EventRecord;
using abi::RecordKind;

constexpr std::uint64_t kGroup = 0x100;
constexpr std::uint64_t kGraph = 0x1000, kExecutable = 0x2000, kOther = 0x3000;
constexpr std::uint64_t kCapture = 7;

// A tracer that is on, with one communicator of 4; each test is an activation of its own.
class GraphOpsTest : public testing::Test {
 protected:
  GraphOpsTest() : memory_(abi::RegionBytes(abi::kMinRecords) / 8) {
    static std::uint32_t epochs = 0;
    Region& region = state_->region;
    region.control = reinterpret_cast<abi::ControlBlock*>(base() + abi::kControlOffset);
    region.groups = reinterpret_cast<abi::GroupSlot*>(base() + abi::kGroupsOffset);
    region.arena = base() + abi::kArenaOffset;
    region.records = reinterpret_cast<EventRecord*>(base() + abi::kRecordsOffset);
    region.slot_mask = abi::kMinRecords - 1;
    state_->epoch = ++epochs;
    state_->sources = abi::kSourceNccl | abi::kSourceCuda;
    state_->phase.store(Phase::kOn);
    tracer_state.store(state_.get());
    thread_state = ThreadState{};
    ActiveState(abi::kSourceNccl);
    PendingGroup pending;
    AddGroup(*state_, abi::kSourceNccl, kGroup, 0, 4, pending);
  }
  ~GraphOpsTest() override { tracer_state.store(nullptr); }

  std::uint8_t* base() { return reinterpret_cast<std::uint8_t*>(memory_.data()); }

  CapturedOp Add(std::uint64_t bytes, std::uint64_t capture = kCapture) {
    OpCall call;
    call.kind = CollectiveKind::kAllReduce;
    call.bytes = bytes;
    call.bytes_known = true;
    return AddCapturedOp(*state_, capture, call, {.group_slot = 0, .stream = 9, .reduction = 3});
  }
  // A graph of one op that can be launched.
  CapturedOp Simple() {
    const CapturedOp op = Add(64);
    EndCapture(*state_, kCapture, kGraph);
    InstantiateGraph(*state_, kExecutable, kGraph);
    return op;
  }
  // After its first event.
  CapturedOp Known() {
    const CapturedOp op = Simple();
    Launch();
    EXPECT_EQ(TakeReplay(op).op_id, 0u);
    Launched();
    return op;
  }
  void Launch(std::uint64_t executable = kExecutable) { LaunchGraph(*state_, executable); }
  // Ops entered since the last call.
  std::vector<EventRecord> Launched() {
    std::vector<EventRecord> entered;
    EventRecord record;
    for (; tracer_test::ReadRecord(state_->region.records, abi::kMinRecords - 1, read_, &record);
         ++read_) {
      if (static_cast<RecordKind>(record.record_kind) == RecordKind::kOpEnter)
        entered.push_back(record);
    }
    return entered;
  }
  std::uint64_t drops() const {
    return state_->region.control->drops[static_cast<int>(abi::DropReason::kGraphTableFull)];
  }
  const abi::GroupSlot& group() const { return state_->region.groups[0]; }
  static bool IsPromised(const EventRecord& record) {
    return (record.flags & abi::kFlagAsync) != 0;
  }

  std::vector<std::uint64_t> memory_;
  std::unique_ptr<TracerState> state_ = std::make_unique<TracerState>();
  std::uint64_t read_ = 0;
};

TEST_F(GraphOpsTest, ALaunchEntersTheOpsInTheOrderOfTheirCapture) {
  Add(8);
  Add(16);
  EndCapture(*state_, kCapture, kGraph);
  InstantiateGraph(*state_, kExecutable, kGraph);
  EXPECT_TRUE(Launched().empty()) << "what is captured does not run";
  Launch();
  Launch();
  const auto entered = Launched();
  ASSERT_EQ(entered.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(entered[i].bytes, i % 2 == 0 ? 8u : 16u);
    EXPECT_EQ(entered[i].sequence, i);
    EXPECT_EQ(entered[i].extra, 9u) << "the stream";
    EXPECT_EQ(entered[i].reduction, 3u);
    EXPECT_FALSE(IsPromised(entered[i]));
  }
  EXPECT_EQ(group().entered.load(), 4u);
  EXPECT_EQ(group().completed.load(), 4u);
}

TEST_F(GraphOpsTest, AnEndIsPromisedOnceAnEventHasCome) {
  const CapturedOp op = Known();
  Launch();
  const auto entered = Launched();
  ASSERT_EQ(entered.size(), 1u);
  EXPECT_TRUE(IsPromised(entered[0]));
  const OpRef found = TakeReplay(op);
  EXPECT_EQ(found.op_id, entered[0].op_id);
  EXPECT_EQ(found.group_slot, 0u);
  EXPECT_EQ(group().completed.load(), 1u) << "the first launch's; the second runs";
}

TEST_F(GraphOpsTest, LaunchesAheadKeepTheirOrder) {
  const CapturedOp op = Known();
  for (std::uint32_t i = 0; i < kAhead + 3; ++i) Launch();
  const auto entered = Launched();
  for (std::uint32_t i = 0; i < entered.size(); ++i) EXPECT_EQ(IsPromised(entered[i]), i < kAhead);
  for (std::uint32_t i = 0; i < kAhead; ++i) EXPECT_EQ(TakeReplay(op).op_id, entered[i].op_id);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(TakeReplay(op).op_id, 0u);
  Launch();
  EXPECT_EQ(TakeReplay(op).op_id, Launched().at(0).op_id) << "in step again";
}

TEST_F(GraphOpsTest, LaunchesAndEventsComeOnTwoThreads) {
  const CapturedOp op = Known();
  constexpr std::uint32_t kLaunches = 20'000;
  std::atomic<std::uint32_t> launched{0};
  std::vector<std::uint64_t> told;
  std::thread events([&] {  // of CUDA's: one for each launch, after it
    for (std::uint32_t i = 0; i < kLaunches; ++i) {
      while (launched.load() <= i) std::this_thread::yield();
      told.push_back(TakeReplay(op).op_id);
    }
  });
  std::vector<std::uint64_t> promised;
  for (std::uint32_t i = 0; i < kLaunches; ++i) {
    Launch();
    ++launched;
    const auto entered = Launched();
    ASSERT_EQ(entered.size(), 1u);
    promised.push_back(IsPromised(entered[0]) ? entered[0].op_id : 0);
  }
  events.join();
  EXPECT_EQ(told, promised) << "each end that was promised, and no other";
  EXPECT_GT(std::count_if(told.begin(), told.end(), [](std::uint64_t id) { return id != 0; }), 0);
}

TEST_F(GraphOpsTest, AnEventOfALaunchThatWasNotSeenIsNobodys) {
  const CapturedOp op = Known();
  EXPECT_EQ(TakeReplay(op).op_id, 0u) << "a parent graph ran it";
  Launch();
  EXPECT_EQ(TakeReplay(op).op_id, Launched().at(0).op_id);
  EXPECT_EQ(TakeReplay({op.place, op.generation + 1}).op_id, 0u);
  EXPECT_EQ(TakeReplay({}).op_id, 0u);
  EXPECT_EQ(TakeReplay({kGraphOps + 1, 0}).op_id, 0u);
}

TEST_F(GraphOpsTest, AFailedLaunchLeavesNothingInFlight) {
  const CapturedOp op = Known();
  Launch();
  NoteLaunchFailed(*state_, kExecutable);
  EXPECT_EQ(group().completed.load(), group().entered.load());
  Launched();
  Launch();
  EXPECT_EQ(TakeReplay(op).op_id, Launched().at(0).op_id);
}

TEST_F(GraphOpsTest, AGraphMayGoBeforeWhatWasMadeOfIt) {
  const CapturedOp op = Simple();
  ForgetGraph(*state_, kGraph);
  Launch();
  EXPECT_EQ(Launched().size(), 1u);
  ForgetExecutable(*state_, kExecutable);
  Launch();
  EXPECT_TRUE(Launched().empty());
  EXPECT_EQ(TakeReplay(op).op_id, 0u);
}

TEST_F(GraphOpsTest, AHandleThatIsUsedAgainIsAnotherGraph) {
  Simple();
  ForgetGraph(*state_, kGraph);
  InstantiateGraph(*state_, kExecutable, kGraph);  // built by hand at the same address
  Launch();
  EXPECT_TRUE(Launched().empty());
}

TEST_F(GraphOpsTest, AnExecutableIsGivenAnotherGraph) {
  Simple();
  Add(128, 8);
  EndCapture(*state_, 8, kOther);
  InstantiateGraph(*state_, kExecutable, kOther);
  Launch();
  const auto entered = Launched();
  ASSERT_EQ(entered.size(), 1u);
  EXPECT_EQ(entered[0].bytes, 128u);
}

TEST_F(GraphOpsTest, CapturesAtATimeAreKeptApart) {
  Add(8, 1);
  Add(16, 2);
  Add(8, 1);
  EndCapture(*state_, 2, kOther);
  EndCapture(*state_, 1, kGraph);
  InstantiateGraph(*state_, kExecutable, kGraph);
  Launch();
  const auto entered = Launched();
  ASSERT_EQ(entered.size(), 2u);
  for (const EventRecord& record : entered) EXPECT_EQ(record.bytes, 8u);
}

TEST_F(GraphOpsTest, ACaptureMayGoOnWithAGraph) {
  Add(8);
  EndCapture(*state_, kCapture, kGraph);
  Add(16);
  EndCapture(*state_, kCapture, kGraph);
  InstantiateGraph(*state_, kExecutable, kGraph);
  Launch();
  EXPECT_EQ(Launched().size(), 2u);
}

TEST_F(GraphOpsTest, WhatFailedIsInNoGraph) {
  Add(8);
  EndCapture(*state_, kCapture, 0);
  InstantiateGraph(*state_, kExecutable, kGraph);
  Launch();
  EXPECT_TRUE(Launched().empty()) << "the capture";
  Add(8);
  DropCapturedOp(Add(16));
  EndCapture(*state_, kCapture, kGraph);
  InstantiateGraph(*state_, kExecutable, kGraph);
  Launch();
  EXPECT_EQ(Launched().size(), 1u) << "one of its calls";
}

TEST_F(GraphOpsTest, ACommunicatorThatIsGoneIsNotTold) {
  Simple();
  RemoveGroup(*state_, kGroup);
  Launch();
  EXPECT_TRUE(Launched().empty());
}

TEST_F(GraphOpsTest, AForkedChildHasNoGraphs) {
  Simple();
  ++state_->epoch;
  Launch();
  EXPECT_TRUE(Launched().empty());
}

TEST_F(GraphOpsTest, AGraphForWhichThereIsNoRoomIsNotToldInParts) {
  for (std::size_t i = 0; i < kGraphOps + 2; ++i) Add(8);
  EXPECT_EQ(drops(), 2u);
  EndCapture(*state_, kCapture, kGraph);
  InstantiateGraph(*state_, kExecutable, kGraph);
  Launch();
  EXPECT_TRUE(Launched().empty());
  Simple();
  Launch();
  EXPECT_EQ(Launched().size(), 1u) << "its places are free again";
}

TEST(HandleTableTest, HoldsAsManyAsItHasPlaces) {
  auto table = std::make_unique<HandleTable>();
  const auto handle = [](std::size_t i) { return 0x7f0000000000 + i * 64; };
  for (std::size_t i = 0; i < HandleTable::kPlaces; ++i) {
    ASSERT_TRUE(table->Insert(handle(i), static_cast<std::uint32_t>(i + 1)));
  }
  EXPECT_FALSE(table->Insert(handle(HandleTable::kPlaces), 1));
  EXPECT_EQ(table->Lookup(handle(HandleTable::kPlaces)), 0u);
  EXPECT_EQ(table->Remove(handle(5)), 6u);
  EXPECT_EQ(table->Remove(handle(5)), 0u);
  EXPECT_TRUE(table->Insert(handle(HandleTable::kPlaces), 77));
  for (std::size_t i = 0; i < HandleTable::kPlaces; ++i) {
    EXPECT_EQ(table->Lookup(handle(i)), i == 5 ? 0 : i + 1);
  }
  EXPECT_TRUE(table->Insert(handle(1), 9)) << "in place of what it was tied to";
  EXPECT_EQ(table->Lookup(handle(1)), 9u);
}

}  // namespace
}  // namespace fathom::tracer
