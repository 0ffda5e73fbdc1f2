// Simulated agents play a job to a whole collector over gRPC: it convicts whom the engine convicts
// in process, after fetching a small part of what was logged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/fleet/agent_messages.h"
#include "collector/fleet/live_play.h"
#include "collector/serve/collector.h"
#include "collector/simulate/experiment/cpu_time.h"
#include "collector/simulate/trial/score.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/watch/watch.h"

namespace fathom::simulate {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

Scenario JobOf64(FaultKind kind) {
  Scenario job;
  job.name = "fleet";
  job.plan = {.tensor = 4, .pipeline = 2, .data = 8};
  job.model.layers = 4;
  job.iterations = 40;
  job.faults = {{.kind = kind, .rank = 13, .factor = 2, .from = 25}};
  return job;
}

class FleetTest : public testing::Test {
 protected:
  void SetUp() override {
    collector::CollectorConfig config;
    config.grpc = config.http = "127.0.0.1:0";
    config.store = ":memory:";
    const auto finalized = Finalize(config);
    ASSERT_TRUE(finalized.ok()) << finalized.status();
    auto started =
        collector::Collector::Start(*finalized, {&diagnosis::Watch, &diagnosis::Diagnose}, clock_);
    ASSERT_TRUE(started.ok()) << started.status();
    collector_ = *std::move(started);
  }

  PlayOutcome Play(const Scenario& job, std::function<bool()> stopped = nullptr) {
    const Rehearsal rehearsal = Rehearse(job, CpuSeconds, nullptr);
    ops_played_ = rehearsal.outcome.ops_played;
    RowLog rows(job, rehearsal);
    const auto http = static_cast<std::uint16_t>(collector_->http_port());
    VerdictWatch watch({"127.0.0.1", http}, job.name, nullptr);
    EXPECT_TRUE(watch.Open().ok());
    Fleet fleet("127.0.0.1:" + std::to_string(collector_->grpc_port()), FleetNodes(job));
    EXPECT_TRUE(fleet.Connect(steady_clock::now() + seconds(10)).ok());
    LivePlay play(job, rehearsal, rows, fleet, watch,
                  {.job = job.name,
                   .pace_s = 0.3,
                   .linger_s = 20,
                   .until_verdict = true,
                   .stopped = std::move(stopped)});
    const auto outcome = play.Run();
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.value_or(PlayOutcome());
  }

  collector::SystemClock clock_;
  std::unique_ptr<collector::Collector> collector_;
  std::uint64_t ops_played_ = 0;
};

TEST_F(FleetTest, ASlowGpuIsToldAfterFetchingAFewRows) {
  const Scenario job = JobOf64(FaultKind::kSlowGpu);
  const PlayOutcome outcome = Play(job);
  ASSERT_FALSE(outcome.convictions.empty());
  EXPECT_EQ(ToString(MarkOf(job, ToVerdict(outcome.convictions.front().verdict))), "right");
  EXPECT_GT(outcome.verdict_iteration, 25);
  EXPECT_GE(outcome.rounds, 1);
  EXPECT_GT(outcome.until_verdict.ops, 0u);
  EXPECT_LT(outcome.until_verdict.ops, ops_played_) << "not the whole log";
}

TEST_F(FleetTest, AHangIsToldFromWhatAgentsSayOfTheirRanks) {
  const Scenario job = JobOf64(FaultKind::kHangProcess);
  const PlayOutcome outcome = Play(job);
  ASSERT_FALSE(outcome.convictions.empty());
  EXPECT_EQ(ToString(MarkOf(job, ToVerdict(outcome.convictions.front().verdict))), "right");
}

TEST_F(FleetTest, InterruptedItSaysWhatWasDone) {
  int asked = 0;
  Scenario job = JobOf64(FaultKind::kSlowGpu);
  job.iterations = 20;
  job.faults.clear();
  const PlayOutcome outcome = Play(job, [&asked] { return ++asked > 40; });
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_LT(outcome.iterations, 20);
}

TEST(FleetAloneTest, SaysThatNobodyAnswers) {
  Fleet fleet("127.0.0.1:1", {"sim-node-0000"});
  EXPECT_FALSE(fleet.Connect(steady_clock::now() + seconds(1)).ok());
}

}  // namespace
}  // namespace fathom::simulate
