#include "daemon/agent/session/window_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"

#include "daemon/agent/source/window/window_file.h"
#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using abi::ActivityKind;
using fakes::RingFolder;
using fakes::RingWriter;

constexpr std::int64_t kOffset = 5'000;  // CUPTI's clock is ahead of the node's

// A side file as the tracer leaves it, then spoiled where told to.
class SideFile {
 public:
  explicit SideFile(std::uint32_t ticket) : bytes_(abi::kWindowFileBytes) {
    auto& h = header();
    h.magic = abi::kWindowMagic;
    h.version = abi::kWindowVersion;
    h.ticket = ticket;
    h.record_bytes = sizeof(abi::WindowRecord);
    h.capacity = abi::kWindowRecords;
    h.opened = {1'000'000, 1'000'000 + kOffset, 100};
    h.closed = {2'000'000, 2'000'000 + kOffset + 7, 100};
    h.ready.store(1);
  }
  abi::WindowFileHeader& header() {
    return *reinterpret_cast<abi::WindowFileHeader*>(bytes_.data());
  }
  std::uint16_t Name(const char* name) {
    const std::uint32_t at = header().name_count++;
    std::strncpy(reinterpret_cast<char*>(bytes_.data()) + abi::kWindowNamesOffset +
                     std::size_t{at} * abi::kWindowNameBytes,
                 name, abi::kWindowNameBytes - 1);
    return static_cast<std::uint16_t>(at);
  }
  void Add(ActivityKind kind, std::uint16_t name, std::int64_t start_mono, std::uint32_t lasts,
           std::uint8_t detail = 0) {
    auto* records = reinterpret_cast<abi::WindowRecord*>(bytes_.data() + abi::kWindowRecordsOffset);
    records[header().record_count++] = {
        start_mono + kOffset, lasts, name, static_cast<std::uint8_t>(kind), detail, 7, 1, 8};
  }
  void Save(const std::string& path, std::size_t bytes = abi::kWindowFileBytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes_.data()), static_cast<std::streamsize>(bytes));
  }

 private:
  std::vector<unsigned char> bytes_;
};

