#include "daemon/agent/budget/cost_meter.h"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

const PartCost& Of(const PartCosts& costs, WorkPart part) {
  return costs[static_cast<std::size_t>(part)];
}

TEST(CostMeterTest, APartIsChargedWithoutWhatLiesInIt) {
  std::int64_t now = 100;
  CostMeter meter([&now] { return now; });
  {
    const CostMeter::In polling(&meter, WorkPart::kPolling);
    now += 10;
    {
      const CostMeter::In records(&meter, WorkPart::kRecords);
      now += 70;
      meter.Handled(WorkPart::kRecords, 7);
    }
    now += 5;
  }
  now += 3;
  const PartCosts costs = meter.Take();
  EXPECT_EQ(Of(costs, WorkPart::kPolling).cpu_ns, 15);
  EXPECT_EQ(Of(costs, WorkPart::kPolling).runs, 1u);
  EXPECT_EQ(Of(costs, WorkPart::kRecords).cpu_ns, 70);
  EXPECT_EQ(Of(costs, WorkPart::kRecords).events, 7u);
  EXPECT_EQ(Of(costs, WorkPart::kNone).cpu_ns, 3);
}

TEST(CostMeterTest, TakingTwiceCountsNothingTwice) {
  std::int64_t now = 0;
  CostMeter meter([&now] { return now; });
  const CostMeter::In health(&meter, WorkPart::kHealth);
  now += 4;
  EXPECT_EQ(Of(meter.Take(), WorkPart::kHealth).cpu_ns, 4) << "also of a part that goes on";
  now += 6;
  const PartCosts again = meter.Take();
  EXPECT_EQ(Of(again, WorkPart::kHealth).cpu_ns, 6);
  EXPECT_EQ(Of(again, WorkPart::kHealth).runs, 0u);
}

TEST(CostMeterTest, WithoutAMeterNothingHappens) {
  const CostMeter::In nowhere(nullptr, WorkPart::kOps);
}

}  // namespace
}  // namespace fathom::agent
