// Work that is unequal by design or by its data, in drawn pipelines of two replicas and four
// stages: what is told of it, and what of a slow device, of noise and of short recordings.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/collector/import/ndtimeline/made_trace.h"
#include "tests/collector/import/ndtimeline/real_trace.h"

namespace fathom::collector::ndtimeline {
namespace {

using diagnosis::OpKind;
using diagnosis::ScheduledOp;
using diagnosis::Worker;

constexpr JobShape kShort{2, 4, 1, 8, 2, 0.001};

double Usual(const ScheduledOp& op) { return op.kind == OpKind::kForwardCompute ? 0.02 : 0.04; }

// Verdicts on a job of that shape whose computing takes so many times the usual.
diagnosis::Diagnosis Judged(const ComputingTime& times, const JobShape& shape = {}) {
  return DiagnosisOf(MakeTrace(shape, [&](const Worker& worker, const ScheduledOp& op) {
    return Usual(op) * times(worker, op);
  }));
}

std::string Told(const ComputingTime& times, const JobShape& shape = {}) {
  return Summary(Judged(times, shape));
}

ComputingTime HeavyStage(std::int32_t stage, double times) {
  return
      [=](const Worker& worker, const ScheduledOp&) { return worker.stage == stage ? times : 1.0; };
}

// One draw for each micro-batch of each replica and step; `apart`: another one for the backward
// computing.
ComputingTime Lengths(double least, double most, bool apart = false) {
  return [=](const Worker& worker, const ScheduledOp& op) {
    const bool backward = apart && op.kind == OpKind::kBackwardCompute;
    std::seed_seq seed{static_cast<int>(op.step), worker.replica, op.micro_batch, backward ? 1 : 0};
    std::mt19937 random(seed);
    return std::uniform_real_distribution<double>(least, most)(random);
  };
}

TEST(UnequalWorkTest, PositiveAStageThatIsHeavyInEveryReplicaIsTheDesign) {
  const diagnosis::Diagnosis said = Judged(HeavyStage(2, 1.5));
  ASSERT_EQ(Summary(said), "supported imbalance stage 2 6");
  const diagnosis::Verdict& verdict = said.verdicts[0];
  EXPECT_EQ(verdict.owner, diagnosis::Owner::kAlgorithm);
  EXPECT_GT(verdict.cost.slowdown, 1.05);
  EXPECT_EQ(verdict.victims.size(), 6u);
}

TEST(UnequalWorkTest, PositiveOfTwoHeavyStagesBothAreNamed) {
  EXPECT_EQ(
      Told([](const Worker& worker, const ScheduledOp&) { return worker.stage >= 2 ? 1.6 : 1.0; }),
      "supported imbalance stage 2 3 6 7");
}

TEST(UnequalWorkTest, PositiveMicroBatchesThatAreLongBothWaysAreTheData) {
  EXPECT_EQ(Told(Lengths(0.5, 1.7)), "supported imbalance job");
}

TEST(UnequalWorkTest, NearMissAStageThatIsALittleHeavierIsSilent) {
  EXPECT_EQ(Told(HeavyStage(2, 1.08)), "");
}

TEST(UnequalWorkTest, NearMissForwardAndBackwardThatDifferApartAreNoLengths) {
  EXPECT_EQ(Told(Lengths(0.5, 1.7, true)), "");
}

TEST(UnequalWorkTest, MissingStepsLeaveADesignUntold) {
  EXPECT_EQ(Told(HeavyStage(2, 1.5), kShort), "");
}

TEST(UnequalWorkTest, ConfuserAStageThatIsHeavyInOneReplicaIsADevice) {
  EXPECT_EQ(Told([](const Worker& worker, const ScheduledOp&) {
              return worker.stage == 2 && worker.replica == 1 ? 1.5 : 1.0;
            }),
            "established compute_slow rank 6");
}

TEST(UnequalWorkTest, ConfuserAStageThatIsHeavyInHalfOfTheStepsIsNoDesign) {
  EXPECT_EQ(Told([](const Worker& worker, const ScheduledOp& op) {
              return worker.stage == 2 && op.step % 2 == 0 ? 1.5 : 1.0;
            }),
            "");
}

TEST(UnequalWorkTest, HealthyNoiseOfEachOpIsSilent) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> noise(0.92, 1.08);
  EXPECT_EQ(Told([&](const Worker&, const ScheduledOp&) { return noise(random); }), "");
}

}  // namespace
}  // namespace fathom::collector::ndtimeline
