#include "daemon/tracer/core/source_switch.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "daemon/tracer/core/group_table.h"
#include "daemon/tracer/core/marks.h"
#include "daemon/tracer/core/op_recorder.h"

namespace fathom::tracer {
namespace {

constexpr std::uint64_t kGroup = 0x100;
constexpr std::uint64_t kOther = 0x200;

// A tracer that is on, with two groups of 2.
class SourceSwitchTest : public testing::Test {
 protected:
  SourceSwitchTest() : memory_(abi::RegionBytes(abi::kMinRecords) / 8) {
    auto* base = reinterpret_cast<std::uint8_t*>(memory_.data());
    Region& region = state_->region;
    region.control = reinterpret_cast<abi::ControlBlock*>(base + abi::kControlOffset);
    region.groups = reinterpret_cast<abi::GroupSlot*>(base + abi::kGroupsOffset);
    region.arena = base + abi::kArenaOffset;
    region.records = reinterpret_cast<abi::EventRecord*>(base + abi::kRecordsOffset);
    region.slot_mask = abi::kMinRecords - 1;
    state_->epoch = 1;
    state_->sources = abi::kSourceGloo | abi::kSourcePython;
    state_->phase.store(Phase::kOn);
    tracer_state.store(state_.get());
    thread_state = ThreadState{};
    ActiveState(abi::kSourceGloo);
    for (const std::uint64_t group : {kGroup, kOther}) {
      PendingGroup pending;
      AddGroup(*state_, abi::kSourceGloo, group, 0, 2, pending);
    }
  }
  ~SourceSwitchTest() override { tracer_state.store(nullptr); }

  abi::ControlBlock& control() { return *state_->region.control; }
  // As the agent writes it.
  void Order(std::uint32_t ticket, std::uint64_t at, std::uint32_t off, std::uint32_t mask = 0) {
    abi::SwitchOrder& order = control().switch_order;
    order.ticket.store(0);
    order.group_slot.store(0);
    order.at_sequence.store(at);
    order.sources_disabled.store(off);
    order.plugin_mask.store(mask);
    order.ticket.store(ticket);
  }
  void Enter(std::uint64_t group, std::uint64_t tag,
             CollectiveKind kind = CollectiveKind::kAllReduce) {
    OpCall call;
    call.kind = kind;
    call.group = group;
    Frame frame;
    BeginOp(*state_, call, &frame);
    NoteSequence(*state_, group, tag);
    EndOp(*state_, &frame, 0);
  }
  std::uint32_t off() { return control().sources_disabled.load(); }
  std::uint64_t head() { return control().head.load(); }

  std::vector<std::uint64_t> memory_;
  std::unique_ptr<TracerState> state_ = std::make_unique<TracerState>();
};

TEST_F(SourceSwitchTest, TakesHoldAtTheOpThatWasNamed) {
  Order(1, 2, abi::kSourcePython, abi::kPluginMaskSet | 6);
  Enter(kGroup, 0);
  Enter(kGroup, 1);
  EXPECT_EQ(off(), 0u);
  EXPECT_EQ(control().switch_state.ticket.load(), 0u);
  Enter(kGroup, 2);
  EXPECT_EQ(off(), std::uint32_t{abi::kSourcePython});
  EXPECT_EQ(control().plugin_mask.load(), abi::kPluginMaskSet | 6);
  EXPECT_EQ(control().switch_state.ticket.load(), 1u);
  EXPECT_EQ(control().switch_state.at_sequence.load(), 2u);
}

TEST_F(SourceSwitchTest, NoOtherGroupAndNoMessageCounts) {
  Order(1, 0, abi::kSourcePython);
  Enter(kOther, 7);
  Enter(kGroup, 0, CollectiveKind::kSend);
  EXPECT_EQ(off(), 0u);
  Enter(kGroup, 0);
  EXPECT_NE(off(), 0u);
}

TEST_F(SourceSwitchTest, LateIsAtTheNextOpAndOnlyOnce) {
  for (std::uint64_t tag = 0; tag < 5; ++tag) Enter(kGroup, tag);
  Order(1, 2, abi::kSourcePython);
  Enter(kGroup, 5);
  EXPECT_EQ(control().switch_state.at_sequence.load(), 5u);
  control().sources_disabled.store(0);
  Enter(kGroup, 6);
  EXPECT_EQ(off(), 0u) << "an order takes hold once";
  Order(2, 0, abi::kSourcePython);
  Enter(kGroup, 7);
  EXPECT_NE(off(), 0u) << "a newer one does again";
}

TEST_F(SourceSwitchTest, WhatIsBeingWrittenIsNoOrder) {
  Order(1, 0, abi::kSourcePython);
  control().switch_order.ticket.store(0);
  Enter(kGroup, 0);
  EXPECT_EQ(off(), 0u);
}

TEST_F(SourceSwitchTest, CommunicationIsNeverSwitchedOff) {
  Order(1, 0, ~0u);
  Enter(kGroup, 0);
  EXPECT_EQ(off(), abi::kSwitchableSources);
  const std::uint64_t before = head();
  Enter(kGroup, 1);
  EXPECT_GT(head(), before);
}

TEST_F(SourceSwitchTest, WhatBeganIsToldToItsEnd) {
  const std::uint64_t open = BeginMark(abi::kSourcePython, abi::MarkKind::kGcBegin, 2);
  Order(1, 0, abi::kSourcePython);
  Enter(kGroup, 0);
  const std::uint64_t before = head();
  EndMark(abi::kSourcePython, abi::MarkKind::kGcEnd, 0, open);
  EXPECT_EQ(head(), before + 1) << "else it would look as if it still went on";
  EXPECT_EQ(BeginMark(abi::kSourcePython, abi::MarkKind::kGcBegin, 2), 0u);
  EXPECT_EQ(head(), before + 1);
}

}  // namespace
}  // namespace fathom::tracer
