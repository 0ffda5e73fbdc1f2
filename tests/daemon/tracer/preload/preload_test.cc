// libfathom.so preloaded into real processes that call a stand-in for PyTorch's Gloo: what is
// recorded, and that nothing else changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "proto/types/collective_kind.h"
#include "proto/types/data_type.h"
#include "tests/daemon/tracer/preload/victim_run.h"

namespace fathom::tracer_test {
namespace {

using abi::DropReason;
using abi::EventRecord;
using abi::RecordKind;

std::vector<EventRecord> OfKind(MappedRing& ring, RecordKind kind) {
  std::vector<EventRecord> found;
  for (const EventRecord& record : ring.records()) {
    if (record.record_kind == static_cast<std::uint8_t>(kind)) found.push_back(record);
  }
  return found;
}

// Without returns that only say how long a call took: on a busy machine any call may take long.
std::vector<EventRecord> Steady(MappedRing& ring) {
  std::vector<EventRecord> found = ring.records();
  std::erase_if(found, [](const EventRecord& record) {
    return record.record_kind == static_cast<std::uint8_t>(RecordKind::kOpReturn) &&
           record.flags == abi::kFlagAsync;
  });
  return found;
}

std::vector<EventRecord> SteadyReturns(MappedRing& ring) {
  std::vector<EventRecord> found = Steady(ring);
  std::erase_if(found, [](const EventRecord& record) {
    return record.record_kind != static_cast<std::uint8_t>(RecordKind::kOpReturn);
  });
  return found;
}

std::vector<std::uint64_t> Drops(MappedRing& ring) {
  std::vector<std::uint64_t> drops;
  for (const auto& drop : ring.control().drops) drops.push_back(drop.load());
  return drops;
}

const std::vector<std::uint64_t> kNoDrops(abi::kDropReasons, 0);

TEST(PreloadTest, TellsAnOpFromCallToWait) {
  Outcome run = RunVictim("ops", "1");
  ASSERT_EQ(run.code, 0);
  ASSERT_TRUE(run.ring);
  const std::vector<EventRecord> all = Steady(*run.ring);
  ASSERT_EQ(all.size(), 5u);
  const RecordKind order[] = {RecordKind::kOpEnter, RecordKind::kExecStart, RecordKind::kExecEnd,
                              RecordKind::kWaitStart, RecordKind::kWaitEnd};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(all[i].record_kind, static_cast<std::uint8_t>(order[i])) << i;
    EXPECT_EQ(all[i].op_id, 1u);
    EXPECT_EQ(all[i].group_slot, 0u);
    EXPECT_EQ(all[i].collective_kind, static_cast<std::uint8_t>(CollectiveKind::kAllReduce));
    EXPECT_EQ(all[i].reduction, 0u);
    EXPECT_GE(all[i].time_ns, all[i == 0 ? 0 : i - 1].time_ns);
  }
  EXPECT_EQ(all[0].sequence, 0u);
  EXPECT_EQ(all[0].bytes, 256u * 4);
  EXPECT_EQ(all[0].data_type, static_cast<std::uint8_t>(DataType::kFloat32));
  EXPECT_EQ(all[0].flags, 0u);
  EXPECT_NE(all[1].extra, 0u);
  for (int i = 2; i < 5; ++i) EXPECT_EQ(all[i].extra, all[1].extra) << i;
  EXPECT_EQ(Drops(*run.ring), kNoDrops);
}

TEST(PreloadTest, CountsSequencesPerGroupWithoutGaps) {
  Outcome run = RunVictim("ops", "50");
  ASSERT_TRUE(run.ring);
  std::uint64_t next = 0;
  for (const EventRecord& record : OfKind(*run.ring, RecordKind::kOpEnter)) {
    EXPECT_EQ(record.sequence, next++);
  }
  EXPECT_EQ(Drops(*run.ring), kNoDrops) << "the framework's numbers are those told";
  EXPECT_EQ(next, 50u);
  EXPECT_EQ(run.ring->group(0).entered.load(), 50u);
  EXPECT_EQ(run.ring->group(0).started.load(), 50u);
  EXPECT_EQ(run.ring->group(0).completed.load(), 50u);
}

TEST(PreloadTest, DescribesProcessAndGroup) {
  Outcome run = RunVictim(
      "ops", "1",
      {"RANK=1", "WORLD_SIZE=4", "LOCAL_RANK=1", "FATHOM_JOB=abc", "TORCHELASTIC_RESTART_COUNT=2"});
  ASSERT_TRUE(run.ring);
  const abi::RegionHeader& header = run.ring->header();
  EXPECT_EQ(header.magic, abi::kMagic);
  EXPECT_EQ(header.ready.load(), 1u);
  EXPECT_EQ(header.rank, 1u);
  EXPECT_EQ(header.world_size, 4u);
  EXPECT_EQ(header.restart_count, 2u);
  EXPECT_STREQ(header.job, "abc");
  EXPECT_NE(header.start_time_ticks, 0u);
  EXPECT_EQ(run.ring->control().group_count.load(), 1u);
  EXPECT_EQ(run.ring->group(0).size, 4u);
  EXPECT_EQ(run.ring->group(0).my_rank, 1u);
  EXPECT_EQ(run.ring->control().exiting.load(), 1u);
}

TEST(PreloadTest, TellsRootsSynchronousOpsAndWaitsForAll) {
  Outcome run = RunVictim("kinds");
  ASSERT_EQ(run.code, 0);
  ASSERT_TRUE(run.ring);
  const auto entries = OfKind(*run.ring, RecordKind::kOpEnter);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].peer, 1u);
  EXPECT_EQ(entries[0].bytes, 12u);
  const auto returns = SteadyReturns(*run.ring);
  ASSERT_EQ(returns.size(), 1u);
  EXPECT_EQ(returns[0].collective_kind, static_cast<std::uint8_t>(CollectiveKind::kBarrier));
  EXPECT_EQ(returns[0].flags, 0u) << "a monitored barrier is done when it returns";
  const auto waits = OfKind(*run.ring, RecordKind::kWaitStart);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[1].flags, abi::kFlagWaitAll);
  EXPECT_EQ(waits[1].op_id, entries[2].op_id) << "the last op entered";
  EXPECT_EQ(run.ring->group(0).state.load(), 3u) << "destroyed";
}

