#include "daemon/agent/capture/capture_runner.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include "absl/status/status.h"
#include "daemon/agent/session/capture_cues.h"
#include "tests/daemon/agent/capture/speedscope_fake.h"

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
  // A command that prints what py-spy would write of these samples.
  std::string Prints(const std::string& folded) {
    Write(folder_ / "answer", Speedscope(folded));
    return "cat " + (folder_ / "answer").string();
  }
  absl::StatusOr<v1::RankCapture> Record(const std::string& program) {
    return RecordStacks({.program = program, .pid = 7, .thread = 7, .seconds = 1}, roots_, stop_);
  }

  std::filesystem::path folder_;
  KernelRoots roots_;
  std::atomic<bool> stop_{false};
};

TEST_F(Recording, ReducesWhatTheToolPrints) {
  const auto capture = Record(Tool(Prints("thread (7): MainThread;f (/job/a.py:3) 60\n")));
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_EQ(capture->samples(), 60u);
  EXPECT_EQ(capture->frames(0).function(), "f");
  EXPECT_GT(capture->raw_bytes(), 0u);
}

TEST_F(Recording, TellsHowMuchOfItTheThreadWaitedForACore) {
  std::filesystem::create_directories(folder_ / "7/task/7");
  const std::string times = folder_ / "7/task/7/schedstat";
  Write(times, "1000 5000 3\n");
  const std::string answer = Prints("thread (7): MainThread;f (/job/a.py:3) 60\n");
  const auto capture = Record(Tool("echo '1000 60000000000005000 9' > " + times + "\n" + answer));
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_EQ(capture->core_wait(), 1);  // more than it lasted: all of it
  Write(times, "1000 5000 3\n");
  EXPECT_EQ(Record(Tool(answer))->core_wait(), 0);
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

TEST_F(Recording, BeginsAndEndsWithTheIterationsThatWereNamed) {
  CaptureCues cues;
  std::optional<std::uint64_t> at = 10;
  const auto newest = [&](const CueOrder&) { return at; };
  RecordingPlan plan{.pid = 7, .thread = 7, .workers = true};
  // Ends with an answer when it is interrupted, as py-spy does.
  plan.program =
      Tool("trap '" + Prints("process 7:\"a\";thread (7): MainThread;f (/job/a.py:3) 60\n") +
           "; exit 0' INT\n"
           "echo $* > " +
           (folder_ / "options").string() + "\nwhile true; do sleep 0.01; done\n");
  plan.cue = cues.Add({.job = "j", .open_sequence = 20, .close_sequence = 30, .deadline_ns = 1000});
  absl::StatusOr<v1::RankCapture> capture = absl::UnknownError("");
  std::thread recording([&] { capture = RecordStacks(plan, roots_, stop_); });
  cues.Look(1, newest);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "options"));  // it is not there yet
  at = 21;
  cues.Look(2, newest);
  while (!std::filesystem::exists(folder_ / "options")) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  at = 31;
  cues.Look(3, newest);
  recording.join();
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_EQ(capture->samples(), 60u);
  EXPECT_GT(capture->seconds(), 0.05);
  EXPECT_LT(capture->seconds(), kMaxRecordingSeconds);
  std::string options;
  std::getline(std::ifstream(folder_ / "options"), options);
  EXPECT_NE(options.find("--nonblocking"), std::string::npos);
  EXPECT_NE(options.find("--subprocesses"), std::string::npos);
  EXPECT_EQ(options.find("--native"), std::string::npos);
}

TEST_F(Recording, GivesUpOnARankThatDoesNotComeToThem) {
  CaptureCues cues;
  RecordingPlan plan{.program = Tool("touch " + (folder_ / "ran").string()), .pid = 7};
  plan.cue = cues.Add({.job = "j", .open_sequence = 20, .close_sequence = 30, .deadline_ns = 1000});
  absl::Status why;
  std::thread recording([&] { why = RecordStacks(plan, roots_, stop_).status(); });
  cues.Look(1001, [](const CueOrder&) { return std::optional<std::uint64_t>(3); });
  recording.join();
  EXPECT_EQ(why.message(), "it did not come to these iterations in time");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

TEST_F(Recording, HaltsTheProcessOnlyForNativeFrames) {
  const RecordingPlan plan{.program = Tool(Prints("thread (7): MainThread;f (/job/a.py:3) 60\n") +
                                           "; echo $* > " + (folder_ / "options").string() + "\n"),
                           .pid = 7,
                           .thread = 7,
                           .seconds = 1,
                           .native = true};
  const auto capture = RecordStacks(plan, roots_, stop_);
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_TRUE(capture->native());
  std::string options;
  std::getline(std::ifstream(folder_ / "options"), options);
  EXPECT_NE(options.find("--native"), std::string::npos);
  EXPECT_EQ(options.find("--nonblocking"), std::string::npos);
}

TEST_F(Recording, SaysWhatIsMissing) {
  EXPECT_TRUE(absl::IsNotFound(Record((folder_ / "absent").string()).status()));
  const auto denied = Record(Tool("echo 'Error: Permission denied'; exit 1\n"));
  EXPECT_NE(denied.status().message().find("ptrace_scope"), std::string::npos);
  const auto nothing = Record(Tool(Prints("thread (9): other;f (a.py:1) 3\n")));
  EXPECT_EQ(nothing.status().message(), "py-spy saw no Python frame of the thread");
  EXPECT_EQ(Record(Tool("echo 'thread (7): MainThread;f (a.py:1) 3'\n")).status().message(),
            "what py-spy wrote cannot be read");
  std::filesystem::remove_all(folder_ / "7");
  EXPECT_EQ(Record(Tool("true")).status().message(), "the process is gone");
}

}  // namespace
}  // namespace fathom::agent
