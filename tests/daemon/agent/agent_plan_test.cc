// How finely the agent works within a budget, and that it is late at no pace.
#include <gtest/gtest.h>

#include "daemon/agent/agent.h"
#include "tests/daemon/agent/agent_fixture.h"

namespace fathom::agent {
namespace {

struct PlanAgentTest : AgentTest {
  void StartJob(double budget_cpu) {
    settings_.budget_cpu = budget_cpu;
    settings_.hardware = false;
    Process(10, 0);
    Process(11, 1);
    StartAgent();
    ASSERT_TRUE(Connected());
  }
  // The job does so many steps a second, two ops each; the agent is called when it wants to be.
  void Play(double seconds, double steps_per_s) {
    const auto step_ns = static_cast<std::int64_t>(1e9 / steps_per_s);
    const std::int64_t end = now_ + static_cast<std::int64_t>(seconds * 1e9);
    std::int64_t next = now_;
    while (now_ < end) {
      now_ += std::max<std::int64_t>(agent_->Step().count, kMs);
      for (; next + step_ns <= now_; next += step_ns) Write(next, step_ns);
    }
  }
  void Write(std::int64_t at, std::int64_t step_ns) {
    for (auto& ring : rings_) {
      for (int op = 0; op < 2; ++op) {
        WriteOp(*ring, {.op_id = ring->NewOpId(),
                        .sequence = sequence_ + static_cast<std::uint64_t>(op),
                        .bytes = op == 0 ? std::uint64_t{1} << 20 : 4,
                        .enter_ns = at + op * step_ns / 4,
                        .end_ns = at + (op + 1) * step_ns / 4});
        ++written_;
      }
    }
    sequence_ += 2;
  }
  std::size_t LevelOf(Knob knob) const {
    return agent_->plan().paces.level[static_cast<std::size_t>(knob)];
  }

  std::uint64_t written_ = 0;
};

TEST_F(PlanAgentTest, WithoutALimitAllIsAsFineAsItIsSet) {
  settings_.budget_mib = 0;
  settings_.budget_kbit = 0;
  StartJob(0);
  Play(12, 50);
  EXPECT_EQ(LevelOf(Knob::kPolling), 0u);
  EXPECT_EQ(LevelOf(Knob::kThreads), 0u);
  EXPECT_FALSE(agent_->plan().parts.empty());
  EXPECT_TRUE(Got([](const v1::AgentMessage& m) {
    return m.has_plan() && m.plan().budget().cores() == 0 && m.plan().spend().cores() > 0;
  })) << "no limit is told as 0";
}

TEST_F(PlanAgentTest, TenTimesTheOpsLoseNothingAtTheCoarsestPaces) {
  StartJob(1e-7);
  Play(12, 50);
  EXPECT_GT(LevelOf(Knob::kPolling), 0u);
  EXPECT_GT(LevelOf(Knob::kThreads), 0u);
  EXPECT_FALSE(agent_->plan().fits) << "nothing is as cheap as that";
  Play(12, 500);
  agent_->Drain();
  EXPECT_EQ(agent_->totals().records_dropped.at("overwritten"), 0u);
  EXPECT_EQ(agent_->totals().ops, written_);
  EXPECT_TRUE(
      Got([](const v1::AgentMessage& m) { return m.has_plan() && m.plan().changes() > 0; }));
}

}  // namespace
}  // namespace fathom::agent
