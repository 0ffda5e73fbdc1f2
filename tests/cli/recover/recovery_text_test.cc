// What `fathom recover plan` prints.
#include "collector/cli/recover/recovery_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using ::testing::HasSubstr;

TEST(RecoveryText, SaysBothCostsInGpuHours) {
  collector::SickJob job;
  job.name = "train";
  job.processes = 64;
  job.verdict = "v1";
  job.grade = "established";
  job.node = "n1";
  job.slowdown = 1.5;
  constexpr std::int64_t kNow = 1'790'000'000'000'000'000;
  const collector::RecoveryPlan plan =
      PlanRecovery(job, {{.name = "free", .connected = true}},
                   {{"ckpt/step-200", 200, kNow - 1'800'000'000'000, ""}},
                   {.left_hours = 10, .restart_s = 180, .restart_assumed = false, .now_ns = kNow});
  const std::string text = RecoveryText(job, plan);
  EXPECT_THAT(text, HasSubstr("train: act; the restart costs 24.53 GPU-hours, carrying on 320.00"));
  EXPECT_THAT(text, HasSubstr("ckpt/step-200 (step 200)"));
}

}  // namespace
}  // namespace fathom::cli
