// What /api/v1/plan says of a collector and of agents.
#include "collector/api/plan/plan_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fathom::collector {
namespace {

v1::NodePlan PlanOf(double budget_cores, double cores) {
  v1::NodePlan plan;
  plan.mutable_budget()->set_cores(budget_cores);
  plan.mutable_spend()->set_cores(cores);
  plan.set_fits(budget_cores == 0 || cores <= budget_cores);
  v1::PlanPart& part = *plan.add_parts();
  part.set_name("looks");
  part.set_rate("every 500 ms");
  part.set_level(1);
  part.set_levels(4);
  return plan;
}

AgentFacts Agent(const std::string& node, bool told) {
  AgentFacts agent;
  agent.node = node;
  if (told) agent.plan = std::make_shared<const v1::NodePlan>(PlanOf(0.01, 0.004));
  return agent;
}

TEST(PlanJsonTest, TheCollectorStandsBeforeTheNodes) {
  const CentrePlan centre{"c1", PlanOf(0.5, 0.7)};
  const auto all =
      nlohmann::json::parse(PlanJson(&centre, {Agent("n1", true), Agent("n2", false)}));
  ASSERT_EQ(all["plan"].size(), 2u) << "one that has told none is left out";
  EXPECT_EQ(all["plan"][0]["collector"], "c1");
  EXPECT_FALSE(all["plan"][0].contains("node"));
  EXPECT_EQ(all["plan"][0]["fits"], false);
  EXPECT_EQ(all["plan"][0]["parts"][0]["level"], 1);
  EXPECT_EQ(all["plan"][1]["node"], "n1");
  EXPECT_FALSE(all["plan"][1].contains("collector"));
}

TEST(PlanJsonTest, WithoutTheCollectorNodesStandAlone) {
  const auto all = nlohmann::json::parse(PlanJson(nullptr, {Agent("n1", true)}));
  ASSERT_EQ(all["plan"].size(), 1u);
  EXPECT_EQ(all["plan"][0]["node"], "n1");
}

}  // namespace
}  // namespace fathom::collector
