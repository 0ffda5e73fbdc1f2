// The model of a restart and a migration against the figures that its constants are from, and those
// that it predicts.
#include "collector/simulate/experiment/migration_stages.h"

#include <gtest/gtest.h>

#include <string>

#include "collector/simulate/experiment/experiment.h"

namespace fathom::simulate {
namespace {

TEST(MigrationStagesTest, IsWhatItWasFittedTo) {
  EXPECT_NEAR(StageSeconds(StagesOf(Way::kRestart, 8192), true), 6.47 * 60, 0.01);
  EXPECT_NEAR(StagesOf(Way::kRestart, 64)[2].seconds, 50, 1e-9);
  EXPECT_NEAR(StageSeconds(StagesOf(Way::kPlanned, 1024), true), 16, 1e-9);
}

TEST(MigrationStagesTest, AFailureIsWithinAFifthOfWhatThePaperMeasured) {
  EXPECT_NEAR(StageSeconds(StagesOf(Way::kFailure, 1024), true), 21.1, 21.1 / 5);
}

TEST(MigrationStagesTest, PreparingDoesNotPauseAndTheSwitchDoesNotGrow) {
  EXPECT_EQ(StageSeconds(StagesOf(Way::kRestart, 1024), false), 0);
  const auto small = StagesOf(Way::kPlanned, 1024), large = StagesOf(Way::kPlanned, 8192);
  EXPECT_GT(StageSeconds(large, false), StageSeconds(small, false));
  EXPECT_EQ(StageSeconds(large, true), StageSeconds(small, true));
  EXPECT_NEAR(LostGpuHours(large, 8192), 8 * LostGpuHours(small, 1024), 1e-9);
  // What is prepared and what is switched are together the communicators of a restart.
  EXPECT_NEAR(large[2].seconds + large[4].seconds, StagesOf(Way::kRestart, 8192)[2].seconds, 1e-9);
}

TEST(MigrationStagesTest, TheExperimentPrintsBothTables) {
  std::string printed;
  ExperimentOptions options;
  options.print = [&](const std::string& text) { printed += text; };
  ASSERT_TRUE(RunExperiments("migration", options).ok());
  EXPECT_NE(printed.find("| restart | communicators | stands | 51.8 | 65.4 |"), printed.npos)
      << printed;
  EXPECT_NE(printed.find("| migration, planned | 8192 |"), printed.npos) << printed;
}

}  // namespace
}  // namespace fathom::simulate
