// A live job that is not slow against its past and whose ranks are alike: its paths are looked at.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "collector/evaluate/diagnoser.h"
#include "fathom/v1/agent.pb.h"
#include "fathom/v1/hardware.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

constexpr std::uint32_t kRanks = 3;

// Rank r sends to rank r + 1; each is on a node of its own.
struct PathsLookTest : testing::Test {
  FakeClock clock;
  JobTable jobs{clock, {}};
  SessionRegistry registry{clock};
  IngestCounters counters;
  RowRequests requests{registry, counters, clock};
  VerdictLedger ledger{[](VerdictChange, const Episode&) {}};
  HardwareTable hardware{clock};
  int judged = 0;
  std::int64_t messages = 0;
  std::size_t flows = 0;
  Diagnoser diagnoser{{jobs, registry, requests, ledger, clock, nullptr, nullptr, &hardware},
                      {[](const diagnosis::JobView&, const diagnosis::DiagnosisConfig&) {
                         return diagnosis::Suspicion();
                       },
                       [this](const diagnosis::JobView& view, const diagnosis::Suspicion& suspicion,
                              const diagnosis::DiagnosisConfig&) {
                         EXPECT_TRUE(suspicion.differs);
                         ++judged;
                         flows = 0;
                         for (const diagnosis::RankFacts& facts : view.ranks)
                           flows += facts.flows.size();
                         return diagnosis::Diagnosis();
                       }},
                      {},
                      Nanos(60'000'000'000)};
  std::shared_ptr<JobState> job;

  void SetUp() override {
    job = jobs.FindOrAdd("train");
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      job->Apply(RankOf(rank, kRanks), absl::StrCat("n", rank), 10);
      BatchShape shape;
      shape.rank = rank;
      shape.count = 10;
      job->Apply(Batch(shape), absl::StrCat("n", rank));
    }
  }
  // The connection of a rank to the next one, as both of them tell it.
  void TellPath(std::uint32_t from, double busy_s) {
    const std::uint32_t to = (from + 1) % kRanks;
    const std::string source = absl::StrCat("10.0.0.", from, ":5"),
                      sink = absl::StrCat("10.0.0.", to, ":6");
    Tell(from, absl::StrCat(source, " ", sink), 100e6, busy_s);
    Tell(to, absl::StrCat(sink, " ", source), 0, 0);
  }
  void Tell(std::uint32_t rank, const std::string& ends, double bytes, double busy_s) {
    v1::NodeHardware news;
    news.set_sampled_wall_ns(FakeClock::kStart + ++messages * 1'000'000);
    v1::HardwareDevice& device = *news.add_devices();
    device.set_kind(static_cast<std::uint32_t>(DeviceKind::kConnection));
    device.set_name(absl::StrCat(1000 + rank, " ", ends));
    const std::pair<HardwareMetric, double> told[] = {{HardwareMetric::kConfirmedBytes, bytes},
                                                      {HardwareMetric::kSendingTime, busy_s}};
    for (const auto& [metric, value] : told) {
      v1::HardwareReading& reading = *device.add_readings();
      reading.set_metric(static_cast<std::uint32_t>(metric));
      reading.set_value(value);
    }
    hardware.Apply(absl::StrCat("n", rank), news);
  }
  void Look() {
    clock.AdvanceSeconds(0.3);
    diagnoser.Notify("train");
    diagnoser.RunDue();
  }
};

TEST_F(PathsLookTest, OnePathThatIsSlowIsJudged) {
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) TellPath(rank, rank == 1 ? 0.6 : 0.1);
  Look();
  EXPECT_EQ(judged, 1);
  EXPECT_GT(flows, 0u);
  Look();
  EXPECT_EQ(judged, 2) << "as long as it is so, at each look";
}

TEST_F(PathsLookTest, PathsThatAreAlikeAreLeftAlone) {
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) TellPath(rank, 0.5);
  Look();
  EXPECT_EQ(judged, 0);
}

TEST_F(PathsLookTest, TheyAreLookedAtEveryTwoSecondsOnly) {
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) TellPath(rank, 0.1);
  Look();
  TellPath(1, 0.6);
  Look();
  EXPECT_EQ(judged, 0);
  clock.AdvanceSeconds(2);
  Look();
  EXPECT_EQ(judged, 1);
}

TEST_F(PathsLookTest, NobodyTellsOfConnections) {
  Look();
  EXPECT_EQ(judged, 0);
}

}  // namespace
}  // namespace fathom::collector
