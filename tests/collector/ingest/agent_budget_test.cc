#include "collector/ingest/agent_budget.h"

#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

// Sends as fast as it is read for so long; how many messages were read.
int ReadIn(AgentBudget& budget, double seconds, std::size_t bytes, std::size_t ranks) {
  MonoNs now(1'000'000'000);
  const MonoNs end = now + Nanos::FromSeconds(seconds);
  int read = 0;
  while (now < end) {
    now = now + budget.Take(bytes, ranks, now) + Nanos(1'000);
    ++read;
  }
  return read;
}

TEST(AgentBudget, ABurstIsReadAtOnceAndThenItsRate) {
  AgentBudget budget(100);
  EXPECT_EQ(budget.Take(0, 0, MonoNs(1)), Nanos());
  AgentBudget flood(100);
  EXPECT_NEAR(ReadIn(flood, 60, 0, 0), 100 * (60 + AgentBudget::kBurst), 10);
}

TEST(AgentBudget, LargeMessagesCountByTheirBytes) {
  AgentBudget flood(100);
  const auto bytes = static_cast<std::size_t>(9 * AgentBudget::kBytes);
  EXPECT_NEAR(ReadIn(flood, 60, bytes, 0), 100 * (60 + AgentBudget::kBurst) / 10, 10);
}

TEST(AgentBudget, ANodeWithManyRanksMaySendMore) {
  AgentBudget flood(100);
  EXPECT_NEAR(ReadIn(flood, 60, 0, 1000), 8000 * 60 + 1000, 9000);
}

TEST(AgentBudget, WhoSendsWhatARealAgentSendsNeverWaits) {
  AgentBudget budget(100);
  MonoNs now(1'000'000'000);
  for (int i = 0; i < 10'000; ++i) {
    now = now + Nanos(1'000'000'000 / 40);  // eight ranks, four times a second, and health
    EXPECT_EQ(budget.Take(600, 8, now), Nanos());
  }
}

}  // namespace
}  // namespace fathom::collector
