// When rows are asked for though a job is not slow against its own past.
#include "diagnosis/watch/peer_look.h"

#include <gtest/gtest.h>

#include "tests/diagnosis/job_builder.h"

namespace fathom::diagnosis {
namespace {

using testing::FaultKind;
using testing::JobSpec;
using testing::JobType;
using testing::PlayJob;

bool AsksForRows(JobSpec spec) {
  spec.type = JobType::kPipeline;
  spec.preempt_rate = 0;
  JobView view = PlayJob(spec);
  view.rows.clear();  // as before anybody asked
  return LookAtPeers(view, DiagnosisConfig(), SlowSince()).has_value();
}

TEST(PeerLookTest, AStageThatComputesSeveralTimesAsLongIsAskedAbout) {
  JobSpec spec;
  spec.faults = {{FaultKind::kCompute, 1, 0, 1, 1 << 30, 150}};
  EXPECT_TRUE(AsksForRows(spec));
}

TEST(PeerLookTest, AHealthyPipelineIsAskedNothing) { EXPECT_FALSE(AsksForRows(JobSpec())); }

TEST(PeerLookTest, WithoutCpuTimesAHealthyPipelineIsAskedNothing) {
  JobSpec spec;
  spec.cpu = false;
  EXPECT_FALSE(AsksForRows(spec));
}

}  // namespace
}  // namespace fathom::diagnosis
