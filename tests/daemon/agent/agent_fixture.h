// An agent for tests: a clock that the test sets, a folder in the place of /proc, a collector, and
// processes whose rings the test writes.
//
// Used by agent_test and agent_rows_test. Thread-safety: the clock may be read by the agent's
// threads.
#ifndef FATHOM_TESTS_DAEMON_AGENT_AGENT_FIXTURE_H_
#define FATHOM_TESTS_DAEMON_AGENT_AGENT_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/agent/agent.h"
#include "tests/fakes/fake_collector.h"
#include "tests/fakes/ring_writer.h"

namespace fathom::agent {

using fakes::FakeCollector;
using fakes::RecordOf;
using fakes::RingWriter;
using Messages = FakeCollector::Messages;

inline constexpr std::int64_t kMs = 1'000'000;

// An agent on a made-up clock and /proc, a collector, and processes that the test plays.
class AgentTest : public testing::Test {
 protected:
  AgentTest() {
    std::filesystem::create_directories(shm());
    collector_.Start();
    settings_.collector = collector_.target();
    settings_.http = "";
    settings_.shm_dir = shm();
    settings_.node = "n1";
    settings_.linger_s = 5;
  }
  ~AgentTest() override {
    if (agent_ != nullptr) agent_->Drain();
  }

  std::string shm() const { return folder_.path() + "/shm"; }
  void StartAgent() {
    AgentWorld world;
    world.mono_now = [this] { return MonoNs(now_); };
    world.wall_now = [this] { return WallNs(now_ + 5000 * kMs); };
    world.roots = {folder_.path() + "/proc", folder_.path() + "/cgroup"};
    agent_ = std::make_unique<Agent>(settings_, world);
    ASSERT_TRUE(agent_->Start().ok());
  }
  void Live(std::uint32_t pid, bool alive) {
    const std::string process = folder_.path() + "/proc/" + std::to_string(pid);
    std::filesystem::remove_all(process);
    if (!alive) return;
    std::filesystem::create_directories(process);
    std::ofstream stat(process + "/stat");
    stat << pid << " (python) S";
    for (int field = 4; field <= 52; ++field) stat << " " << field;
  }
  RingWriter& Process(std::uint32_t pid, std::uint32_t rank) {
    Live(pid, true);
    rings_.push_back(std::make_unique<RingWriter>(
        shm(), fakes::RingOptions{.pid = pid, .start_time_ticks = 22, .rank = rank}));
    rings_.back()->AddGroup("0", 2, rank, {0, 1});
    return *rings_.back();
  }
  void Advance(std::int64_t ns) {
    now_ += ns;
    agent_->Step();
  }
  // One training step on every ring: two collectives in 100 ms.
  void TrainStep(bool last_hangs = false) {
    for (auto& ring : rings_) {
      const std::uint64_t q = sequence_;
      WriteOp(
          *ring,
          {.op_id = ring->NewOpId(), .sequence = q, .enter_ns = now_, .end_ns = now_ + 30 * kMs});
      WriteOp(*ring, {.op_id = ring->NewOpId(),
                      .sequence = q + 1,
                      .bytes = 4,
                      .enter_ns = now_ + 40 * kMs,
                      .end_ns = last_hangs ? 0 : now_ + 50 * kMs});
    }
    sequence_ += 2;
    Advance(100 * kMs);
  }
  bool Got(const std::function<bool(const v1::AgentMessage&)>& holds) {
    return collector_.WaitFor([&](const Messages& messages) {
      return std::any_of(messages.begin(), messages.end(), holds);
    });
  }
  // Lets the agent work, its clock standing still, until the newest message is as wanted.
  bool StepUntil(const std::function<bool(const v1::AgentMessage&)>& holds) {
    return StepWhileNot([&] {
      const Messages messages = collector_.messages();
      return !messages.empty() && holds(messages.back());
    });
  }
  bool Connected() {
    return StepWhileNot([&] { return agent_->connected(); });
  }
  bool StepWhileNot(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!holds() && std::chrono::steady_clock::now() < deadline) agent_->Step();
    return holds();
  }

  fakes::RingFolder folder_;
  FakeCollector collector_;
  Settings settings_;
  std::atomic<std::int64_t> now_{1000 * kMs};
  std::vector<std::unique_ptr<RingWriter>> rings_;
  std::unique_ptr<Agent> agent_;
  std::uint64_t sequence_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_TESTS_DAEMON_AGENT_AGENT_FIXTURE_H_