TEST(PreloadTest, MakesNothingUntilAGroupIsMade) {
  VictimRun run("bare");
  EXPECT_EQ(run.Finish(), 0);
  EXPECT_THAT(run.Files(), testing::IsEmpty());
}

TEST(PreloadTest, LeavesNoSlotForAGroupThatFails) {
  VictimRun run("failing_group");
  EXPECT_EQ(run.Finish(), 0);
}

TEST(PreloadTest, HotPathNeitherAllocatesNorCallsTheKernel) {
  Outcome run = RunVictim("quiet", "20000");
  EXPECT_EQ(run.code, 0) << "159: a system call; 4: an allocation";
  EXPECT_THAT(run.output, testing::HasSubstr("no allocation"));
  ASSERT_TRUE(run.ring);
  const std::uint64_t records = run.ring->control().head.load();
  EXPECT_GE(records, 20002u * 5);
  EXPECT_LT(records, 20002u * 11 / 2) << "a call that is soon back has no return";
}

TEST(PreloadTest, ExceptionsPassAndEndTheirRecords) {
  Outcome run = RunVictim("failures");
  ASSERT_EQ(run.code, 0) << "the job saw other results than without the tracer";
  ASSERT_TRUE(run.ring);
  const auto returns = SteadyReturns(*run.ring);
  ASSERT_EQ(returns.size(), 1u);
  EXPECT_EQ(returns[0].op_id, 1u);
  EXPECT_EQ(returns[0].flags, abi::kFlagFailed);
  const auto ends = OfKind(*run.ring, RecordKind::kExecEnd);
  ASSERT_EQ(ends.size(), 3u);
  EXPECT_EQ(ends[1].flags, abi::kFlagFailed);
  const auto waits = OfKind(*run.ring, RecordKind::kWaitEnd);
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[1].flags, abi::kFlagFailed);
  EXPECT_EQ(waits[2].flags, 0u) << "the frame of the failed wait was left behind";
}

TEST(PreloadTest, PreservesErrno) {
  EXPECT_EQ(RunVictim("errno").code, 0);
  EXPECT_EQ(RunVictim("errno", "3", {"FATHOM_SHM_DIR=/nonexistent/fathom"}).code, 0);
}

