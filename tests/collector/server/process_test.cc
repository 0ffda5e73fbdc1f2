// The real binary: its ready line, its exit codes, its one-line errors, and what survives kill -9.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "collector/import/fathom/recording_file.h"
#include "collector/ops/job_folder.h"
#include "collector/process/stop_signals.h"
#include "proto/packing/pack_ops.h"
#include "tests/collector/messages.h"
#include "tests/collector/server/child_process.h"
#include "tests/collector/server/fake_agent.h"
#include "tests/collector/server/http_client.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

struct ProcessTest : testing::Test {
  fs::path folder = fs::temp_directory_path() / ("fathom-collector-" + std::to_string(getpid()));
  std::string store = (folder / "fathom.db").string();
  void SetUp() override { fs::remove_all(folder); }
  void TearDown() override { fs::remove_all(folder); }

  std::vector<std::string> Arguments(const std::string& grpc = "127.0.0.1:0",
                                     const std::string& http = "127.0.0.1:0") const {
    return {"--grpc", grpc, "--http", http, "--store", store, "--log-level", "error"};
  }
  static bool Eventually(int port, const std::string& target, const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < deadline) {
      if (HttpGet(port, target).body.find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  // Four ranks; rank 2 is stopped and the others have waited for it for a minute.
  static void FeedStopped(FakeAgent& agent) {
    for (std::uint32_t r = 0; r < 4; ++r) {
      agent.Send(Message(0, RankOf(r, 4)));
      agent.Send(Message(0, GroupOf(r, 4)));
      BatchShape shape;
      shape.rank = r;
      shape.count = 40;
      agent.Send(Message(0, Batch(shape)));
    }
    for (std::uint32_t r = 0; r < 4; ++r) {
      auto health = HealthOf(r, r == 2 ? "T" : "S", 60'000'000'000);
      auto& progress = *health.add_groups();
      progress.set_group(kWorldGroup);
      progress.set_entered(r == 2 ? 200 : 201);
      progress.set_started(progress.entered());
      progress.set_completed(200);
      if (r != 2) {
        auto& op = *health.add_open_ops();
        op.set_group(kWorldGroup);
        op.set_sequence(200);
        op.set_kind(1);
        op.set_bytes(1000);
        op.set_peer(~0u);
        op.set_age_ns(60'000'000'000);
        op.set_started(true);
      }
      agent.Send(Message(0, health));
    }
  }
};

TEST_F(ProcessTest, SaysThatItIsReadyAndStopsOnSigterm) {
  ChildProcess collector(Arguments());
  ASSERT_TRUE(collector.WaitReady());
  EXPECT_EQ(HttpGet(collector.http_port(), "/healthz").status, 200);
  collector.Signal(SIGTERM);
  EXPECT_EQ(collector.Wait(), 0);
  EXPECT_EQ(collector.Errors(), "");
}

TEST_F(ProcessTest, StopsAlsoWithAgentsAndListenersConnected) {
  ChildProcess collector(Arguments());
  ASSERT_TRUE(collector.WaitReady());
  FakeAgent agent(collector.grpc_port(), "n0");
  agent.Hello();
  ASSERT_TRUE(agent.WaitAcknowledged());
  EventReader events(collector.http_port(), "/api/v1/events");
  ASSERT_TRUE(events.Wait("retry:"));
  collector.Signal(SIGINT);
  EXPECT_EQ(collector.Wait(), 0);
  EXPECT_TRUE(agent.WaitOver());
  EXPECT_TRUE(events.WaitOver());
}

TEST_F(ProcessTest, APortInUseIsOneLineThatNamesIt) {
  ChildProcess first(Arguments());
  ASSERT_TRUE(first.WaitReady());
  const std::string grpc = "127.0.0.1:" + std::to_string(first.grpc_port());
  const std::string http = "127.0.0.1:" + std::to_string(first.http_port());
  ChildProcess second(Arguments(grpc));
  EXPECT_EQ(second.Wait(), 1);
  const std::string error = second.Errors();
  EXPECT_THAT(error, AllOf(HasSubstr(grpc), HasSubstr("--grpc")));
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << error;
  ChildProcess third(Arguments("127.0.0.1:0", http));
  EXPECT_EQ(third.Wait(), 1);
  EXPECT_THAT(third.Errors(), AllOf(HasSubstr(http), HasSubstr("--http")));
}

TEST_F(ProcessTest, BadSettingsAreOneLineAndExitCodeOne) {
  for (const auto& [arguments, want] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--http", "0.0.0.0:0"}, "--insecure"},
           {{"--colour"}, "did you mean"},
           {{"--config", "/nowhere.yaml"}, "/nowhere.yaml"},
           {{"--check-config", "--log-level", "loud"}, "'loud'"}}) {
    ChildProcess collector(arguments);
    EXPECT_EQ(collector.Wait(), 1);
    const std::string error = collector.Errors();
    EXPECT_THAT(error, HasSubstr(want));
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << error;
  }
  ChildProcess sound({"--check-config"});
  EXPECT_EQ(sound.Wait(), 0);
}

TEST_F(ProcessTest, AVerdictSurvivesKill9) {
  std::string id;
  {
    ChildProcess collector(Arguments());
    ASSERT_TRUE(collector.WaitReady());
    FakeAgent agent(collector.grpc_port(), "n0");
    agent.Hello();
    FeedStopped(agent);
    ASSERT_TRUE(agent.WaitAcknowledged());
    ASSERT_TRUE(Eventually(collector.http_port(), "/api/v1/verdicts?active=1",
                           "\"cause\":\"process_stopped\""))
        << HttpGet(collector.http_port(), "/api/v1/jobs/train/report").body;
    const std::string body = HttpGet(collector.http_port(), "/api/v1/verdicts").body;
    id = body.substr(body.find("\"id\":\"") + 6, 13);
    collector.Signal(SIGKILL);
    EXPECT_EQ(collector.Wait(), 128 + SIGKILL);
  }
  ChildProcess again(Arguments());
  ASSERT_TRUE(again.WaitReady());
  EXPECT_THAT(HttpGet(again.http_port(), "/readyz").body, HasSubstr("\"degraded\":[]"));
  EXPECT_THAT(HttpGet(again.http_port(), "/api/v1/verdicts/" + id).body,
              AllOf(HasSubstr("\"cause\":\"process_stopped\""), HasSubstr("\"ranks\":[2]")));
  // The job is still stopped when its agent comes back: the same verdict goes on, no second one.
  FakeAgent agent(again.grpc_port(), "n0");
  agent.Hello();
  FeedStopped(agent);
  ASSERT_TRUE(agent.WaitAcknowledged());
  ASSERT_TRUE(Eventually(again.http_port(), "/api/v1/jobs", "\"state\":\"hung\""));
  EXPECT_THAT(HttpGet(again.http_port(), "/api/v1/verdicts?active=1").body, HasSubstr(id));
}

// What was acknowledged is there again before any agent has come back.
TEST_F(ProcessTest, WhatWasAcknowledgedSurvivesKill9) {
  std::string before;
  {
    ChildProcess collector(Arguments());
    ASSERT_TRUE(collector.WaitReady());
    FakeAgent agent(collector.grpc_port(), "n0");
    agent.Hello();
    for (std::uint32_t r = 0; r < 4; ++r) {
      agent.Send(Message(0, RankOf(r, 4)));
      agent.Send(Message(0, GroupOf(r, 4)));
      BatchShape shape;
      shape.rank = r;
      shape.count = 200;
      shape.duration_us = 100'000 + r;
      agent.Send(Message(0, Batch(shape)));
    }
    ASSERT_TRUE(agent.WaitAcknowledged());
    before = HttpGet(collector.http_port(), "/api/v1/jobs/train/iterations?limit=2000").body;
    collector.Signal(SIGKILL);
    EXPECT_EQ(collector.Wait(), 128 + SIGKILL);
  }
  ASSERT_THAT(before, HasSubstr("199"));
  ChildProcess again(Arguments());
  ASSERT_TRUE(again.WaitReady());
  EXPECT_EQ(HttpGet(again.http_port(), "/api/v1/jobs/train/iterations?limit=2000").body, before);
  EXPECT_THAT(HttpGet(again.http_port(), "/api/v1/jobs").body,
              AllOf(HasSubstr("\"iteration\":199"), HasSubstr("\"ranks\":4")));
}

TEST_F(ProcessTest, OpsThatWereAcknowledgedSurviveKill9) {
  std::vector<std::string> arguments = Arguments();
  arguments.insert(arguments.end(), {"--stream", "ops"});
  ChildProcess collector(arguments);
  ASSERT_TRUE(collector.WaitReady());
  FakeAgent agent(collector.grpc_port(), "n0");
  agent.Hello();
  agent.Send(Message(0, RankOf(0, 1)));
  v1::RowsReply rows;
  rows.set_job("train");
  rows.add_ranks()->add_ops()->set_enter_ns(1'000'000'000);
  v1::AgentMessage ops;
  *ops.mutable_ops() = PackOps(rows, 4711);
  agent.Send(ops);
  ASSERT_TRUE(agent.WaitAcknowledged());
  collector.Signal(SIGKILL);
  EXPECT_EQ(collector.Wait(), 128 + SIGKILL);
  const auto segments = SegmentsIn(store + ".ops/train");
  ASSERT_EQ(segments.size(), 1u);
  auto file = RecordingFile::Open(segments.front().path, {});
  ASSERT_TRUE(file.ok());
  const auto entry = file->Next();
  ASSERT_TRUE(entry.ok() && *entry != nullptr);
  EXPECT_EQ((*entry)->message().ops().serial(), 4711u);
}

TEST_F(ProcessTest, ADamagedStoreIsNamedAndWorkGoesOn) {
  fs::create_directories(folder);
  std::ofstream(store) << std::string(8192, 'x');
  ChildProcess collector(Arguments());
  ASSERT_TRUE(collector.WaitReady());
  EXPECT_THAT(HttpGet(collector.http_port(), "/readyz").body,
              AllOf(HasSubstr("\"ready\":true"), HasSubstr(store)));
  EXPECT_THAT(HttpGet(collector.http_port(), "/metrics").body,
              HasSubstr("fathom_store_degraded 1"));
  collector.Signal(SIGTERM);
  EXPECT_EQ(collector.Wait(), 0);
  EXPECT_THAT(collector.Errors(), HasSubstr(store));
}

TEST_F(ProcessTest, EndsWithItsParentWhenAsked) {
  auto arguments = Arguments();
  arguments.push_back("--parent-death-signal");
  int up[2];
  ASSERT_EQ(pipe(up), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    ChildProcess collector(arguments);
    const bool ready = collector.WaitReady();
    const pid_t pid = ready ? collector.pid() : -1;
    [[maybe_unused]] const auto n = write(up[1], &pid, sizeof pid);
    _exit(0);  // without reaping: the collector is orphaned
  }
  pid_t pid = -1;
  ASSERT_EQ(read(up[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_GT(pid, 0);
  const std::string status = "/proc/" + std::to_string(pid) + "/stat";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const auto alive = [&] {
    std::ifstream in(status);
    std::string text;  // getline, because reading of a process that has just ended fails
    std::getline(in, text);
    return !text.empty() && text.find(") Z") == std::string::npos;
  };
  while (alive() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(alive());
}

TEST_F(ProcessTest, SighupTakesWhatItCanAndKeepsTheOldOnAnError) {
  fs::create_directories(folder);
  const std::string file = (folder / "collector.yaml").string();
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  write("log_level: warning\n");
  ChildProcess collector(
      {"--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", store, "--config", file});
  ASSERT_TRUE(collector.WaitReady());
  write("log_levle: info\n");
  collector.Signal(SIGHUP);
  ASSERT_TRUE(collector.Says("did you mean 'log_level'"));
  EXPECT_EQ(HttpGet(collector.http_port(), "/readyz").status, 200);
  write("log_level: info\nmax_jobs: 7\nnotify: json=http://ann:hush@127.0.0.1:1/token\n");
  collector.Signal(SIGHUP);
  ASSERT_TRUE(collector.Says("max_jobs has changed and takes effect with a restart"));
  FakeAgent agent(collector.grpc_port(), "n0");
  agent.Hello();
  ASSERT_TRUE(agent.WaitAcknowledged());
  FeedStopped(agent);
  EXPECT_TRUE(
      Eventually(collector.http_port(), "/metrics", "fathom_notices_total{result=\"failed\"} 1"));
  collector.Signal(SIGTERM);
  EXPECT_EQ(collector.Wait(), 0);
  const std::string said = collector.Errors();
  EXPECT_THAT(said, AllOf(HasSubstr("old ones hold"), HasSubstr("settings read again"),
                          HasSubstr("stopping")));
  EXPECT_THAT(said, testing::Not(AnyOf(HasSubstr("hush"), HasSubstr("token"))));
}

TEST(StopSignalsTest, ASecondOneEndsTheProcessAtOnce) {
  const pid_t pid = fork();
  if (pid == 0) {
    const StopSignals signals;
    if (signals.Wait(Nanos::FromSeconds(20)) != StopSignals::Came::kStop) _exit(1);
    signals.Insist();
    for (;;) pause();  // a stop that hangs
  }
  const auto ended = [&](int* status, int ms) {
    for (int i = 0; i < ms / 10; ++i) {
      if (waitpid(pid, status, WNOHANG) == pid) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  int status = 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  kill(pid, SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  kill(pid, SIGTERM);  // as `timeout` does: the same one twice
  EXPECT_FALSE(ended(&status, 1500));
  kill(pid, SIGTERM);
  ASSERT_TRUE(ended(&status, 10'000));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
}

}  // namespace
}  // namespace fathom::collector
