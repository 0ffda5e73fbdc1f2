#include "daemon/agent/source/ring/region_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using fakes::RingFolder;
using fakes::RingOptions;
using fakes::RingWriter;
using testing::HasSubstr;

TEST(RegionReaderTest, ReadsIdentityAndControl) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {.pid = 42, .rank = 3, .world_size = 8, .job = "llama"});
  writer.control().drops[2].store(5);
  const auto reader = RegionReader::Open(writer.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->identity().pid, 42u);
  EXPECT_EQ(reader->identity().rank, 3u);
  EXPECT_EQ(reader->identity().world_size, 8u);
  EXPECT_EQ(reader->identity().job, "llama");
  EXPECT_EQ(reader->record_count(), abi::kMinRecords);
  const auto control = reader->ReadControl();
  ASSERT_TRUE(control.ok());
  EXPECT_EQ(control->head, 0u);
  EXPECT_EQ(control->drops[2], 5u);
}

TEST(RegionReaderTest, WaitsForAHeaderThatIsNotReady) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {.ready = false});
  EXPECT_TRUE(absl::IsUnavailable(RegionReader::Open(writer.path()).status()));
  writer.header().ready.store(1);
  EXPECT_TRUE(RegionReader::Open(writer.path()).ok());
}

TEST(RegionReaderTest, AnEmptyFileIsNotReadyAndAMissingOneIsNotFound) {
  const RingFolder folder;
  const std::string path = folder.path() + "/1-0.ring";
  EXPECT_TRUE(absl::IsNotFound(RegionReader::Open(path).status()));
  std::ofstream(path).close();
  EXPECT_TRUE(absl::IsUnavailable(RegionReader::Open(path).status()));
}

struct Spoil {
  const char* field;
  std::function<void(abi::RegionHeader&)> by;
};

class SpoiledHeaderTest : public testing::TestWithParam<Spoil> {};

TEST_P(SpoiledHeaderTest, IsRefusedAndTheFieldNamed) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {});
  GetParam().by(writer.header());
  const absl::Status status = RegionReader::Open(writer.path()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().field));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, SpoiledHeaderTest,
    testing::Values(Spoil{"magic", [](auto& h) { h.magic = 0x1234; }},
                    Spoil{"version_major", [](auto& h) { h.version_major = 2; }},
                    Spoil{"header_bytes", [](auto& h) { h.header_bytes = 8; }},
                    Spoil{"region_bytes", [](auto& h) { h.region_bytes += 64; }},
                    Spoil{"record_bytes", [](auto& h) { h.record_bytes = 65; }},
                    Spoil{"record_count", [](auto& h) { h.record_count = 1025; }},
                    Spoil{"record_count", [](auto& h) { h.record_count = 1u << 31; }},
                    Spoil{"file's size",
                          [](auto& h) {
                            h.record_count *= 4;
                            h.region_bytes = abi::RegionBytes(h.record_count);
                          }},
                    Spoil{"control_offset", [](auto& h) { h.control_offset = 1 << 20; }},
                    Spoil{"groups_offset", [](auto& h) { h.groups_offset = ~0ull; }},
                    Spoil{"group_slots", [](auto& h) { h.group_slots = 0xffff; }},
                    Spoil{"group_bytes", [](auto& h) { h.group_bytes = 0; }},
                    Spoil{"arena_offset", [](auto& h) { h.arena_offset = 7; }},
                    Spoil{"arena_bytes", [](auto& h) { h.arena_bytes = ~0ull; }},
                    Spoil{"records_offset", [](auto& h) { h.records_offset = 0; }},
                    Spoil{"created_mono_ns", [](auto& h) { h.created_mono_ns = -(1ll << 62); }},
                    Spoil{"created_wall_ns",
                          [](auto& h) { h.created_wall_ns = (1ll << 62) + 1; }}));

TEST(RegionReaderTest, ANewerMinorVersionIsReadable) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {});
  writer.header().version_minor = 9;
  writer.header().header_bytes = sizeof(abi::RegionHeader) + 64;
  EXPECT_TRUE(RegionReader::Open(writer.path()).ok());
}