TEST(PreloadTest, ForkedChildWritesNothingAndIsCounted) {
  for (const char* mode : {"fork", "raw_fork"}) {
    Outcome run = RunVictim(mode);
    EXPECT_EQ(run.code, 0) << mode;
    ASSERT_TRUE(run.ring);
    std::set<std::uint32_t> threads;
    for (const EventRecord& record : run.ring->records()) threads.insert(record.thread_id);
    EXPECT_EQ(threads.size(), 1u) << mode;
    EXPECT_GE(run.ring->drops(DropReason::kAfterFork), 100u) << mode;
  }
}

TEST(PreloadTest, ForkInsideAnOpHarmsNeither) {
  Outcome run = RunVictim("fork_inside_op");
  EXPECT_EQ(run.code, 0);
  ASSERT_TRUE(run.ring);
  EXPECT_EQ(OfKind(*run.ring, RecordKind::kOpEnter).size(), 1u);
  EXPECT_LE(OfKind(*run.ring, RecordKind::kOpReturn).size(), 1u) << "the child writes none";
}

TEST(PreloadTest, ForkedChildThatMakesAGroupGetsARingOfItsOwn) {
  VictimRun run("fork_and_make_group");
  ASSERT_TRUE(run.WaitFor("ready"));
  ASSERT_EQ(run.Rings().size(), 1u);
  run.Go();
  ASSERT_TRUE(run.WaitFor("child ready"));
  ASSERT_EQ(run.Rings().size(), 2u);
  std::set<std::uint32_t> pids;
  for (const std::string& path : run.Rings()) {
    MappedRing ring(path);
    pids.insert(ring.header().pid);
    if (ring.header().pid == static_cast<std::uint32_t>(run.pid())) continue;
    ASSERT_EQ(Steady(ring).size(), 5u);
    EXPECT_EQ(ring.records().front().thread_id, ring.header().pid);
  }
  EXPECT_EQ(pids.size(), 2u);
  run.Go();
  EXPECT_EQ(run.Finish(), 0);
}

TEST(PreloadTest, SpawnedProcessWithoutGroupsLeavesNothing) {
  Outcome run = RunVictim("spawn");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.output, testing::HasSubstr("nothing made"));
}

TEST(PreloadTest, AVforkedChildLeavesItsParentsRingInOrder) {
  Outcome run = RunVictim("vfork");
  EXPECT_EQ(run.code, 0);
  ASSERT_TRUE(run.ring);
  EXPECT_THAT(run.output, testing::HasSubstr("nothing made"));
  EXPECT_EQ(OfKind(*run.ring, RecordKind::kOpEnter).size(), 6u);
  EXPECT_EQ(Drops(*run.ring), kNoDrops);
}

TEST(PreloadTest, ASignalHandlerMayComeBetweenAnyTwoInstructions) {
  Outcome run = RunVictim("signals", "200", {"FATHOM_RING_KIB=65536"});
  EXPECT_EQ(run.code, 0);
  ASSERT_TRUE(run.ring);
  std::uint64_t missing = 0;
  std::size_t marks = 0;
  std::set<std::uint64_t> entered;
  for (const EventRecord& record : run.ring->records(&missing)) {
    marks += record.record_kind == static_cast<std::uint8_t>(RecordKind::kMark);
    if (record.record_kind == static_cast<std::uint8_t>(RecordKind::kOpEnter)) {
      EXPECT_TRUE(entered.insert(record.sequence).second);
    }
  }
  EXPECT_EQ(missing, 0u);
  EXPECT_GE(marks, 2u * 200);
  EXPECT_EQ(marks % 2, 0u);
  EXPECT_EQ(entered.size(), *entered.rbegin() + 1) << "no op was lost to a signal";
  EXPECT_EQ(Drops(*run.ring), kNoDrops);
}

TEST(PreloadTest, ARingThatIsTakenAwayUnderneathHarmsNobody) {
  VictimRun run("ops", "20000");
  ASSERT_TRUE(run.WaitFor("ready"));
  std::filesystem::remove_all(run.folder());
  run.Go();
  EXPECT_EQ(run.Finish(), 0);
  EXPECT_FALSE(std::filesystem::exists(run.folder())) << "and it is not made again";
}

