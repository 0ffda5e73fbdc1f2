// Windows of detail in a process with a simulated GPU and CUPTI: opened and closed at the ops that
// were asked for, and CUPTI left as it was found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "daemon/abi/window_file.h"
#include "tests/daemon/tracer/preload/victim_run.h"

namespace fathom::tracer_test {
namespace {

constexpr int kStreamSynchronize = 3;  // CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE

using abi::WindowPhase;
using abi::WindowReason;

struct Ask {
  std::uint64_t open = 2;
  std::uint64_t close = 4;
  std::int64_t seconds = 60;
  std::uint32_t sources = abi::kSourceCupti;
};

struct Seen {
  int code = -1;
  std::string output;
  WindowPhase phase;
  WindowReason reason;
  std::uint64_t opened = 0, closed = 0, records = 0;
  std::string file;  // the side file's bytes
};

void Request(MappedRing& ring, const Ask& ask) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  abi::WindowRequest& request = ring.control().window_request;
  request.group_slot.store(0);
  request.open_sequence.store(ask.open);
  request.close_sequence.store(ask.close);
  request.deadline_ns.store((now.tv_sec + ask.seconds) * 1'000'000'000);
  request.sources.store(ask.sources);
  request.ticket.store(1, std::memory_order_release);
}

Seen RunWindow(const std::string& mode, const Ask& ask, const std::string& extra = "A=B") {
  VictimRun run(mode, "8", {"LD_LIBRARY_PATH=" + BuiltFile("tests/fake_cuda"), extra}, "",
                "tests/cuda_victim");
  Seen seen;
  if (!run.WaitFor("ready") || run.Rings().empty()) return seen;
  MappedRing ring(run.Rings().front());
  Request(ring, ask);
  run.Go();
  seen.code = run.Finish();
  seen.output = run.output();
  const abi::WindowState& told = ring.control().window_state;
  seen.phase = static_cast<WindowPhase>(told.phase.load());
  seen.reason = static_cast<WindowReason>(told.reason.load());
  seen.opened = told.opened_sequence.load();
  seen.closed = told.closed_sequence.load();
  seen.records = told.records.load();
  for (const std::string& path : run.Files()) {
    if (!path.ends_with("-1.window")) continue;
    std::ifstream file(path, std::ios::binary);
    seen.file.assign(std::istreambuf_iterator<char>(file), {});
  }
  return seen;
}

TEST(WindowTest, OpensAndClosesAtTheOpsAskedFor) {
  const Seen seen = RunWindow("window", {});
  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(seen.phase, WindowPhase::kClosed);
  EXPECT_EQ(seen.reason, WindowReason::kNone);
  EXPECT_EQ(seen.opened, 2u);
  EXPECT_EQ(seen.closed, 5u);
  EXPECT_EQ(seen.records, 3u * (1 + 100 + 3 * 3 + 2))
      << "the steps before ops 3, 4 and 5, each with a wait, and two overheads a copy";
  EXPECT_THAT(seen.output, testing::HasSubstr("attached 0 finalized 1\n"));
}

TEST(WindowTest, WritesWhatTheGpuDid) {
  const Seen seen = RunWindow("window", {});
  ASSERT_EQ(seen.file.size(), abi::kWindowFileBytes);
  const auto* header = reinterpret_cast<const abi::WindowFileHeader*>(seen.file.data());
  EXPECT_EQ(header->magic, abi::kWindowMagic);
  EXPECT_EQ(header->ready.load(), 1u);
  EXPECT_EQ(header->lost.load(), 0u);
  EXPECT_LE(header->opened.mono_ns, header->closed.mono_ns);
  ASSERT_EQ(header->name_count.load(), 1u);
  EXPECT_STREQ(seen.file.data() + abi::kWindowNamesOffset, "fake_kernel");
  const auto* records =
      reinterpret_cast<const abi::WindowRecord*>(seen.file.data() + abi::kWindowRecordsOffset);
  int kernels = 0;
  int copies = 0;
  int memsets = 0;
  int waits = 0;
  for (std::uint32_t i = 0; i < header->record_count.load(); ++i) {
    const auto kind = static_cast<abi::ActivityKind>(records[i].kind);
    kernels += kind == abi::ActivityKind::kKernel && records[i].name == 0 &&
               records[i].duration_ns == 1000 && records[i].stream == 13;
    copies += kind == abi::ActivityKind::kCopy && records[i].bytes == 8;
    memsets += kind == abi::ActivityKind::kMemset && records[i].bytes == 8;
    waits += kind == abi::ActivityKind::kSync && records[i].stream == 7 &&
             records[i].detail == kStreamSynchronize && records[i].name == abi::kNoWindowName;
    EXPECT_GE(records[i].start_ns, header->opened.cupti_ns);
  }
  EXPECT_EQ(kernels, 300);
  EXPECT_EQ(copies, 9);
  EXPECT_EQ(memsets, 6);
  EXPECT_EQ(waits, 3);
}

TEST(WindowTest, WritesWhatCuptiItselfTook) {
  const Seen seen = RunWindow("window", {});
  ASSERT_EQ(seen.file.size(), abi::kWindowFileBytes);
  const auto* header = reinterpret_cast<const abi::WindowFileHeader*>(seen.file.data());
  const auto* records =
      reinterpret_cast<const abi::WindowRecord*>(seen.file.data() + abi::kWindowRecordsOffset);
  int instrumenting = 0;
  int queue_full = 0;
  for (std::uint32_t i = 0; i < header->record_count.load(); ++i) {
    if (static_cast<abi::ActivityKind>(records[i].kind) != abi::ActivityKind::kOverhead) continue;
    instrumenting += records[i].detail == abi::kOverheadHigh + 2 && records[i].duration_ns == 300;
    queue_full += records[i].detail == abi::kOverheadHigh + 6 && records[i].duration_ns == 70;
    EXPECT_EQ(records[i].name, abi::kNoWindowName);
    EXPECT_EQ(records[i].bytes, 0u);
  }
  EXPECT_EQ(instrumenting, 9);
  EXPECT_EQ(queue_full, 9);
  EXPECT_EQ(header->lost.load(), 0u) << "an overhead without times is no loss";
  EXPECT_THAT(seen.output, testing::HasSubstr("details not freed 0\n"));
}

TEST(WindowTest, IsAWindowAlsoWithoutOverheads) {
  const Seen seen = RunWindow("window", {}, "FAKE_CUPTI_NO_OVERHEAD=1");
  EXPECT_EQ(seen.phase, WindowPhase::kClosed);
  EXPECT_EQ(seen.records, 3u * (1 + 100 + 3 + 2));
}

TEST(WindowTest, MakesRoomForTheJobsOwnProfiler) {
  const Seen seen = RunWindow("profiler", {.open = 1, .close = 100});
  EXPECT_EQ(seen.phase, WindowPhase::kClosed);
  EXPECT_EQ(seen.reason, WindowReason::kOtherProfiler);
  EXPECT_EQ(seen.opened, 1u);
  EXPECT_THAT(seen.output, testing::HasSubstr("subscribed 0 attached 1 finalized 0\n"));
}

TEST(WindowTest, MakesRoomAlsoRightAfterAWindow) {
  const Seen seen = RunWindow("profiler", {.open = 1, .close = 2});
  EXPECT_EQ(seen.phase, WindowPhase::kClosed);
  EXPECT_THAT(seen.output, testing::HasSubstr("subscribed 0 attached 1"));
}

TEST(WindowTest, StaysOutWhereAnotherProfilerCameFirst) {
  const Seen seen = RunWindow("profiler", {.open = 6, .close = 7});
  EXPECT_EQ(seen.phase, WindowPhase::kRefused);
  EXPECT_EQ(seen.reason, WindowReason::kOtherProfiler);
  EXPECT_THAT(seen.output, testing::HasSubstr("subscribed 0 attached 1 finalized 0\n"));
}

TEST(WindowTest, RefusesAVersionThatMustNotBeDetached) {
  const Seen seen = RunWindow("window", {}, "FAKE_CUPTI_VERSION=23");
  EXPECT_EQ(seen.reason, WindowReason::kUnsafe);
  EXPECT_THAT(seen.output, testing::HasSubstr("attached 0 finalized 0\n"));
}

TEST(WindowTest, RefusesWhatComesTooLate) {
  EXPECT_EQ(RunWindow("window", {.seconds = -1}).reason, WindowReason::kDeadline);
  EXPECT_EQ(RunWindow("window", {.open = 100, .close = 200}).phase, WindowPhase::kWaiting);
}

TEST(WindowTest, RefusesASourceItDoesNotHave) {
  EXPECT_EQ(RunWindow("window", {.sources = abi::kSourceNcclPlugin}).reason,
            WindowReason::kNoSource);
  EXPECT_EQ(RunWindow("window", {}, "FATHOM_TRACE=gloo,python").reason, WindowReason::kNoSource);
}

}  // namespace
}  // namespace fathom::tracer_test