// As a tracer leaves it in `place`.
void Fill(abi::TransferSlot& slot, std::uint32_t turn, std::uint64_t op) {
  slot.turn = turn;
  slot.op_id = op;
  slot.group_slot = 3;
  slot.channel = 2;
  slot.sends = 1;
  slot.peer = 7;
  slot.steps = 9;
  slot.posted = 8;
  slot.gpu = 6;
  slot.moved = 5;
  slot.done = 4;
}

TEST(RegionReaderTest, TellsTheTransfersInFlightAndNoOthers) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {});
  Fill(writer.transfer(1), 3, 40);
  Fill(writer.transfer(2), 4, 41);  // over
  Fill(writer.transfer(3), 5, 0);   // just begun
  const auto reader = RegionReader::Open(writer.path());
  ASSERT_TRUE(reader.ok());
  const auto seen = reader->ReadTransfers();
  ASSERT_TRUE(seen.ok());
  ASSERT_EQ(seen->size(), 1u);
  const TransferSeen& transfer = seen->front();
  EXPECT_EQ(transfer.place, 1u);
  EXPECT_EQ(transfer.turn, 3u);
  EXPECT_EQ(transfer.op_id, 40u);
  EXPECT_EQ(transfer.group_slot, 3u);
  EXPECT_EQ(transfer.channel, 2u);
  EXPECT_TRUE(transfer.sends);
  EXPECT_EQ(transfer.peer, 7u);
  EXPECT_EQ(transfer.steps, 9u);
  EXPECT_EQ(transfer.counts, (std::array<std::uint32_t, 4>{8, 6, 5, 4}));
  writer.Truncate(abi::RegionBytes(writer.capacity()));
  EXPECT_FALSE(reader->ReadTransfers().ok());
}

TEST(RegionReaderTest, AnOlderTracerHasNoTransfers) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {});
  Fill(writer.transfer(1), 3, 40);
  writer.header().version_minor = 2;
  writer.header().header_bytes = abi::kFirstHeaderBytes;
  auto reader = RegionReader::Open(writer.path());
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->ReadTransfers().value().size(), 0u);
  writer.header().header_bytes = sizeof(abi::RegionHeader);
  writer.header().transfers_offset += 64;
  reader = RegionReader::Open(writer.path());
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->ReadTransfers().value().size(), 0u) << "a place that cannot be";
}

TEST(RegionReaderTest, ATruncatedFileIsRefused) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {});
  writer.Truncate(abi::kRecordsOffset + 64);
  EXPECT_TRUE(absl::IsInvalidArgument(RegionReader::Open(writer.path()).status()));
  writer.Truncate(100);
  EXPECT_TRUE(absl::IsInvalidArgument(RegionReader::Open(writer.path()).status()));
}

TEST(RegionReaderTest, AFileTruncatedUnderUsIsAnErrorNotASignal) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {});
  const auto reader = RegionReader::Open(writer.path());
  ASSERT_TRUE(reader.ok());
  writer.Truncate(abi::kRecordsOffset);
  std::vector<abi::EventRecord> records(8);
  EXPECT_TRUE(absl::IsDataLoss(reader->ReadRecords(0, records)));
  EXPECT_TRUE(reader->ReadControl().ok());
  writer.Truncate(0);
  EXPECT_TRUE(absl::IsDataLoss(reader->ReadControl().status()));
  EXPECT_TRUE(absl::IsDataLoss(reader->WriteHeartbeat(1)));
}

TEST(RegionReaderTest, TheHeartbeatReachesTheTracer) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {});
  const auto reader = RegionReader::Open(writer.path());
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE(reader->WriteHeartbeat(77).ok());
  EXPECT_EQ(writer.control().agent_heartbeat_ns.load(), 77u);
}

TEST(RegionReaderTest, ALinkIsNotFollowed) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {});
  const std::string link = folder.path() + "/9-0.ring";
  ASSERT_EQ(symlink(writer.path().c_str(), link.c_str()), 0);
  EXPECT_FALSE(RegionReader::Open(link).ok());
}

TEST(RegionReaderTest, UnprintableTextIsReplacedAndUnendedTextIsCut) {
  const RingFolder folder;
  RingWriter writer(folder.path(), {});
  for (char& c : writer.header().job) c = 'j';
  writer.header().job[1] = '\n';
  const auto reader = RegionReader::Open(writer.path());
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->identity().job.size(), abi::kNameBytes);
  EXPECT_EQ(reader->identity().job.substr(0, 3), "j?j");
}

}  // namespace
}  // namespace fathom::agent