TEST(PreloadTest, ExecStartsTheNextGeneration) {
  VictimRun run("exec");
  ASSERT_TRUE(run.WaitFor("ready"));
  MappedRing first(run.Rings().front());
  run.Go();
  ASSERT_TRUE(run.WaitFor("ready"));
  ASSERT_EQ(run.Rings().size(), 2u);
  MappedRing second(run.Rings().back());
  EXPECT_EQ(second.header().generation, 1u);
  EXPECT_EQ(second.header().pid, first.header().pid);
  EXPECT_EQ(second.header().start_time_ticks, first.header().start_time_ticks);
  run.Go();
  EXPECT_EQ(run.Finish(), 0);
  EXPECT_EQ(OfKind(first, RecordKind::kOpEnter).size(), 3u);
  EXPECT_EQ(OfKind(second, RecordKind::kOpEnter).size(), 5u);
}

TEST(PreloadTest, OrderlyExitWithoutAgentTakesTheFileAway) {
  Outcome run = RunVictim("ops");
  EXPECT_THAT(run.left, testing::IsEmpty());
}

TEST(PreloadTest, OrderlyExitWithAgentLeavesTheFile) {
  VictimRun run("ops");
  ASSERT_TRUE(run.WaitFor("ready"));
  MappedRing ring(run.Rings().front());
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  ring.control().agent_heartbeat_ns.store(static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000);
  run.Go();
  EXPECT_EQ(run.Finish(), 0);
  EXPECT_EQ(run.Rings().size(), 1u);
  EXPECT_EQ(ring.control().exiting.load(), 1u);
}

