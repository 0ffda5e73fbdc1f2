#include "collector/runs/work_figures.h"

#include <gtest/gtest.h>

#include "collector/runs/work_json.h"
#include "fathom/v1/probe.pb.h"
#include "fathom/v1/run.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

using diagnosis::DevicePeak;
using diagnosis::IterationParts;

constexpr auto kSingle = static_cast<std::size_t>(FlopClass::kFp32);

IterationParts Parts() {
  IterationParts parts;
  parts.duration_s = 0.1;
  parts.void_between_s = 0.02;
  parts.void_within_s = 0.01;
  parts.void_known = parts.flop_known = 1;
  parts.flop[kSingle] = 1e9;
  return parts;
}

DevicePeak Peak(double flop_per_s) {
  DevicePeak peak;
  peak.flop_per_s[kSingle] = flop_per_s;
  peak.source = "probe";
  return peak;
}

TEST(WorkFigures, AreOfAllRanksAndOfTheirPeak) {
  const WorkFigures figures = FiguresOf(Parts(), 4, Peak(5e10), "cpu");
  EXPECT_NEAR(figures.flop_per_s, 4e10, 1);
  EXPECT_NEAR(figures.mfu.value_or(0), 0.2, 1e-9);
  EXPECT_NEAR(figures.void_between.value_or(0), 0.2, 1e-9);
  EXPECT_NEAR(figures.void_within.value_or(0), 0.1, 1e-9);
  EXPECT_NE(InWords(figures).find("Its 4 ranks compute 40 GFLOP/s"), std::string::npos);
  EXPECT_NE(InWords(figures).find("20 % of what its devices can"), std::string::npos);
}

TEST(WorkFigures, WithoutAPeakThereIsNoMfuAndItSaysWhy) {
  struct {
    const char* device;
    DevicePeak peak;
    const char* why;
  } const cases[] = {
      {"cpu", {}, "no node of the job was probed"},
      {"A made-up GPU", {}, "no peak is known of A made-up GPU"},
      {"", {}, "the device is not known"},
      {"NVIDIA L4", {.flop_per_s = {1, 0, 0, 0, 0, 0}, .source = ""}, "has no peak for this type"},
  };
  for (const auto& each : cases) {
    const WorkFigures figures = FiguresOf(Parts(), 1, each.peak, each.device);
    EXPECT_FALSE(figures.mfu) << each.device;
    EXPECT_NE(figures.mfu_unknown.find(each.why), std::string::npos) << figures.mfu_unknown;
    EXPECT_NEAR(figures.flop_per_s, 1e10, 1);
  }
}

TEST(WorkFigures, WhatNobodyToldIsNotKnown) {
  IterationParts parts;
  EXPECT_EQ(FiguresOf(parts, 4, Peak(1), "cpu").iterations, 0);
  parts.duration_s = 0.1;
  const WorkFigures figures = FiguresOf(parts, 4, Peak(1), "cpu");
  EXPECT_EQ(figures.flop_per_s, 0);
  EXPECT_FALSE(figures.mfu);
  EXPECT_FALSE(figures.void_between);
  EXPECT_EQ(figures.mfu_unknown, "no product of matrices was seen");
  EXPECT_EQ(InWords(figures), "");
}

// A job of two ranks on one node that was probed.
TEST(WorkFigures, OfACpuThePeakIsThatOfTheProbeSharedAmongItsRanks) {
  FakeClock clock;
  const std::unique_ptr<Store> store = Store::Open(":memory:");
  JobState job("train", clock);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    job.Apply(RankOf(rank, 2), "a", 100);
    v1::SummaryBatch batch = Batch({.rank = rank, .first = 0, .count = 4});
    v1::FlopColumn& column = *batch.add_flop();
    column.set_flop_class(static_cast<std::uint32_t>(FlopClass::kFp32));
    for (int i = 0; i < 4; ++i) {
      column.add_flop(1e9F);
      batch.add_void_between_us(20'000);
      batch.add_void_within_us(10'000);
    }
    job.Apply(batch, "a");
  }
  v1::RunFacts facts;
  facts.set_job("train");
  facts.set_device("cpu");
  job.Apply(facts, "a");
  const JobWork work = job.Work();
  EXPECT_EQ(work.device, "cpu");
  const std::vector<RankWork> ranks = job.WorkOfRanks();
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_NEAR(ranks[1].flop, 1e9, 1e6);
  EXPECT_NEAR(ranks[1].void_between.Millis(), 20, 0.1);
  EXPECT_FALSE(PeakOfRank(job, work, *store).known());

  v1::NodeProbe probe;
  probe.set_node("a");
  v1::ProbeFigure& figure = *probe.add_results()->add_figures();
  figure.set_name("gemm_fp32");
  figure.set_value(1e11);
  ASSERT_TRUE(store->SaveProbe(probe).ok());
  const DevicePeak peak = PeakOfRank(job, work, *store);
  EXPECT_NEAR(peak.flop_per_s[kSingle], 5e10, 1);
  const WorkFigures figures = FiguresOf(work, peak);
  EXPECT_EQ(figures.iterations, 4);
  EXPECT_NEAR(figures.mfu.value_or(0), 0.2, 1e-3);
  const std::string json = WorkJson("train", work, ranks, peak);
  EXPECT_NE(json.find("\"peak_source\":\"probe\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"mfu_ratio\":0."), std::string::npos) << json;
}

}  // namespace
}  // namespace fathom::collector
