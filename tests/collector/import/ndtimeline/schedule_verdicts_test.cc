// What diagnosis says of a real job and of changes to it: a stage cut unequally by design, a worker
// made slow, all of a replica, data of unequal length, and the same job cut evenly. The changes
// lengthen recorded computing and let all that follows happen later, as it would have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "diagnosis/schedule/replay.h"
#include "tests/collector/import/ndtimeline/real_trace.h"

namespace fathom::collector::ndtimeline {
namespace {

using diagnosis::ScheduledOp;
using diagnosis::ScheduleTrace;
using diagnosis::Worker;

// How much longer a computing op takes.
using Factor = std::function<double(const Worker& worker, const ScheduledOp& op)>;

ScheduleTrace Changed(const ScheduleTrace& from, const Factor& factor) {
  ScheduleTrace trace = from;
  std::string missing;
  const auto replay = diagnosis::Replay::Of(from, missing);
  if (!replay) return {};
  diagnosis::Lengths lengths = replay->recorded();
  const diagnosis::Schedule& schedule = replay->schedule();
  for (const ScheduledOp& op : from.ops) {
    if (!IsCompute(op.kind)) continue;
    const Worker& worker = from.workers[op.worker];
    for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
      const diagnosis::PlannedOp& planned = schedule.ops[i];
      if (planned.stage != worker.stage || planned.kind != op.kind ||
          planned.sequence != op.sequence) {
        continue;
      }
      const std::size_t lane =
          op.step * schedule.replicas + static_cast<std::size_t>(worker.replica);
      lengths[i * schedule.lanes() + lane] *= factor(worker, op);
    }
  }
  const diagnosis::Timeline timeline = replay->Play(lengths);
  for (ScheduledOp& op : trace.ops) {
    const Worker& worker = trace.workers[op.worker];
    for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
      const diagnosis::PlannedOp& planned = schedule.ops[i];
      if (planned.stage != worker.stage || planned.kind != op.kind ||
          planned.sequence != op.sequence) {
        continue;
      }
      const std::size_t at = i * schedule.lanes() + op.step * schedule.replicas +
                             static_cast<std::size_t>(worker.replica);
      op.start_s = timeline.start_s[at];
      op.duration_s = timeline.end_s[at] - timeline.start_s[at];
    }
  }
  return trace;
}

class ScheduleVerdictsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HaveRealTrace()) GTEST_SKIP() << "no " << DataPath("trace-ST.parquet");
    real_ = RealTrace();
    // The last stage with as much work as the others.
    even_ = Changed(real_, [](const Worker& worker, const ScheduledOp& op) {
      if (worker.stage != 3) return 1.0;
      return op.kind == diagnosis::OpKind::kForwardCompute ? 0.48 : 0.70;
    });
  }

  static std::string Verdicts(const ScheduleTrace& trace) {
    const diagnosis::Diagnosis diagnosis = DiagnosisOf(trace);
    for (const auto& verdict : diagnosis.verdicts) {
      std::printf("  %s\n", verdict.sentence.c_str());
    }
    for (const auto& one : diagnosis.abstained) {
      std::printf("  not told: %s: %s\n", one.question.c_str(), one.missing.c_str());
    }
    return Summary(diagnosis);
  }

  // One worker slower, from the step at this index on.
  static ScheduleTrace SlowFrom(const ScheduleTrace& trace, std::int32_t replica,
                                std::int32_t stage, std::uint32_t from, double times) {
    return Changed(trace, [=](const Worker& worker, const ScheduledOp& op) {
      return worker.replica == replica && worker.stage == stage && op.step >= from ? times : 1.0;
    });
  }

  ScheduleTrace real_;
  ScheduleTrace even_;
};

TEST_F(ScheduleVerdictsTest, TheLastStageIsCutTooLargeAndNoDeviceIsAccused) {
  EXPECT_EQ(Verdicts(real_), "supported imbalance stage 6 7");
}

