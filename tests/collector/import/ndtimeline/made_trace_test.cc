// Replay and verdicts on jobs of other shapes than the real trace: interleaved chunks, one stage,
// one replica, many replicas, steps that differ, messages that are lost.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>

#include "diagnosis/schedule/what_if.h"
#include "tests/collector/import/ndtimeline/made_trace.h"
#include "tests/collector/import/ndtimeline/real_trace.h"

namespace fathom::collector::ndtimeline {
namespace {

using diagnosis::OpKind;
using diagnosis::ScheduledOp;
using diagnosis::ScheduleTrace;
using diagnosis::Worker;

double Even(const Worker&, const ScheduledOp& op) {
  return op.kind == OpKind::kForwardCompute ? 0.02 : 0.04;
}

diagnosis::WhatIf WhatIfOf(const ScheduleTrace& trace) {
  std::string missing;
  const auto replay = diagnosis::Replay::Of(trace, missing);
  EXPECT_TRUE(replay) << missing;
  return replay ? diagnosis::WhatIfOf(trace, *replay) : diagnosis::WhatIf{};
}

struct NamedShape {
  const char* name;
  JobShape shape;
};

class ShapeTest : public testing::TestWithParam<NamedShape> {};

TEST_P(ShapeTest, AReplayTakesWhatTheJobTook) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> noise(0.9, 1.1);
  const auto what_if =
      WhatIfOf(MakeTrace(GetParam().shape, [&](const Worker& worker, const ScheduledOp& op) {
        return Even(worker, op) * noise(random);
      }));
  EXPECT_NEAR(what_if.replayed_s, what_if.measured_s, 1e-9);
  EXPECT_EQ(what_if.steps, GetParam().shape.steps);
}

TEST_P(ShapeTest, AnEvenJobHasNothingToWin) {
  const ScheduleTrace trace = MakeTrace(GetParam().shape, Even);
  const auto what_if = WhatIfOf(trace);
  EXPECT_NEAR(what_if.slowdown, 1, 0.01);
  EXPECT_EQ(Summary(DiagnosisOf(trace)), "");
}

TEST_P(ShapeTest, OneSlowWorkerIsFoundWhereItHasPeers) {
  const JobShape& shape = GetParam().shape;
  const Worker slow{shape.replicas - 1, shape.stages / 2, RankId(0)};
  const auto rank = slow.replica * shape.stages + slow.stage;
  const ScheduleTrace trace = MakeTrace(shape, [&](const Worker& worker, const ScheduledOp& op) {
    const bool it = worker.replica == slow.replica && worker.stage == slow.stage;
    return Even(worker, op) * (it ? 1.5 : 1);
  });
  const auto what_if = WhatIfOf(trace);
  const std::string expected = shape.replicas == 1
                                   ? ""
                                   : std::string(shape.stages == 1 ? "supported" : "established") +
                                         " compute_slow rank " + std::to_string(rank);
  const diagnosis::Diagnosis diagnosis = DiagnosisOf(trace);
  std::printf("  S %.3f, M_W %.3f, rank %d alone %.3f: %s\n", what_if.slowdown,
              what_if.worst_workers_share, rank, what_if.worker.front().slowdown,
              Summary(diagnosis).c_str());
  if (shape.replicas == 1) {
    // A stage or its device: nothing tells, and no device may be accused.
    for (const auto& verdict : diagnosis.verdicts) {
      EXPECT_EQ(verdict.cause, diagnosis::Cause::kImbalance);
    }
    return;
  }
  EXPECT_EQ(Summary(diagnosis), expected);
  EXPECT_GT(what_if.slowdown, 1.05);
  EXPECT_EQ(what_if.worker.front().rank.value, static_cast<std::uint32_t>(rank));
  EXPECT_GT(what_if.worst_workers_share, 0.5);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ShapeTest,
                         testing::Values(NamedShape{"plain", {}},
                                         NamedShape{"interleaved", {2, 4, 2, 8, 12, 0.001}},
                                         NamedShape{"interleaved_three", {3, 2, 3, 6, 8, 0.002}},
                                         NamedShape{"two_stages", {2, 2, 1, 5, 10, 0.001}},
                                         NamedShape{"many_replicas", {16, 4, 1, 8, 8, 0.001}},
                                         NamedShape{"one_stage", {8, 1, 1, 4, 16, 0.001}},
                                         NamedShape{"one_replica", {1, 4, 1, 8, 12, 0.001}}),
                         [](const auto& shape) { return std::string(shape.param.name); });

TEST(MadeTraceTest, StepsWithOtherOpsAreLeftOut) {
  ScheduleTrace trace = MakeTrace({}, Even);
  std::erase_if(trace.ops, [](const ScheduledOp& op) {
    return op.step == 5 && op.worker == 2 && op.kind == OpKind::kOptimizer;
  });
  const auto what_if = WhatIfOf(trace);
  EXPECT_EQ(what_if.steps, 11U);
  EXPECT_EQ(what_if.steps_left_out, 1U);
  EXPECT_NEAR(what_if.slowdown, 1, 0.01);
}

TEST(MadeTraceTest, MessagesWithoutAnotherEndAreSaidToBeMissing) {
  ScheduleTrace trace = MakeTrace({}, Even);
  std::erase_if(trace.ops, [](const ScheduledOp& op) {
    return op.kind == OpKind::kForwardSend && op.worker % 4 == 1;
  });
  const diagnosis::Diagnosis diagnosis = DiagnosisOf(trace);
  EXPECT_FALSE(diagnosis.what_if);
  EXPECT_EQ(Summary(diagnosis), "");
  ASSERT_FALSE(diagnosis.abstained.empty());
  EXPECT_NE(diagnosis.abstained.front().missing.find("stage 1 sends 0 to stage 2"),
            std::string::npos)
      << diagnosis.abstained.front().missing;
}

// A worker slower by x from the middle of the recording on: from where it is convicted, and since
// when.
TEST(MadeTraceTest, HowSlowAWorkerMustBe) {
  std::printf("  slower by   verdict\n");
  for (const int percent : {0, 4, 8, 12, 16, 20, 30, 50, 100}) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> noise(0.97, 1.03);
    ScheduleTrace trace;
    const JobShape shape{4, 4, 1, 8, 24, 0.001};
    std::uint32_t computed = 0;
    const std::uint32_t a_step = 2 * 8 * 16;
    trace = MakeTrace(shape, [&](const Worker& worker, const ScheduledOp& op) {
      const std::uint32_t step = computed++ / a_step;
      const bool slow = worker.replica == 2 && worker.stage == 1 && step >= 12;
      return Even(worker, op) * noise(random) * (slow ? 1 + percent / 100.0 : 1);
    });
    const std::string said = Summary(DiagnosisOf(trace));
    std::printf("  %4d %%      %s\n", percent, said.c_str());
    if (percent < 8) {
      EXPECT_EQ(said, "");
    } else if (percent > 15 || !said.empty()) {
      EXPECT_TRUE(said.ends_with("compute_slow rank 9")) << said;
    }
  }
}

}  // namespace
}  // namespace fathom::collector::ndtimeline
