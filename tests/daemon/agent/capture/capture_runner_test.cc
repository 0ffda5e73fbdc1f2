#include "daemon/agent/capture/capture_runner.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "absl/status/status.h"

namespace fathom::agent {
namespace {

using std::chrono::steady_clock;

std::vector<v1::RankCapture> Await(CaptureRunner& runner, std::size_t count) {
  std::vector<v1::RankCapture> all;
  const auto deadline = steady_clock::now() + std::chrono::seconds(60);
  while (all.size() < count && steady_clock::now() < deadline) {
    for (auto& each : runner.Take()) all.push_back(std::move(each));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return all;
}

TEST(CaptureRunner, HandsOverEachProcessOnceWithItsRank) {
  CaptureRunner runner(
      [](const RecordingPlan& plan, const auto&) -> absl::StatusOr<v1::RankCapture> {
        if (plan.pid == 2) return absl::NotFoundError("the process is gone");
        v1::RankCapture capture;
        capture.set_samples(plan.pid);
        return capture;
      });
  runner.Begin({{10, {.pid = 1}}, {20, {.pid = 2}}, {30, {.pid = 3}}});
  std::map<std::uint32_t, v1::RankCapture> by_rank;
  for (const auto& each : Await(runner, 3)) by_rank[each.rank()] = each;
  ASSERT_EQ(by_rank.size(), 3u);
  EXPECT_EQ(by_rank[10].state(), "done");
  EXPECT_EQ(by_rank[30].samples(), 3u);
  EXPECT_EQ(by_rank[20].state(), "refused");
  EXPECT_EQ(by_rank[20].reason(), "the process is gone");
  EXPECT_FALSE(runner.busy());
  EXPECT_TRUE(runner.Take().empty());
}

TEST(CaptureRunner, IsBusyWhileAToolRunsAndEndsItWhenItGoes) {
  std::atomic<bool> began{false}, ended{false};
  {
    CaptureRunner runner([&](const RecordingPlan&,
                             const std::atomic<bool>& stop) -> absl::StatusOr<v1::RankCapture> {
      began = true;
      while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ended = true;
      return absl::CancelledError("stopped");
    });
    runner.Begin({{1, {}}});
    EXPECT_TRUE(runner.busy());
    const auto deadline = steady_clock::now() + std::chrono::seconds(60);
    while (!began && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  EXPECT_TRUE(ended);
}

class Recording : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("capture." + std::to_string(getpid()));
    std::filesystem::create_directories(folder_ / "7");
    Write(folder_ / "7/status", "Name:\tpython3\nTracerPid:\t0\n");
    roots_.proc = folder_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void Write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  std::string Tool(const std::string& script) {
    Write(folder_ / "tool", "#!/bin/sh\n" + script);
    chmod((folder_ / "tool").c_str(), 0755);
    return folder_ / "tool";
  }
  absl::StatusOr<v1::RankCapture> Record(const std::string& program) {
    return RecordStacks({.program = program, .pid = 7, .thread = 7, .seconds = 1}, roots_, stop_);
  }

  std::filesystem::path folder_;
  KernelRoots roots_;
  std::atomic<bool> stop_{false};
};

TEST_F(Recording, ReducesWhatTheToolPrints) {
  const auto capture = Record(Tool("echo 'thread (7): MainThread;f (/job/a.py:3) 60'\n"));
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_EQ(capture->samples(), 60u);
  EXPECT_EQ(capture->frames(0).function(), "f");
  EXPECT_GT(capture->raw_bytes(), 0u);
}

TEST_F(Recording, LeavesAProcessAloneThatAnotherWatches) {
  Write(folder_ / "7/status", "Name:\tpython3\nTracerPid:\t99\n");
  std::filesystem::create_directories(folder_ / "99");
  Write(folder_ / "99/comm", "gdb\n");
  const auto capture = Record(Tool("touch " + (folder_ / "ran").string()));
  EXPECT_EQ(capture.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(capture.status().message(), "another tool watches this process: gdb (pid 99)");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

TEST_F(Recording, SaysWhatIsMissing) {
  EXPECT_TRUE(absl::IsNotFound(Record((folder_ / "absent").string()).status()));
  const auto denied = Record(Tool("echo 'Error: Permission denied'; exit 1\n"));
  EXPECT_NE(denied.status().message().find("ptrace_scope"), std::string::npos);
  const auto nothing = Record(Tool("echo 'thread (9): other;f (a.py:1) 3'\n"));
  EXPECT_EQ(nothing.status().message(), "py-spy saw no Python frame of the thread");
  std::filesystem::remove_all(folder_ / "7");
  EXPECT_EQ(Record(Tool("true")).status().message(), "the process is gone");
}

}  // namespace
}  // namespace fathom::agent
