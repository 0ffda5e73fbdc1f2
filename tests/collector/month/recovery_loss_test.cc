// What recoveries cost in a stretch of time, of stages whose every second is known.
#include "collector/month/recovery_loss.h"

#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

constexpr double kClose = 1e-6;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kOnset = 20'000LL * 86'400 * kSecond;

WallNs At(double seconds) {
  return WallNs(kOnset + static_cast<std::int64_t>(seconds * static_cast<double>(kSecond)));
}

// Onset at 0, plan at 100, first step at 130, isolated from 140 to 150, runs at 190, warm at 200;
// of a job of 36 processes that a slow node held back, 60 s of work since its checkpoint.
ToldRecovery Recovered() {
  ToldRecovery told;
  told.id = "r1";
  told.job = "train";
  told.state = "recovered";
  told.told_ns = At(201).ns;
  told.times = {.onset_ns = At(0).ns,
                .planned_ns = At(100).ns,
                .begun_ns = At(130).ns,
                .first_step_ns = At(130).ns,
                .isolating_ns = At(140).ns,
                .isolated_ns = At(150).ns,
                .running_ns = At(190).ns,
                .warm_ns = At(200).ns,
                .ended_ns = At(200).ns,
                .processes = 36,
                .slowdown = 2,
                .plan_lost_work_s = 60};
  return told;
}

double SecondsOf(const RecoveryLosses& losses, const std::string& stage) {
  for (const StageLoss& each : losses.stages) {
    if (each.stage == stage) return each.seconds;
  }
  return -1;
}

double HoursOf(const RecoveryLosses& losses) {
  double hours = 0;
  for (const StageLoss& each : losses.stages) hours += each.gpu_hours;
  return hours;
}

TEST(RecoveryLoss, EachStageHasItsTimeAndTheHoursAreWhatTheRecordSays) {
  const RecoveryLosses losses = RecoveryLossesOf({Recovered()}, At(-1000), At(1000));
  EXPECT_EQ(losses.count, 1u);
  EXPECT_EQ(losses.recovered, 1u);
  EXPECT_NEAR(SecondsOf(losses, "detection"), 100, kClose);
  EXPECT_NEAR(SecondsOf(losses, "decision"), 30, kClose);
  EXPECT_NEAR(SecondsOf(losses, "isolation"), 20, kClose);
  EXPECT_NEAR(SecondsOf(losses, "restart"), 40, kClose);
  EXPECT_NEAR(SecondsOf(losses, "warm-up"), 10, kClose);
  EXPECT_NEAR(SecondsOf(losses, "lost work"), 60 + 10, kClose);
  EXPECT_NEAR(HoursOf(losses), StagesOf(Recovered().times).lost_gpu_hours, kClose);
  EXPECT_NEAR(HoursOf(losses), 36 * (50 + 70) / 3600.0, kClose);
}

TEST(RecoveryLoss, OnlyWhatLiesInTheTimeAskedForIsBooked) {
  const RecoveryLosses losses = RecoveryLossesOf({Recovered()}, At(145), At(160));
  EXPECT_NEAR(SecondsOf(losses, "isolation"), 5, kClose);
  EXPECT_NEAR(SecondsOf(losses, "restart"), 10, kClose);
  EXPECT_NEAR(HoursOf(losses), 36 * 15 / 3600.0, kClose);
  EXPECT_NEAR(RecoveryHours(Recovered(), At(145), At(160)), 36 * 15 / 3600.0, kClose);
  EXPECT_EQ(RecoveryLossesOf({Recovered()}, At(500), At(600)).count, 0u);
}

TEST(RecoveryLoss, AJobThatNeverCameBackStoodUntilItWasGivenUp) {
  ToldRecovery given_up = Recovered();
  given_up.state = "given up";
  given_up.times.running_ns = given_up.times.warm_ns = 0;
  given_up.times.ended_ns = At(650).ns;
  EXPECT_NEAR(RecoveryHours(given_up, At(-1000), At(9000)), 36 * 510 / 3600.0, kClose);
}

TEST(RecoveryLoss, OneThatIsUnderWayStandsUntilItWasLastHeardOf) {
  ToldRecovery now = Recovered();
  now.state = "under way";
  now.times.running_ns = now.times.warm_ns = now.times.ended_ns = 0;
  now.told_ns = At(170).ns;
  EXPECT_NEAR(RecoveryHours(now, At(-1000), At(9000)), 36 * 30 / 3600.0, kClose);
}

TEST(RecoveryLoss, WhereTheSickNodeNeverLeftNothingIsBooked) {
  ToldRecovery stopped = Recovered();
  stopped.state = "undone";
  stopped.times.isolated_ns = stopped.times.running_ns = stopped.times.warm_ns = 0;
  stopped.times.ended_ns = At(650).ns;
  EXPECT_NEAR(RecoveryHours(stopped, At(-1000), At(9000)), 0, kClose);
}

}  // namespace
}  // namespace fathom::collector
