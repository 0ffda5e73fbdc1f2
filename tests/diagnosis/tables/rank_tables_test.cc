// The classic tables of one rank, by hand-made work whose every number is known.
#include "diagnosis/tables/rank_tables.h"

#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

constexpr double kExact = 1e-12;

// Two streams: compute at 0-100 and 150-200 µs, a copy at 200-210, communication at 80-180.
RankWork TwoStreams() {
  RankWork work;
  work.names = {"gemm", "nccl", "Memcpy HtoD (Pinned -> Device)"};
  work.streams = {7, 20};
  work.device = {{150'000, 200'000, 90'000, 95'000, 0, 0, WorkKind::kCompute},
                 {0, 100'000, kNotLaunched, kNotLaunched, 0, 0, WorkKind::kCompute},
                 {80'000, 180'000, 60'000, 70'000, 1, 1, WorkKind::kCommunication},
                 {220'000, 230'000, 205'000, 210'000, 2, 0, WorkKind::kCopy}};
  work.copies["Memcpy HtoD"] = {1, 1'000'000, 10'000};
  return work;
}

TEST(RankTablesTest, ComputeNonComputeAndIdleSplitTheSpan) {
  const Breakdown b = TablesOfDevice(TwoStreams()).breakdown;
  EXPECT_NEAR(b.span, 230e-6, kExact);
  EXPECT_NEAR(b.compute, 150e-6, kExact);
  EXPECT_NEAR(b.non_compute, 60e-6, kExact);  // 100-150 and the copy
  EXPECT_NEAR(b.idle, 20e-6, kExact);
  EXPECT_NEAR(b.communication, 100e-6, kExact);
  EXPECT_NEAR(b.overlap, 50e-6, kExact);
  EXPECT_NEAR(b.overlap_ratio(), 0.5, kExact);
}

// The same work in one stretch, and in two that lie an hour apart: the pause is no idle time.
TEST(RankTablesTest, StretchesOfOneRankAddUp) {
  RankWork early = TwoStreams(), late = TwoStreams();
  for (DeviceWork& one : late.device) one.end += 10'000;
  RankTables all = TablesOfDevice(early);
  AddTables(TablesOfDevice(late), all);
  EXPECT_NEAR(all.breakdown.span, 230e-6 + 240e-6, kExact);
  EXPECT_NEAR(all.breakdown.compute + all.breakdown.non_compute + all.breakdown.idle,
              all.breakdown.span, kExact);
  RankWork both = early;
  both.device.insert(both.device.end(), late.device.begin(), late.device.end());
  const RankTables whole = TablesOfDevice(both);
  ASSERT_EQ(all.kernels.size(), whole.kernels.size());
  for (std::size_t i = 0; i < whole.kernels.size(); ++i) {
    EXPECT_EQ(all.kernels[i].name, whole.kernels[i].name);
    EXPECT_EQ(all.kernels[i].count, whole.kernels[i].count);
    EXPECT_NEAR(all.kernels[i].sum, whole.kernels[i].sum, kExact);
    EXPECT_NEAR(all.kernels[i].deviation, whole.kernels[i].deviation, kExact);
    EXPECT_NEAR(all.kernels[i].max, whole.kernels[i].max, kExact);
  }
  ASSERT_EQ(all.launches.size(), 2u);
  EXPECT_EQ(all.launches[0].count, 2 * TablesOfDevice(early).launches[0].count);
  EXPECT_EQ(all.copies[0].bytes, 2'000'000u);
}

TEST(RankTablesTest, IdleIsTheHostsWhereTheLaunchCameAfterTheWorkBefore) {
  const auto idle = TablesOfDevice(TwoStreams()).idle;
  ASSERT_EQ(idle.size(), 2u);
  EXPECT_EQ(idle[0].stream, 7);
  EXPECT_NEAR(idle[0].other, 50e-6, kExact);      // launched early, 50 µs later: something else
  EXPECT_NEAR(idle[0].host_wait, 20e-6, kExact);  // called at 205, the work before ended at 200
  EXPECT_EQ(idle[0].kernel_wait, 0);
  EXPECT_EQ(idle[1].stream, 20);
  EXPECT_EQ(idle[1].host_wait + idle[1].kernel_wait + idle[1].other, 0);
}

TEST(RankTablesTest, AShortGapAfterAnEarlyLaunchIsAKernelWait) {
  RankWork work = TwoStreams();
  work.device[0].begin = 100'000 + kKernelDelayNs - 1;
  EXPECT_GT(TablesOfDevice(work).idle[0].kernel_wait, 0);
  work.device[0].begin = 100'000 + kKernelDelayNs;
  EXPECT_EQ(TablesOfDevice(work).idle[0].kernel_wait, 0);
}

TEST(RankTablesTest, KernelsAreSummedByKindAndName) {
  const auto kernels = TablesOfDevice(TwoStreams()).kernels;
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].kind, "communication");
  const KernelRow& gemm = kernels[1];
  EXPECT_EQ(gemm.name, "gemm");
  EXPECT_EQ(gemm.count, 2u);
  EXPECT_NEAR(gemm.sum, 150e-6, kExact);
  EXPECT_NEAR(gemm.min, 50e-6, kExact);
  EXPECT_NEAR(gemm.max, 100e-6, kExact);
  EXPECT_NEAR(gemm.deviation, 35.35533906e-6, 1e-12);
}

TEST(RankTablesTest, LaunchesTellDelayAndQueue) {
  const auto launches = TablesOfDevice(TwoStreams()).launches;
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].count, 2u);
  EXPECT_NEAR(launches[0].delay_mean, (55e-6 + 10e-6) / 2, kExact);
  EXPECT_EQ(launches[0].queue_max, 1);
  EXPECT_NEAR(launches[0].queue_mean, 0.5, kExact);
}

TEST(RankTablesTest, BandwidthIsOfCopiesThatToldTheirSize) {
  const auto copies = TablesOfDevice(TwoStreams()).copies;
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_NEAR(copies[0].bandwidth(), 1e11, 1);
}

TEST(RankTablesTest, OpsOfAHostCountOnceWhatTheyCall) {
  RankWork work;
  work.names = {"linear", "addmm"};
  work.host_ops = {{10'000, 30'000, 1}, {0, 100'000, 0}, {40'000, 50'000, 1}};
  const RankTables tables = TablesOfHost(work, {1.0, 0.4, 0.5, 0.6, 0.1});
  ASSERT_EQ(tables.kernels.size(), 2u);
  EXPECT_EQ(tables.kernels[0].name, "linear");
  EXPECT_NEAR(tables.kernels[0].sum, 70e-6, kExact);
  EXPECT_NEAR(tables.kernels[1].sum, 30e-6, kExact);
  EXPECT_NEAR(tables.breakdown.idle, 0.1, kExact);
}

TEST(RankTablesTest, TotalsTakeTheBreakdown) {
  RankTables tables = TablesOfDevice(TwoStreams());
  tables.rank = RankId(3);
  std::vector<RankTotals> totals(1);
  totals[0].rank = RankId(5);
  FillTotals({tables}, totals);
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].rank, RankId(3));
  EXPECT_EQ(totals[0].compute, Nanos(150'000));
  EXPECT_EQ(totals[1].compute, Nanos());
}

TEST(RankTablesTest, NothingTracedIsNoError) {
  const RankTables tables = TablesOfDevice({});
  EXPECT_EQ(tables.breakdown.span, 0);
  EXPECT_TRUE(tables.kernels.empty());
}

}  // namespace
}  // namespace fathom::diagnosis
