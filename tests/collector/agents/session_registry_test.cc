#include "collector/agents/session_registry.h"

#include <gtest/gtest.h>

#include "fathom/v1/agent.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

v1::AgentCounters Shed(std::uint64_t ops, std::uint64_t health) {
  v1::AgentCounters counters;
  (*counters.mutable_messages_shed())["ops"] = ops;
  (*counters.mutable_messages_shed())["health"] = health;
  return counters;
}

TEST(SessionRegistry, AnAgentThatGivesUpMessagesIsToldOfUntilItHasNotForAWhile) {
  FakeClock clock;
  SessionRegistry registry(clock);
  registry.Connect(1, HelloFrom("n0").hello(), {});
  registry.Connect(2, HelloFrom("n1").hello(), {});
  const std::set<std::string> nodes = {"n0", "n1", "n2"};
  registry.Counters("n0", Shed(0, 0));
  EXPECT_EQ(registry.Shedding(nodes), 0u);
  registry.Counters("n0", Shed(3, 1));
  EXPECT_EQ(registry.Shedding(nodes), 1u);
  EXPECT_EQ(registry.Shedding({"n1"}), 0u);
  EXPECT_EQ(registry.Totals().messages_shed.at("ops"), 3u);
  clock.AdvanceSeconds(20);
  registry.Counters("n0", Shed(3, 1));  // no more than before
  EXPECT_EQ(registry.Shedding(nodes), 1u);
  clock.AdvanceSeconds(11);
  EXPECT_EQ(registry.Shedding(nodes), 0u) << "it has kept up for 30 s";
  EXPECT_EQ(registry.Totals().messages_shed.at("health"), 1u);
}

TEST(SessionRegistry, ANewAgentOfANodeCountsFromZero) {
  FakeClock clock;
  SessionRegistry registry(clock);
  registry.Connect(1, HelloFrom("n0").hello(), {});
  registry.Counters("n0", Shed(5, 0));
  registry.Counters("n0", Shed(2, 0));
  EXPECT_EQ(registry.Totals().messages_shed.at("ops"), 7u);
}

}  // namespace
}  // namespace fathom::collector
