// libfathom.so preloaded into a process that drives a simulated GPU through two simulated runtimes
// and the driver: what is counted, and that nothing else changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/abi/device_calls.h"
#include "tests/daemon/tracer/preload/victim_run.h"

namespace fathom::tracer_test {
namespace {

using abi::DeviceCalls;
using abi::EventRecord;
using abi::RecordKind;
using abi::SyncKind;

Outcome RunJob(const std::string& mode, const std::string& argument = "3",
               std::vector<std::string> environment = {}, const std::string& preload = "") {
  environment.push_back("LD_LIBRARY_PATH=" + BuiltFile("tests/fake_cuda"));
  return RunVictim(mode, argument, std::move(environment), preload, "tests/cuda_victim");
}

std::vector<DeviceCalls> Calls(MappedRing& ring) {
  std::vector<DeviceCalls> found;
  for (const EventRecord& record : ring.records()) {
    if (record.record_kind != static_cast<std::uint8_t>(RecordKind::kDeviceCalls)) continue;
    found.push_back(UnpackDeviceCalls(record));
  }
  return found;
}

DeviceCalls Sum(MappedRing& ring) {
  DeviceCalls sum;
  for (const DeviceCalls& calls : Calls(ring)) {
    sum.launches += calls.launches;
    sum.copies = static_cast<std::uint16_t>(sum.copies + calls.copies);
    sum.graphs = static_cast<std::uint16_t>(sum.graphs + calls.graphs);
    sum.captured = static_cast<std::uint16_t>(sum.captured + calls.captured);
    sum.sampled = static_cast<std::uint16_t>(sum.sampled + calls.sampled);
  }
  return sum;
}

// Kind and duration of each wait for the GPU.
std::vector<std::pair<SyncKind, std::int64_t>> Syncs(MappedRing& ring) {
  std::vector<std::pair<SyncKind, std::int64_t>> found;
  std::int64_t begin_ns = 0;
  for (const EventRecord& record : ring.records()) {
    const auto kind = static_cast<RecordKind>(record.record_kind);
    if (kind == RecordKind::kSyncStart) begin_ns = record.time_ns;
    if (kind == RecordKind::kSyncEnd) {
      found.emplace_back(static_cast<SyncKind>(record.extra), record.time_ns - begin_ns);
    }
  }
  return found;
}

TEST(CudaPreloadTest, CountsTheCallsBeforeEachOp) {
  Outcome run = RunJob("steps", "3");
  ASSERT_EQ(run.code, 0);
  ASSERT_TRUE(run.ring);
  const std::vector<DeviceCalls> calls = Calls(*run.ring);
  ASSERT_EQ(calls.size(), 3u);
  for (const DeviceCalls& step : calls) {
    EXPECT_EQ(step.launches, 100u) << "a runtime call that enters the driver counts once";
    EXPECT_EQ(step.copies, 3u);
    EXPECT_EQ(step.memsets, 2u);
    EXPECT_EQ(step.events, 1u);
    EXPECT_EQ(step.waits, 1u);
    EXPECT_EQ(step.captured, 0u);
    EXPECT_GT(step.sampled, 0u);
    EXPECT_GE(step.sampled_ns, step.longest_ns);
  }
  EXPECT_EQ(calls[0].created, 2u);
  EXPECT_EQ(calls[1].created, 0u);
}

TEST(CudaPreloadTest, TheRecordComesBeforeTheOpItLedTo) {
  Outcome run = RunJob("steps", "1");
  ASSERT_TRUE(run.ring);
  const std::vector<EventRecord> records = run.ring->records();
  ASSERT_GE(records.size(), 2u);
  EXPECT_EQ(records[0].record_kind, static_cast<std::uint8_t>(RecordKind::kDeviceCalls));
  EXPECT_EQ(records[1].record_kind, static_cast<std::uint8_t>(RecordKind::kOpEnter));
  EXPECT_EQ(records[0].thread_id, records[1].thread_id);
}

TEST(CudaPreloadTest, TheJobRunsAsWithoutIt) {
  for (const char* mode :
       {"steps", "two_runtimes", "driver", "scopes", "capture", "spoilt_capture", "waits"}) {
    const Outcome bare = RunJob(mode, "3", {}, "none");
    const Outcome traced = RunJob(mode);
    const Outcome disabled = RunJob(mode, "3", {"FATHOM_DISABLE=1"});
    const Outcome without = RunJob(mode, "3", {"FATHOM_TRACE=gloo"});
    EXPECT_EQ(bare.code, 0) << mode;
    for (const Outcome* run : {&traced, &disabled, &without}) {
      EXPECT_EQ(run->code, bare.code) << mode;
      EXPECT_EQ(run->output, bare.output) << mode;
    }
  }
}

TEST(CudaPreloadTest, EachRuntimeKeepsItsCallers) {
  Outcome run = RunJob("two_runtimes");
  EXPECT_THAT(run.output, testing::HasSubstr("13: 3, 12: 6\n"));
  ASSERT_TRUE(run.ring);
  EXPECT_EQ(Sum(*run.ring).launches, 9u);
}

TEST(CudaPreloadTest, SeesTheDriverWithoutARuntime) {
  Outcome run = RunJob("driver");
  EXPECT_THAT(run.output, testing::HasSubstr("old 0 future 801 by name 0 absent 1\n"));
  ASSERT_TRUE(run.ring);
  EXPECT_EQ(Sum(*run.ring).launches, 12u);
}

TEST(CudaPreloadTest, ACaptureThatFailsOrEndsOnAnotherThreadIsOver) {
  for (const char* mode : {"spoilt_capture", "passed_capture"}) {
    Outcome run = RunJob(mode);
    ASSERT_TRUE(run.ring);
    const DeviceCalls sum = Sum(*run.ring);
    EXPECT_EQ(sum.captured, 10u) << mode;
    EXPECT_EQ(sum.launches, 7u) << mode;
  }
}

TEST(CudaPreloadTest, CallsIntoAGraphAreNotLaunches) {
  Outcome run = RunJob("capture");
  ASSERT_TRUE(run.ring);
  const DeviceCalls sum = Sum(*run.ring);
  EXPECT_EQ(sum.launches, 0u);
  EXPECT_EQ(sum.captured, 10u);
  EXPECT_EQ(sum.graphs, 5u);
}

TEST(CudaPreloadTest, TellsEachWayToBlock) {
  Outcome run = RunJob("waits");
  ASSERT_TRUE(run.ring);
  const auto syncs = Syncs(*run.ring);
  ASSERT_EQ(syncs.size(), 4u);
  const SyncKind order[] = {SyncKind::kStream, SyncKind::kEvent, SyncKind::kDevice,
                            SyncKind::kCopy};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(syncs[i].first, order[i]) << i;
  EXPECT_GE(syncs[0].second, 10'000'000);
}

TEST(CudaPreloadTest, AThrottledGpuShowsInTheWait) {
  Outcome run = RunJob("waits", "3", {"FAKE_CUDA_THROTTLE=4"});
  ASSERT_TRUE(run.ring);
  const auto syncs = Syncs(*run.ring);
  ASSERT_FALSE(syncs.empty());
  EXPECT_GE(syncs[0].second, 60'000'000);
}

TEST(CudaPreloadTest, ALaunchThatBlocksIsAWait) {
  Outcome run = RunJob("stall");
  ASSERT_TRUE(run.ring);
  int stalls = 0;
  for (const auto& [kind, took_ns] : Syncs(*run.ring)) {
    stalls += kind == SyncKind::kLaunch && took_ns >= 1'000'000;
  }
  EXPECT_GE(stalls, 1);
}

TEST(CudaPreloadTest, HotPathNeitherAllocatesNorCallsTheKernel) {
  Outcome run = RunJob("quiet", "900");
  EXPECT_EQ(run.code, 0) << "159: a system call; 4: an allocation";
  EXPECT_THAT(run.output, testing::HasSubstr("no allocation"));
}

TEST(CudaPreloadTest, ThreadsCountForThemselves) {
  Outcome run = RunJob("threads", "8");
  ASSERT_TRUE(run.ring);
  EXPECT_EQ(Sum(*run.ring).launches, 8u * 8192);
  EXPECT_NEAR(Sum(*run.ring).sampled, 8 * 8192 / 16.5, 400);
}

TEST(CudaPreloadTest, TheAgentCanSilenceIt) {
  VictimRun run("steps", "3", {"LD_LIBRARY_PATH=" + BuiltFile("tests/fake_cuda")}, "",
                "tests/cuda_victim");
  ASSERT_TRUE(run.WaitFor("ready"));
  MappedRing ring(run.Rings().front());
  ring.control().sources_disabled.store(abi::kSourceCuda);
  run.Go();
  EXPECT_EQ(run.Finish(), 0);
  EXPECT_EQ(Calls(ring).size(), 0u);
  EXPECT_GT(ring.control().head.load(), 0u);
}

}  // namespace
}  // namespace fathom::tracer_test