// It may be back soon, and has not read the end yet.
TEST(PreloadTest, OrderlyExitWhileTheAgentIsAwayLeavesTheFile) {
  VictimRun run("ops");
  ASSERT_TRUE(run.WaitFor("ready"));
  MappedRing ring(run.Rings().front());
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t now_ns = std::int64_t{now.tv_sec} * 1'000'000'000;
  // The clock may have started less than a minute ago.
  const std::int64_t seen_ns = std::max<std::int64_t>(1, now_ns - 60'000'000'000);
  ring.control().agent_heartbeat_ns.store(static_cast<std::uint64_t>(seen_ns));
  run.Go();
  EXPECT_EQ(run.Finish(), 0);
  EXPECT_EQ(run.Rings().size(), 1u);
}

TEST(PreloadTest, UnderscoreExitKeepsItsCode) {
  Outcome run = RunVictim("underscore_exit");
  EXPECT_EQ(run.code, 9);
  ASSERT_TRUE(run.ring);
  EXPECT_EQ(run.ring->control().exiting.load(), 0u);
  EXPECT_EQ(run.left.size(), 1u) << "the agent takes it away";
}

TEST(PreloadTest, KilledInsideAnOpLeavesAReadableRing) {
  VictimRun run("stop");
  ASSERT_TRUE(run.WaitFor("ready"));
  MappedRing ring(run.Rings().front());
  run.Go();
  while (ring.records().empty()) {
  }
  run.Kill(SIGKILL);
  EXPECT_EQ(run.Finish(), 128 + SIGKILL);
  ASSERT_EQ(ring.records().size(), 1u);
  EXPECT_EQ(ring.records()[0].record_kind, static_cast<std::uint8_t>(RecordKind::kOpEnter));
  EXPECT_EQ(ring.group(0).entered.load() - ring.group(0).completed.load(), 1u) << "in flight";
}

TEST(PreloadTest, UnloadingEitherLibraryIsHarmless) {
  Outcome run = RunVictim("unload");
  EXPECT_EQ(run.code, 0);
  ASSERT_TRUE(run.ring);
  EXPECT_EQ(OfKind(*run.ring, RecordKind::kWaitEnd).size(), 6u);
}

TEST(PreloadTest, ThreadStormLosesNothing) {
  Outcome run = RunVictim("storm", "200");
  EXPECT_EQ(run.code, 0);
  ASSERT_TRUE(run.ring);
  std::uint64_t missing = 0;
  std::map<std::uint64_t, int> records_of_op;
  std::set<std::uint32_t> threads;
  for (const EventRecord& record : run.ring->records(&missing)) {
    ++records_of_op[record.op_id];
    threads.insert(record.thread_id);
  }
  EXPECT_EQ(missing, 0u);
  const std::uint64_t written = run.ring->control().head.load();
  EXPECT_GE(written, 200u * 20 * 5);
  EXPECT_LE(written, 200u * 20 * 6) << "at most one return an op";
  EXPECT_EQ(run.ring->control().group_count.load(), 201u);
  EXPECT_EQ(Drops(*run.ring), kNoDrops);
  const std::uint64_t held = run.ring->header().record_count;
  std::uint64_t seen = 0;
  for (const auto& [op, count] : records_of_op) seen += static_cast<std::uint64_t>(count);
  EXPECT_EQ(seen, held);
}

TEST(PreloadTest, MoreGroupsThanSlotsAreCounted) {
  Outcome run = RunVictim("storm", "300");
  EXPECT_EQ(run.code, 0);
  ASSERT_TRUE(run.ring);
  EXPECT_EQ(run.ring->control().group_count.load(), abi::kGroupSlots);
  EXPECT_EQ(run.ring->drops(DropReason::kGroupTableFull), 301u - abi::kGroupSlots);
}

TEST(PreloadTest, AgentCanSilenceItAndSequencesStayRight) {
  VictimRun run("exec");  // three ops, then a new image
  ASSERT_TRUE(run.WaitFor("ready"));
  MappedRing ring(run.Rings().front());
  ring.control().sources_disabled.store(abi::kSourceGloo);
  run.Go();
  ASSERT_TRUE(run.WaitFor("ready"));
  EXPECT_EQ(ring.control().head.load(), 0u);
  run.Go();
  EXPECT_EQ(run.Finish(), 0);
}

TEST(PreloadTest, TwoInterposersStillReachTheRealFunction) {
  const std::string both = BuiltFile("libfathom.so") + ":" + BuiltFile("tests/libfathom_twin.so");
  Outcome run = RunVictim("ops", "5", {}, both);
  EXPECT_EQ(run.code, 0);
  ASSERT_TRUE(run.ring);
  EXPECT_EQ(OfKind(*run.ring, RecordKind::kOpEnter).size(), 5u);
}

// A setting that must leave the job alone and make no ring.
struct OffCase {
  const char* name;
  std::vector<std::string> environment;
};
class PreloadOffTest : public testing::TestWithParam<OffCase> {};

TEST_P(PreloadOffTest, JobRunsWithoutARing) {
  Outcome run = RunVictim("ops", "3", GetParam().environment);
  EXPECT_EQ(run.code, 0);
  EXPECT_FALSE(run.ring);
  EXPECT_THAT(run.left, testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Settings, PreloadOffTest,
                         testing::Values(OffCase{"Disabled", {"FATHOM_DISABLE=1"}},
                                         OffCase{"DisabledByAnyWord", {"FATHOM_DISABLE=yes"}},
                                         OffCase{"MissingFolder",
                                                 {"FATHOM_SHM_DIR=/nonexistent/fathom"}},
                                         OffCase{"RelativeFolder", {"FATHOM_SHM_DIR=relative"}},
                                         OffCase{"FolderIsAFile", {"FATHOM_SHM_DIR=/etc/passwd"}},
                                         OffCase{"ReadOnlyFolder", {"FATHOM_SHM_DIR=/proc/self"}},
                                         OffCase{"NoSources", {"FATHOM_TRACE=nothing"}}),
                         [](const auto& test) { return test.param.name; });

TEST(PreloadTest, NoSpaceMeansNoRing) {
  Outcome run = RunVictim("full");
  EXPECT_EQ(run.code, 0) << "153: ended by SIGXFSZ";
  EXPECT_FALSE(run.ring);
  EXPECT_THAT(run.left, testing::IsEmpty());
}

TEST(PreloadTest, AFullFileSystemMeansNoRing) {
  std::string folder = (std::filesystem::temp_directory_path() / "fathom-full-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  if (mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64k") != 0) {
    std::filesystem::remove(folder);
    GTEST_SKIP() << "may not mount a small tmpfs: " << strerror(errno);
  }
  Outcome run = RunVictim("ops", "3", {"FATHOM_SHM_DIR=" + folder});
  EXPECT_EQ(run.code, 0) << "135: SIGBUS";
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(umount(folder.c_str()), 0);
  std::filesystem::remove(folder);
}

TEST(PreloadTest, BadSettingsAreCounted) {
  Outcome run = RunVictim(
      "ops", "1", {"FATHOM_RING_KIB=many", "FATHOM_TRACE=gloo,typo", "FATHOM_JOB=white space"});
  EXPECT_EQ(run.code, 0);
  ASSERT_TRUE(run.ring);
  EXPECT_EQ(run.ring->drops(DropReason::kBadSetting), 3u);
  EXPECT_EQ(run.ring->header().record_count, abi::kDefaultRecords);
}

}  // namespace
}  // namespace fathom::tracer_test
