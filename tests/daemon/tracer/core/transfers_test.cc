#include "daemon/tracer/nccl_plugin/transfers.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace fathom::tracer::nccl_plugin {
namespace {

class TransfersTest : public testing::Test {
 protected:
  TransfersTest() : bytes_(abi::FileBytes(abi::kMinRecords) / sizeof(Line)) {
    auto* base = reinterpret_cast<std::uint8_t*>(bytes_.data());
    state_->region.control = reinterpret_cast<abi::ControlBlock*>(base + abi::kControlOffset);
    state_->region.transfers =
        reinterpret_cast<abi::TransferSlot*>(base + abi::RegionBytes(abi::kMinRecords));
  }

  Handle Start(bool sends, std::uint64_t op = 9, std::uint16_t group = 2) {
    ProxyOpBody proxy = {};
    proxy.channel = 5;
    proxy.peer = 3;
    proxy.steps = 100;
    proxy.sends = sends ? 1 : 0;
    return StartTransfer(*state_, {op, group, 1}, proxy);
  }
  const abi::TransferSlot& slot(Handle handle) const {
    return state_->region.transfers[handle.place()];
  }
  std::vector<std::uint32_t> Counts(Handle handle) const {
    const abi::TransferSlot& s = slot(handle);
    return {s.posted.load(), s.gpu.load(), s.moved.load(), s.done.load()};
  }
  std::uint64_t full() const {
    return state_->region.control->drops[static_cast<int>(abi::DropReason::kTransferTableFull)];
  }

  struct alignas(64) Line {
    std::uint64_t words[8];
  };
  std::vector<Line> bytes_;
  std::unique_ptr<TracerState> state_ = std::make_unique<TracerState>();
};

TEST_F(TransfersTest, ASlotSaysWhoseTransferItIs) {
  const Handle send = Start(true);
  EXPECT_EQ(send.tag(), HandleTag::kTransfer);
  EXPECT_EQ(slot(send).turn.load() % 2, 1u);
  EXPECT_EQ(slot(send).op_id.load(), 9u);
  EXPECT_EQ(slot(send).group_slot, 2u);
  EXPECT_EQ(slot(send).channel, 5u);
  EXPECT_EQ(slot(send).peer, 3u);
  EXPECT_EQ(slot(send).sends, 1u);
  EXPECT_EQ(slot(send).steps, 100u);
  EXPECT_EQ(slot(Start(false)).sends, 0u);
}

TEST_F(TransfersTest, StepsOfASendAreAddedUpAndWaitingForCreditCountsOnce) {
  const Handle send = Start(true), step = send.Step();
  NoteStep(*state_, step, kStepSendGpuWait);
  NoteStep(*state_, step, kStepSendGpuWait);
  EXPECT_EQ(Counts(send), (std::vector<std::uint32_t>{2, 0, 0, 0}));
  for (int look = 0; look < 3; ++look) NoteStep(*state_, step, kStepSendPeerWait);
  EXPECT_EQ(Counts(send), (std::vector<std::uint32_t>{2, 1, 0, 0}));
  NoteStep(*state_, step, kStepSendWait);
  EXPECT_EQ(Counts(send), (std::vector<std::uint32_t>{2, 1, 1, 0}));
  EndStep(*state_, step);
  EXPECT_EQ(Counts(send), (std::vector<std::uint32_t>{2, 1, 1, 1}));
}

TEST_F(TransfersTest, StepsOfAReceiveAreAddedUp) {
  const Handle receive = Start(false), step = receive.Step();
  NoteStep(*state_, step, kStepRecvWait);
  NoteStep(*state_, step, kStepRecvFlushWait);
  EXPECT_EQ(Counts(receive), (std::vector<std::uint32_t>{1, 0, 1, 0}));
  NoteStep(*state_, step, kStepRecvGpuWait);
  EndStep(*state_, step);
  EXPECT_EQ(Counts(receive), (std::vector<std::uint32_t>{1, 1, 1, 1}));
  NoteStep(*state_, step, 99);
  EXPECT_EQ(Counts(receive), (std::vector<std::uint32_t>{1, 1, 1, 1}));
}

TEST_F(TransfersTest, Version3TellsCounts) {
  const Handle send = Start(true), receive = Start(false);
  NoteSteps(*state_, send, kOpSendPosted, 8);
  NoteSteps(*state_, send, kOpSendTransmitted, 5);
  NoteSteps(*state_, send, kOpSendDone, 4);
  EXPECT_EQ(Counts(send), (std::vector<std::uint32_t>{8, 8, 5, 4})) << "the GPU's part is not told";
  NoteSteps(*state_, receive, kOpRecvPosted, 8);
  NoteSteps(*state_, receive, kOpRecvReceived, 7);
  NoteSteps(*state_, receive, kOpRecvTransmitted, 6);
  NoteSteps(*state_, receive, kOpRecvDone, 5);
  EXPECT_EQ(Counts(receive), (std::vector<std::uint32_t>{8, 6, 7, 5}));
}

TEST_F(TransfersTest, WhatIsOverIsFreeAndLateEventsDoNothing) {
  const Handle send = Start(true);
  EndTransfer(*state_, send);
  EXPECT_EQ(slot(send).turn.load() % 2, 0u);
  EXPECT_EQ(slot(send).op_id.load(), 0u);
  NoteStep(*state_, send.Step(), kStepSendGpuWait);
  EndStep(*state_, send.Step());
  EndTransfer(*state_, send);
  EXPECT_EQ(slot(send).turn.load() % 2, 0u);
  EXPECT_EQ(Counts(send), (std::vector<std::uint32_t>{0, 0, 0, 0}));
  Handle astray = send;
  astray.bits |= 0xffff0000u;
  NoteStep(*state_, astray.Step(), kStepSendGpuWait);
}

TEST_F(TransfersTest, AFullTableKeepsTheOldestAndCountsTheOthers) {
  std::vector<Handle> old;
  for (std::uint32_t i = 0; i < abi::kTransferSlots; ++i) old.push_back(Start(true, i + 1));
  EXPECT_EQ(full(), 0u);
  EXPECT_EQ(Start(true, 5000).tag(), HandleTag::kNone);
  EXPECT_EQ(full(), 1u);
  for (std::uint32_t i = 0; i < abi::kTransferSlots; ++i) {
    EXPECT_EQ(slot(old[i]).op_id.load(), i + 1);
  }
}

TEST_F(TransfersTest, AGroupThatIsNoMoreGivesItsSlotsBack) {
  const Handle gone = Start(true, 1, 2), stays = Start(true, 1, 3);
  DropTransfers(*state_, 2);
  EXPECT_EQ(slot(gone).turn.load() % 2, 0u);
  EXPECT_EQ(slot(stays).turn.load() % 2, 1u);
}

}  // namespace
}  // namespace fathom::tracer::nccl_plugin