TEST_F(ScheduleVerdictsTest, AnEvenCutIsSilent) { EXPECT_EQ(Verdicts(even_), ""); }

TEST_F(ScheduleVerdictsTest, AWorkerThatIsAlwaysSlowIsConvicted) {
  EXPECT_EQ(Verdicts(SlowFrom(even_, 0, 0, 0, 2.0)), "established compute_slow rank 0");
  EXPECT_EQ(Verdicts(SlowFrom(even_, 1, 2, 0, 1.4)), "established compute_slow rank 5");
  EXPECT_EQ(Verdicts(SlowFrom(even_, 1, 3, 0, 1.4)), "established compute_slow rank 7");
}

// The first stage waits for the others anyway, so most of its slowness is hidden.
TEST_F(ScheduleVerdictsTest, WhatThePipelineHidesMostlyIsNotEstablished) {
  EXPECT_EQ(Verdicts(SlowFrom(even_, 0, 0, 0, 1.4)), "supported compute_slow rank 0");
}

TEST_F(ScheduleVerdictsTest, AWorkerThatBecomesSlowIsConvictedSinceThen) {
  const auto slow = SlowFrom(even_, 1, 1, 12, 1.4);
  const diagnosis::Diagnosis diagnosis = DiagnosisOf(slow);
  ASSERT_EQ(Summary(diagnosis), "established compute_slow rank 3");
  EXPECT_EQ(diagnosis.verdicts.front().since_iteration.value, slow.steps[12]);
}

TEST_F(ScheduleVerdictsTest, ADeviceAndTheDesignAreBothNamed) {
  EXPECT_EQ(Verdicts(SlowFrom(real_, 0, 3, 0, 1.4)),
            "established compute_slow rank 6; supported imbalance stage 6 7");
}

TEST_F(ScheduleVerdictsTest, ANearMissIsSilent) {
  EXPECT_EQ(Verdicts(SlowFrom(even_, 1, 2, 0, 1.05)), "");
}

TEST_F(ScheduleVerdictsTest, SlowInEverySecondStepIsNotConvicted) {
  EXPECT_EQ(Verdicts(Changed(even_,
                             [](const Worker& worker, const ScheduledOp& op) {
                               return worker.replica == 1 && worker.stage == 2 && op.step % 2 == 0
                                          ? 1.4
                                          : 1.0;
                             })),
            "");
}

TEST_F(ScheduleVerdictsTest, AReplicaThatIsSlowThroughoutIsNotJudged) {
  const auto slow = Changed(even_, [](const Worker& worker, const ScheduledOp&) {
    return worker.replica == 1 ? 1.3 : 1.0;
  });
  const diagnosis::Diagnosis diagnosis = DiagnosisOf(slow);
  EXPECT_EQ(Summary(diagnosis), "");
  ASSERT_FALSE(diagnosis.abstained.empty());
  EXPECT_NE(diagnosis.abstained.front().question.find("replica 1"), std::string::npos);
}

TEST_F(ScheduleVerdictsTest, SequencesOfUnequalLengthAreTheDataAndNoDevice) {
  // A length a micro-batch, the same for all stages of the replica and for both directions.
  const auto varied = Changed(even_, [](const Worker& worker, const ScheduledOp& op) {
    std::mt19937 random(op.step * 1000 + static_cast<unsigned>(worker.replica) * 100 +
                        static_cast<unsigned>(op.micro_batch));
    return std::uniform_real_distribution<double>(0.5, 1.7)(random);
  });
  EXPECT_EQ(Verdicts(varied), "supported imbalance job");
}

TEST_F(ScheduleVerdictsTest, NoiseOfEachOpIsSilent) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> noise(0.9, 1.1);
  EXPECT_EQ(
      Verdicts(Changed(even_, [&](const Worker&, const ScheduledOp&) { return noise(random); })),
      "");
}

}  // namespace
}  // namespace fathom::collector::ndtimeline