TEST(WindowFileTest, TimesAreTheNodesAndSumsAreByName) {
  const RingFolder folder;
  SideFile file(3);
  const std::uint16_t gemm = file.Name("gemm"), norm = file.Name("norm\x01");
  file.Add(ActivityKind::kKernel, gemm, 1'000'100, 300);
  file.Add(ActivityKind::kKernel, gemm, 1'000'200, 500);  // overlaps the first
  file.Add(ActivityKind::kKernel, norm, 1'001'000, 50);
  file.Add(ActivityKind::kCopy, abi::kNoWindowName, 1'002'000, 10);
  file.Add(ActivityKind::kSync, abi::kNoWindowName, 1'003'000, 9'000);
  file.header().lost.store(4);
  const std::string path = folder.path() + "/" + WindowFileName(9, 0, 3);
  file.Save(path);
  const auto contents = ReadWindowFile(path, 3);
  ASSERT_TRUE(contents.ok()) << contents.status();
  EXPECT_EQ(contents->activities[0].begin_ns, 1'000'100);
  EXPECT_EQ(contents->clock_residual_ns, 7);
  EXPECT_EQ(contents->lost, 4u);
  const WindowSums sums = SumUp(*contents);
  EXPECT_EQ(sums.busy_ns, 600 + 50 + 10) << "overlap counts once, a host's wait not at all";
  ASSERT_EQ(sums.sums.size(), 4u);
  EXPECT_EQ(sums.sums[0].kind, ActivityKind::kSync);
  EXPECT_EQ(sums.sums[1].name, "gemm");
  EXPECT_EQ(sums.sums[1].count, 2u);
  EXPECT_EQ(sums.sums[1].total_ns, 800);
  EXPECT_EQ(sums.sums[1].longest_ns, 500);
  EXPECT_EQ(sums.sums[2].name, "norm?");
}

TEST(WindowFileTest, OverheadsAreTheHostsTimeAndByWhatItWentInto) {
  const RingFolder folder;
  SideFile file(3);
  const auto add = [&](std::uint32_t kind, std::uint32_t lasts) {
    file.Add(ActivityKind::kOverhead, abi::kNoWindowName, 1'000'100, lasts,
             abi::OverheadDetail(kind));
  };
  file.Add(ActivityKind::kKernel, file.Name("gemm"), 1'000'100, 300);
  add(2 << 16, 40);
  add(2 << 16, 60);
  add(5 << 16, 70);
  add(1, 50);
  add(0x7fff0000, 10);  // of a toolkit to come
  const std::string path = folder.path() + "/" + WindowFileName(9, 0, 3);
  file.Save(path);
  const auto contents = ReadWindowFile(path, 3);
  ASSERT_TRUE(contents.ok()) << contents.status();
  const WindowSums sums = SumUp(*contents);
  EXPECT_EQ(sums.busy_ns, 300);
  ASSERT_EQ(sums.sums.size(), 5u);
  EXPECT_EQ(sums.sums[1].name, "CUPTI: instrumenting");
  EXPECT_EQ(sums.sums[1].count, 2u);
  EXPECT_EQ(sums.sums[1].total_ns, 100);
  EXPECT_FALSE(sums.sums[1].of_driver);
  EXPECT_EQ(sums.sums[2].name, "loading a function");
  EXPECT_TRUE(sums.sums[2].of_driver);
  EXPECT_EQ(sums.sums[3].name, "compiling");
  EXPECT_TRUE(sums.sums[3].of_driver);
  EXPECT_EQ(sums.sums[4].name, "unknown overhead");
}

TEST(WindowFileTest, WhatDoesNotFitBecomesOneLineAKind) {
  WindowContents contents;
  for (std::uint16_t i = 0; i < 100; ++i) {
    contents.names.push_back(absl::StrCat("k", i));
    contents.activities.push_back({0, 1000 + i, ActivityKind::kKernel, i, 0});
  }
  const WindowSums sums = SumUp(contents);
  ASSERT_EQ(sums.sums.size(), kMaxWindowSums + 1);
  EXPECT_EQ(sums.sums.back().name, "");
  EXPECT_EQ(sums.sums.back().count, 100 - kMaxWindowSums);

  contents.activities.push_back({0, 1, ActivityKind::kOverhead, abi::kNoWindowName, 0, 1});
  const WindowSums with_overhead = SumUp(contents);
  ASSERT_EQ(with_overhead.sums.size(), kMaxWindowSums + 2);
  EXPECT_EQ(with_overhead.sums.back().name, "compiling") << "short as it is, it stays";
}

TEST(WindowFileTest, BelievesNoTimeThatNoClockTells) {
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() - kOffset;
  const RingFolder folder;
  const std::string path = folder.path() + "/1-0-1.window";
  SideFile file(1);
  file.Add(ActivityKind::kKernel, abi::kNoWindowName, kNever, 300);
  file.Add(ActivityKind::kKernel, abi::kNoWindowName, -kNever, 300);
  file.Add(ActivityKind::kKernel, abi::kNoWindowName, 1'000'100, 300);
  file.Save(path);
  const auto contents = ReadWindowFile(path, 1);
  ASSERT_TRUE(contents.ok()) << contents.status();
  ASSERT_EQ(contents->activities.size(), 1u);
  EXPECT_EQ(contents->activities[0].begin_ns, 1'000'100);
  file.header().opened.cupti_ns = -kNever;
  file.Save(path);
  EXPECT_FALSE(ReadWindowFile(path, 1).ok());
}

TEST(WindowFileTest, BelievesNoCount) {
  const RingFolder folder;
  const std::string path = folder.path() + "/1-0-1.window";
  EXPECT_TRUE(absl::IsNotFound(ReadWindowFile(path, 1).status()));
  SideFile file(1);
  file.header().record_count.store(~0u);
  file.header().name_count.store(~0u);
  file.Save(path);
  const auto huge = ReadWindowFile(path, 1);
  ASSERT_TRUE(huge.ok());
  EXPECT_EQ(huge->names.size(), abi::kWindowNames);
  EXPECT_TRUE(huge->activities.empty()) << "records of no kind";
  EXPECT_FALSE(ReadWindowFile(path, 2).ok()) << "another window's";
  file.Save(path, abi::kWindowFileBytes - 1);
  EXPECT_FALSE(ReadWindowFile(path, 1).ok()) << "cut short";
  file.header().ready.store(0);
  file.Save(path);
  EXPECT_TRUE(absl::IsUnavailable(ReadWindowFile(path, 1).status()));
}

class WindowWatchTest : public testing::Test {
 protected:
  WindowWatchTest() : ring_(folder_.path(), {.pid = 42}), watch_(folder_.path()) {
    region_.emplace(*RegionReader::Open(ring_.path()));
    EXPECT_TRUE(watch_.Ask(*region_, 77, {2, 100, 200, 5'000, abi::kSourceCupti}).ok());
  }
  abi::WindowState& state() { return ring_.control().window_state; }
  void Tell(abi::WindowPhase phase, abi::WindowReason reason = abi::WindowReason::kNone) {
    state().ticket.store(ring_.control().window_request.ticket.load());
    state().reason.store(static_cast<std::uint32_t>(reason));
    state().phase.store(static_cast<std::uint32_t>(phase));
  }

  RingFolder folder_;
  RingWriter ring_;
  std::optional<RegionReader> region_;
  WindowWatch watch_;
};

TEST_F(WindowWatchTest, TheOrderStandsInTheControlBlock) {
  const abi::WindowRequest& request = ring_.control().window_request;
  EXPECT_EQ(request.ticket.load(), 1u);
  EXPECT_EQ(request.group_slot.load(), 2u);
  EXPECT_EQ(request.open_sequence.load(), 100u);
  EXPECT_EQ(request.close_sequence.load(), 200u);
  EXPECT_EQ(request.deadline_ns.load(), 5'000);
  EXPECT_EQ(request.sources.load(), static_cast<std::uint32_t>(abi::kSourceCupti));
  EXPECT_FALSE(watch_.Ask(*region_, 78, {}).ok()) << "one at a time";
  EXPECT_FALSE(watch_.Look(*region_, 4'000).has_value());
}

TEST_F(WindowWatchTest, PicksTheFileUpOnceAndRemovesIt) {
  SideFile file(1);
  file.Add(ActivityKind::kKernel, file.Name("gemm"), 1'000'100, 300);
  const std::string path = folder_.path() + "/" + WindowFileName(42, 0, 1);
  file.Save(path);
  Tell(abi::WindowPhase::kOpen);
  EXPECT_FALSE(watch_.Look(*region_, 4'000).has_value());
  Tell(abi::WindowPhase::kClosed);
  const auto outcome = watch_.Look(*region_, 4'000);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->closed);
  EXPECT_EQ(outcome->request_id, 77u);
  EXPECT_EQ(outcome->reason, "");
  EXPECT_EQ(outcome->sums.sums.front().name, "gemm");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(watch_.Look(*region_, 4'000).has_value());
  EXPECT_TRUE(watch_.ever_closed());
}

TEST_F(WindowWatchTest, TellsWhyThereIsNone) {
  Tell(abi::WindowPhase::kRefused, abi::WindowReason::kOtherProfiler);
  const auto refused = watch_.Look(*region_, 4'000);
  ASSERT_TRUE(refused.has_value());
  EXPECT_FALSE(refused->closed);
  EXPECT_EQ(watch_.last_refusal(), "other_profiler");
  ASSERT_TRUE(watch_.Ask(*region_, 78, {.deadline_ns = 5'000}).ok());
  EXPECT_EQ(ring_.control().window_request.ticket.load(), 2u);
  EXPECT_FALSE(watch_.Look(*region_, 5'000).has_value()) << "that state is of the one before";
  const auto late = watch_.Look(*region_, 5'000 + 1'000'000'001);
  ASSERT_TRUE(late.has_value()) << "a process that enters no op neither opens nor closes";
  EXPECT_EQ(late->reason, "deadline");
}

TEST_F(WindowWatchTest, AProcessThatEndsOrLosesItsFileIsAnOutcomeToo) {
  Tell(abi::WindowPhase::kClosed);
  const auto lost = watch_.Look(*region_, 4'000);
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->reason, "unreadable");
  EXPECT_FALSE(lost->closed);
  EXPECT_FALSE(watch_.Abandon(region_->identity()).has_value());
  ASSERT_TRUE(watch_.Ask(*region_, 78, {}).ok());
  EXPECT_EQ(watch_.Abandon(region_->identity())->reason, "process_gone");
}

}  // namespace
}  // namespace fathom::agent
