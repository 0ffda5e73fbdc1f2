// A collector's budget is kept: what its work cost is taken up, and the levels reach the work.
#include "collector/serve/budget_keeper.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/config/collector_config.h"
#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

struct BudgetKeeperTest : testing::Test {
  FakeClock clock;
  CentreWork work{clock};
  JobTable jobs{clock, {}};
  SessionRegistry registry{clock};
  IngestCounters counters;
  RowRequests requests{registry, counters, clock};
  VerdictLedger ledger{[](VerdictChange, const Episode&) {}};
  Diagnoser diagnoser{
      {jobs, registry, requests, ledger, clock, nullptr, nullptr}, {}, {}, Nanos(60'000'000'000)};
  std::vector<std::string> said;
  double process_cpu_s = 0;
  CollectorConfig config;

  std::unique_ptr<BudgetKeeper> Keeper() {
    return std::make_unique<BudgetKeeper>(
        BudgetKeeper::Parts{work, jobs, diagnoser, counters, clock,
                            [this](const std::string& line) { said.push_back(line); },
                            [this] { return process_cpu_s; }, [] { return 50e6; }},
        BudgetOf(config));
  }
  // In five seconds so many writes of 50 ms each; all else takes that much.
  void Work(int writes, double others_s) {
    for (int i = 0; i < writes; ++i) {
      const Doing writing(&work, CentrePart::kWrites);
      clock.AdvanceSeconds(0.05);
    }
    clock.AdvanceSeconds(5 - 0.05 * writes);
    process_cpu_s += 0.05 * writes + others_s;
  }
};

TEST_F(BudgetKeeperTest, TheLevelsReachTheWorkAndTheLogSaysWhy) {
  config.budget_cpu = 20;
  const auto keeper = Keeper();
  keeper->Look();
  Work(30, 0.2);
  keeper->Look();
  EXPECT_EQ(PaceOf(&work, CentreKnob::kWrites), 2) << "0.3 of a core, 0.15 with twice the rest";
  EXPECT_EQ(RestOf(&work, Nanos(10)), Nanos(20));
  EXPECT_EQ(PaceOf(&work, CentreKnob::kLooks), 250) << "which would win nothing";
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("plan changed: it would take"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("writes 2 times the rest"), std::string::npos) << said[0];
  Work(15, 0.2);
  keeper->Look();
  EXPECT_EQ(said.size(), 1u) << "what does not change is not said";
}

TEST_F(BudgetKeeperTest, WithoutABudgetNothingChanges) {
  const auto keeper = Keeper();
  keeper->Look();
  for (int i = 0; i < 5; ++i) {
    Work(80, 3);
    keeper->Look();
  }
  EXPECT_TRUE(said.empty());
  EXPECT_TRUE(keeper->plan().fits);
  EXPECT_EQ(PaceOf(&work, CentreKnob::kWrites), 1);
  EXPECT_NEAR(keeper->plan().spend.cores, 1.4, 1e-6);
}

TEST_F(BudgetKeeperTest, TellsItAsAMessage) {
  config.budget_cpu = 50;
  config.budget_mib = 100;
  const auto keeper = Keeper();
  keeper->Look();
  Work(2, 4);
  keeper->Look();
  const v1::NodePlan plan = keeper->Message();
  EXPECT_DOUBLE_EQ(plan.budget().cores(), 0.5);
  EXPECT_DOUBLE_EQ(plan.budget().memory_bytes(), 100.0 * (1 << 20));
  EXPECT_EQ(plan.budget().bytes_per_s(), 0) << "no limit";
  EXPECT_FALSE(plan.fits());
  EXPECT_NEAR(plan.spend().cores(), 0.82, 0.01);
  EXPECT_EQ(plan.told_wall_ns(), clock.Wall().ns);
}

}  // namespace
}  // namespace fathom::collector
