// Jobs whose communication runs beside computing are charged with what they lose, and convict
// nobody while they are well. docs/rules/ledger.md, "Communication beside computing".
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/diagnosis/overlap/charges.h"

namespace fathom::diagnosis::testing {
namespace {

OverlappedJob Ddp(double slower, std::size_t buckets) {
  OverlappedJob job;
  job.program = DdpProgram(30, 60, 5, 20, buckets);
  job.slower = slower;
  return job;
}

void ExpectCharged(const OverlappedJob& job, const std::string& verdicts) {
  const Charges charges = ChargesOf(job);
  const double costs = charges.iteration_ms - charges.healthy_ms;
  EXPECT_EQ(charges.verdicts, verdicts);
  const double most = std::max(0.1, 0.1 * costs);
  EXPECT_NEAR(charges.by_rows_ms, costs, most);
  EXPECT_NEAR(charges.by_summaries_ms, costs, most);
  EXPECT_NEAR(charges.all_by_rows_ms, charges.by_rows_ms, 1e-9) << "nobody else is";
}

TEST(OverlapTest, DevicesThatAreAlikeConvictNobody) {
  for (const double slower : {0.0, 0.005, 0.01}) {
    for (const std::size_t buckets : {10UL, 100UL}) {
      const Charges charges = ChargesOf(Ddp(slower, buckets));
      EXPECT_EQ(charges.verdicts, "") << slower << " of " << buckets;
      EXPECT_LE(charges.all_by_rows_ms, 0.5) << slower << " of " << buckets;
      EXPECT_LE(charges.all_by_summaries_ms, 1) << slower << " of " << buckets;
    }
  }
}

TEST(OverlapTest, ASlowDeviceIsChargedOnceAnIteration) {
  for (const double slower : {0.1, 0.3}) {
    for (const std::size_t buckets : {10UL, 100UL}) {
      ExpectCharged(Ddp(slower, buckets), "compute_slow 2");
    }
  }
}

TEST(OverlapTest, SoIsAHostThatPauses) {
  OverlappedJob job = Ddp(0, 60);
  job.pause_ms = 12;
  for (const std::size_t step : {0UL, 61UL}) {
    job.pause_at = step;
    ExpectCharged(job, "host_slow 2");
  }
}

TEST(OverlapTest, PiecesThatVaryConvictNobodyAndExcuseNobody) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    for (const double slower : {0.0, 0.005, 0.1}) {
      OverlappedJob job = Ddp(slower, seed % 2 == 0 ? 16 : 50);
      job.noise = seed > 3 ? 0.03 : 0.01;
      job.seed = seed;
      job.rank = seed;
      const std::string verdict = "compute_slow " + std::to_string(seed);
      EXPECT_EQ(ChargesOf(job).verdicts, slower < 0.1 ? "" : verdict) << seed << ", " << slower;
    }
  }
}

TEST(OverlapTest, TwoStreamsTellAsMuch) {
  for (const double slower : {0.0, 0.1}) {
    OverlappedJob job = Ddp(slower, 40);
    for (DeviceStep& step : job.program) step.stream = step.op % 2;
    ExpectCharged(job, slower > 0 ? "compute_slow 2" : "");
  }
}

TEST(OverlapTest, ARankOfAnOlderAgentIsNotAccusedForItAndAccusesNobody) {
  for (const int untold : {2, 5}) {
    OverlappedJob job = Ddp(0.005, 100);
    job.untold = untold;
    EXPECT_EQ(ChargesOf(job).verdicts, "") << untold;
  }
  OverlappedJob slow = Ddp(0.1, 50);
  slow.untold = 5;
  ExpectCharged(slow, "compute_slow 2");
}

TEST(OverlapTest, ASlowCommunicatorIsChargedWithWhatComputingDoesNotHide) {
  OverlappedJob job = Ddp(0, 10);
  for (DeviceStep& step : job.program) step.pairs = step.what == DeviceStep::What::kLaunch;
  job.program.push_back({.what = DeviceStep::What::kLaunch, .ms = 0.05, .op = 10});
  job.program.push_back({.what = DeviceStep::What::kWait, .op = 10});
  job.slow_pair_ms = 8;
  ExpectCharged(job, "communication_slow 2 3");
  job.slow_pair_ms = 3;
  const Charges charges = ChargesOf(job);
  EXPECT_EQ(charges.verdicts, "");
  EXPECT_NEAR(charges.by_summaries_ms, charges.iteration_ms - charges.healthy_ms, 0.2);
}

}  // namespace
}  // namespace fathom::diagnosis::testing
