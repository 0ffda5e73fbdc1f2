// Pins the layout of the shared memory: a change here breaks every running tracer.
#include <gtest/gtest.h>

#include <cstring>

#include "daemon/abi/device_calls.h"
#include "daemon/abi/products.h"
#include "daemon/abi/ring_layout.h"
#include "daemon/abi/window_file.h"

namespace fathom::abi {
namespace {

template <typename T>
std::size_t OffsetIn(const RegionHeader& header, const T& member) {
  return static_cast<std::size_t>(reinterpret_cast<const char*>(&member) -
                                  reinterpret_cast<const char*>(&header));
}

TEST(LayoutTest, MagicReadsAsTextInMemory) {
  const std::uint64_t magic = kMagic;
  char text[9] = {};
  std::memcpy(text, &magic, 8);
  EXPECT_STREQ(text, "FTHMRNG1");
}

TEST(LayoutTest, RecordFieldsLieWhereDocumented) {
  EXPECT_EQ(sizeof(EventRecord), 64u);
  EXPECT_EQ(offsetof(EventRecord, commit), 0u);
  EXPECT_EQ(offsetof(EventRecord, time_ns), 8u);
  EXPECT_EQ(offsetof(EventRecord, thread_id), 16u);
  EXPECT_EQ(offsetof(EventRecord, record_kind), 20u);
  EXPECT_EQ(offsetof(EventRecord, collective_kind), 21u);
  EXPECT_EQ(offsetof(EventRecord, data_type), 22u);
  EXPECT_EQ(offsetof(EventRecord, flags), 23u);
  EXPECT_EQ(offsetof(EventRecord, group_slot), 24u);
  EXPECT_EQ(offsetof(EventRecord, reduction), 26u);
  EXPECT_EQ(offsetof(EventRecord, reserved), 27u);
  EXPECT_EQ(offsetof(EventRecord, peer), 28u);
  EXPECT_EQ(offsetof(EventRecord, op_id), 32u);
  EXPECT_EQ(offsetof(EventRecord, sequence), 40u);
  EXPECT_EQ(offsetof(EventRecord, bytes), 48u);
  EXPECT_EQ(offsetof(EventRecord, extra), 56u);
}

TEST(LayoutTest, HeaderFieldsLieWhereDocumented) {
  const RegionHeader header = {};
  EXPECT_EQ(OffsetIn(header, header.magic), 0u);
  EXPECT_EQ(OffsetIn(header, header.version_major), 8u);
  EXPECT_EQ(OffsetIn(header, header.region_bytes), 16u);
  EXPECT_EQ(OffsetIn(header, header.record_bytes), 24u);
  EXPECT_EQ(OffsetIn(header, header.record_count), 28u);
  EXPECT_EQ(OffsetIn(header, header.control_offset), 32u);
  EXPECT_EQ(OffsetIn(header, header.groups_offset), 40u);
  EXPECT_EQ(OffsetIn(header, header.arena_offset), 56u);
  EXPECT_EQ(OffsetIn(header, header.records_offset), 72u);
  EXPECT_EQ(OffsetIn(header, header.pid), 80u);
  EXPECT_EQ(OffsetIn(header, header.generation), 84u);
  EXPECT_EQ(OffsetIn(header, header.start_time_ticks), 88u);
  EXPECT_EQ(OffsetIn(header, header.created_mono_ns), 96u);
  EXPECT_EQ(OffsetIn(header, header.created_wall_ns), 104u);
  EXPECT_EQ(OffsetIn(header, header.rank), 112u);
  EXPECT_EQ(OffsetIn(header, header.world_size), 116u);
  EXPECT_EQ(OffsetIn(header, header.local_rank), 120u);
  EXPECT_EQ(OffsetIn(header, header.restart_count), 124u);
  EXPECT_EQ(OffsetIn(header, header.sources), 128u);
  EXPECT_EQ(OffsetIn(header, header.identity_source), 132u);
  EXPECT_EQ(OffsetIn(header, header.job), 136u);
  EXPECT_EQ(OffsetIn(header, header.run_id), 200u);
  EXPECT_EQ(OffsetIn(header, header.tracer_version), 264u);
  EXPECT_EQ(OffsetIn(header, header.ready), 280u);
  EXPECT_EQ(OffsetIn(header, header.transfers_offset), 288u);
  EXPECT_EQ(OffsetIn(header, header.transfer_slots), 296u);
  EXPECT_EQ(OffsetIn(header, header.transfer_bytes), 300u);
}

TEST(LayoutTest, TransfersFollowTheRecords) {
  EXPECT_EQ(FileBytes(kDefaultRecords), RegionBytes(kDefaultRecords) + 1024u * 64u);
  EXPECT_EQ(offsetof(TransferSlot, turn), 0u);
  EXPECT_EQ(offsetof(TransferSlot, peer), 4u);
  EXPECT_EQ(offsetof(TransferSlot, op_id), 8u);
  EXPECT_EQ(offsetof(TransferSlot, group_slot), 16u);
  EXPECT_EQ(offsetof(TransferSlot, channel), 18u);
  EXPECT_EQ(offsetof(TransferSlot, sends), 19u);
  EXPECT_EQ(offsetof(TransferSlot, steps), 20u);
  EXPECT_EQ(offsetof(TransferSlot, posted), 24u);
  EXPECT_EQ(offsetof(TransferSlot, gpu), 28u);
  EXPECT_EQ(offsetof(TransferSlot, moved), 32u);
  EXPECT_EQ(offsetof(TransferSlot, done), 36u);
}

TEST(LayoutTest, ControlWordsOfTheTwoSidesLieOnDifferentLines) {
  EXPECT_EQ(offsetof(ControlBlock, sources_disabled), 0u);
  EXPECT_EQ(offsetof(ControlBlock, agent_heartbeat_ns), 8u);
  EXPECT_EQ(offsetof(ControlBlock, head), 64u);
  EXPECT_EQ(offsetof(ControlBlock, next_op_id), 128u);
  EXPECT_EQ(offsetof(ControlBlock, heartbeat_ns), 192u);
  EXPECT_EQ(offsetof(ControlBlock, group_count), 200u);
  EXPECT_EQ(offsetof(ControlBlock, arena_used), 204u);
  EXPECT_EQ(offsetof(ControlBlock, exiting), 208u);
  EXPECT_EQ(offsetof(ControlBlock, drops), 256u);
  EXPECT_EQ(offsetof(ControlBlock, plugin_mask), 4u);
  EXPECT_EQ(offsetof(ControlBlock, switch_order), 16u);
  EXPECT_EQ(offsetof(ControlBlock, switch_state), 216u);
  EXPECT_EQ(offsetof(ControlBlock, window_request), 384u);
  EXPECT_EQ(offsetof(ControlBlock, window_state), 448u);
}

TEST(LayoutTest, WindowFieldsLieWhereDocumented) {
  EXPECT_EQ(offsetof(WindowRequest, ticket), 0u);
  EXPECT_EQ(offsetof(WindowRequest, group_slot), 4u);
  EXPECT_EQ(offsetof(WindowRequest, open_sequence), 8u);
  EXPECT_EQ(offsetof(WindowRequest, close_sequence), 16u);
  EXPECT_EQ(offsetof(WindowRequest, deadline_ns), 24u);
  EXPECT_EQ(offsetof(WindowRequest, sources), 32u);
  EXPECT_EQ(offsetof(WindowState, phase), 4u);
  EXPECT_EQ(offsetof(WindowState, opened_sequence), 8u);
  EXPECT_EQ(offsetof(WindowState, opened_ns), 24u);
  EXPECT_EQ(offsetof(WindowState, reason), 40u);
  EXPECT_EQ(offsetof(WindowState, records), 48u);
}

TEST(LayoutTest, SwitchFieldsLieWhereDocumented) {
  EXPECT_EQ(offsetof(SwitchOrder, group_slot), 4u);
  EXPECT_EQ(offsetof(SwitchOrder, at_sequence), 8u);
  EXPECT_EQ(offsetof(SwitchOrder, sources_disabled), 16u);
  EXPECT_EQ(offsetof(SwitchOrder, plugin_mask), 20u);
  EXPECT_EQ(offsetof(SwitchState, at_sequence), 8u);
}

TEST(LayoutTest, WindowFileLiesWhereDocumented) {
  EXPECT_EQ(sizeof(WindowRecord), 32u);
  EXPECT_EQ(offsetof(WindowRecord, duration_ns), 8u);
  EXPECT_EQ(offsetof(WindowRecord, name), 12u);
  EXPECT_EQ(offsetof(WindowRecord, kind), 14u);
  EXPECT_EQ(offsetof(WindowRecord, stream), 16u);
  EXPECT_EQ(offsetof(WindowRecord, bytes), 24u);
  EXPECT_EQ(offsetof(WindowFileHeader, opened), 48u);
  EXPECT_EQ(offsetof(WindowFileHeader, record_count), 96u);
  EXPECT_EQ(kWindowNamesOffset, 4096u);
  EXPECT_EQ(kWindowRecordsOffset, 4096u + 1024u * 128u);
}

TEST(LayoutTest, DeviceCallsComeBackAsTheyWerePacked) {
  const DeviceCalls calls = {.launches = 0x12345678,
                             .copies = 1,
                             .memsets = 2,
                             .graphs = 3,
                             .captured = 0xffff,
                             .events = 4,
                             .waits = 5,
                             .created = 6,
                             .sampled = 0x8001,
                             .sampled_ns = 0xfedcba98,
                             .longest_ns = 0x76543210};
  EventRecord record = {};
  PackDeviceCalls(calls, record);
  EXPECT_EQ(UnpackDeviceCalls(record), calls);
  EXPECT_EQ(record.op_id, 0u);
  EXPECT_EQ(record.extra, 0x76543210fedcba98u);
}

TEST(LayoutTest, ProductsComeBackAsTheyWerePacked) {
  const Products products = {FlopClass::kFp8, 0x123456789abcdef0, 7, 0xfedcba98, 0x76543210, 9};
  EventRecord record = {};
  PackProducts(products, record);
  EXPECT_EQ(UnpackProducts(record), products);
  EXPECT_EQ(record.op_id, 0u);
  EXPECT_EQ(record.data_type, 4);
  EXPECT_EQ(record.sequence, 0xfedcba9800000007u);
}

TEST(LayoutTest, GroupFieldsLieWhereDocumented) {
  EXPECT_EQ(sizeof(GroupSlot), 256u);
  EXPECT_EQ(offsetof(GroupSlot, state), 0u);
  EXPECT_EQ(offsetof(GroupSlot, ordinal), 4u);
  EXPECT_EQ(offsetof(GroupSlot, size), 8u);
  EXPECT_EQ(offsetof(GroupSlot, my_rank), 12u);
  EXPECT_EQ(offsetof(GroupSlot, member_form), 16u);
  EXPECT_EQ(offsetof(GroupSlot, member_offset), 32u);
  EXPECT_EQ(offsetof(GroupSlot, address), 40u);
  EXPECT_EQ(offsetof(GroupSlot, name), 48u);
  EXPECT_EQ(offsetof(GroupSlot, description), 112u);
  EXPECT_EQ(offsetof(GroupSlot, entered), 176u);
  EXPECT_EQ(offsetof(GroupSlot, completed), 192u);
  EXPECT_EQ(offsetof(GroupSlot, device), 208u);
  EXPECT_EQ(offsetof(GroupSlot, bus_id), 212u);
}

TEST(LayoutTest, RegionsDoNotOverlap) {
  EXPECT_EQ(kControlOffset, 4096u);
  EXPECT_EQ(kGroupsOffset, 8192u);
  EXPECT_EQ(kArenaOffset, 8192u + 65536u);
  EXPECT_EQ(kRecordsOffset, 8192u + 65536u + 65536u);
  EXPECT_EQ(RegionBytes(kDefaultRecords), kRecordsOffset + 1024u * 1024u);
}

TEST(LayoutTest, NumbersAreNeverReassigned) {
  EXPECT_EQ(static_cast<int>(RecordKind::kOpEnter), 1);
  EXPECT_EQ(static_cast<int>(RecordKind::kOpReturn), 2);
  EXPECT_EQ(static_cast<int>(RecordKind::kExecStart), 3);
  EXPECT_EQ(static_cast<int>(RecordKind::kExecEnd), 4);
  EXPECT_EQ(static_cast<int>(RecordKind::kWaitStart), 5);
  EXPECT_EQ(static_cast<int>(RecordKind::kWaitEnd), 6);
  EXPECT_EQ(static_cast<int>(RecordKind::kWire), 7);
  EXPECT_EQ(static_cast<int>(RecordKind::kMark), 8);
  EXPECT_EQ(static_cast<int>(RecordKind::kDeviceCalls), 16);
  EXPECT_EQ(static_cast<int>(RecordKind::kSyncStart), 17);
  EXPECT_EQ(static_cast<int>(RecordKind::kSyncEnd), 18);
  EXPECT_EQ(static_cast<int>(RecordKind::kProducts), 19);
  EXPECT_EQ(static_cast<int>(SyncKind::kDevice), 1);
  EXPECT_EQ(static_cast<int>(SyncKind::kLaunch), 5);
  EXPECT_EQ(kFlagAsync | kFlagBytesUnknown | kFlagSequenceGuess | kFlagFailed | kFlagWaitAll, 31);
  EXPECT_EQ(static_cast<int>(MarkKind::kGcBegin), 1);
  EXPECT_EQ(static_cast<int>(MarkKind::kDataLoaderEnd), 4);
  EXPECT_EQ(static_cast<int>(DropReason::kReentrant), 0);
  EXPECT_EQ(static_cast<int>(DropReason::kInternal), 7);
  EXPECT_EQ(static_cast<int>(kSourceGloo), 1);
  EXPECT_EQ(static_cast<int>(kSourceCupti), 32);
  EXPECT_EQ(static_cast<int>(kSourceProducts), 128);
}

}  // namespace
}  // namespace fathom::abi
