// The classic tables in short: sums over ranks, means by weight, and bounds however large the job.
#include "collector/export/tables_proto.h"

#include <gtest/gtest.h>

#include <string>

#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

using diagnosis::JobTables;
using diagnosis::RankTables;

v1::Tables InShort(const JobTables& tables) {
  v1::Tables out;
  ToProto(tables, out);
  return out;
}

// `count` ranks, of which rank r came r seconds late.
JobTables LateRanks(std::uint32_t count) {
  JobTables tables;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    tables.ranks.emplace_back().rank = RankId(rank);
    auto& total = tables.totals.emplace_back();
    total.rank = RankId(rank);
    total.late = Nanos(rank * 1'000'000'000LL);
  }
  return tables;
}

RankTables& AddRank(JobTables& tables, std::uint32_t rank) {
  tables.ranks.emplace_back().rank = RankId(rank);
  return tables.ranks.back();
}

TEST(TablesProtoTest, TablesOfNothingAreEmpty) {
  EXPECT_EQ(InShort({}).SerializeAsString(), v1::Tables().SerializeAsString());
}

TEST(TablesProtoTest, OfManyRanksThoseThatCameLatestAreTold) {
  EXPECT_EQ(InShort(LateRanks(kRanksTold)).ranks_left_out(), 0u);
  const v1::Tables out = InShort(LateRanks(kRanksTold + 6));
  EXPECT_EQ(out.ranks_left_out(), 6u);
  ASSERT_EQ(out.ranks_size(), static_cast<int>(kRanksTold));
  for (int i = 0; i < out.ranks_size(); ++i) {
    EXPECT_EQ(out.ranks(i).rank(), static_cast<std::uint32_t>(i) + 6) << "by rank";
  }
}

TEST(TablesProtoTest, RanksOfWhichNoLatenessIsKnownCountAsInTime) {
  JobTables tables = LateRanks(kRanksTold + 1);
  tables.totals.erase(tables.totals.begin() + 40);
  const v1::Tables out = InShort(tables);
  EXPECT_EQ(out.ranks_left_out(), 1u);
  for (const v1::RankTable& rank : out.ranks()) EXPECT_NE(rank.rank(), 40u);
}

TEST(TablesProtoTest, ARankSumsItsStreamsAndWeighsMeansByLaunches) {
  JobTables tables;
  RankTables& rank = AddRank(tables, 3);
  rank.on_device = true;
  rank.breakdown = {10, 6, 3, 1, 4, 0.5, 2};
  rank.idle = {{7, 0.5, 0.25, 0.125}, {20, 1, 2, 4}};
  rank.launches = {{7, 30, 4e-6, 8e-6, 7e-6, 5e-5, 1, 12}, {20, 10, 8e-6, 4e-6, 4e-6, 9e-5, 5, 2}};
  const v1::RankTable out = InShort(tables).ranks(0);
  EXPECT_TRUE(out.on_device());
  EXPECT_EQ(out.span_s(), 10);
  EXPECT_EQ(out.compute_s(), 6);
  EXPECT_EQ(out.communication_s(), 4);
  EXPECT_EQ(out.copies_s(), 0.5);
  EXPECT_EQ(out.overlap_s(), 2);
  EXPECT_EQ(out.host_wait_s(), 1.5);
  EXPECT_EQ(out.kernel_wait_s(), 2.25);
  EXPECT_EQ(out.other_idle_s(), 4.125);
  EXPECT_EQ(out.launches(), 40u);
  EXPECT_DOUBLE_EQ(out.launch_call_s(), 5e-6);
  EXPECT_DOUBLE_EQ(out.launch_delay_s(), 7e-6);
  EXPECT_DOUBLE_EQ(out.queue_mean(), 2);
  EXPECT_EQ(out.launch_delay_p99_s(), 9e-5) << "of the worst stream";
  EXPECT_EQ(out.queue_max(), 12);
}

TEST(TablesProtoTest, LaunchesThatNobodySawDivideByNothing) {
  JobTables tables;
  AddRank(tables, 0).launches = {{7, 0, 0, 0, 0, 9, 0, 9}};
  const v1::RankTable out = InShort(tables).ranks(0);
  EXPECT_EQ(out.launches(), 0u);
  EXPECT_EQ(out.launch_call_s(), 0);
  EXPECT_EQ(out.launch_delay_p99_s(), 0);
}

TEST(TablesProtoTest, WorkOfOneKindAndNameIsOneRowOverAllRanks) {
  JobTables tables;
  AddRank(tables, 0).kernels = {{"compute", "gemm", 4, 2, 0.25, 1, 0.1},
                                {"copy", "gemm", 1, 9, 9, 9, 0}};
  AddRank(tables, 1).kernels = {{"compute", "gemm", 12, 6, 0.125, 3, 0.1},
                                {"compute", "never", 0, 0, 0, 0, 0}};
  const v1::Tables out = InShort(tables);
  ASSERT_EQ(out.work_size(), 3);
  EXPECT_EQ(out.work(0).kind(), "copy") << "longest first";
  EXPECT_EQ(out.work(1).name(), "gemm");
  EXPECT_EQ(out.work(1).count(), 16u);
  EXPECT_EQ(out.work(1).sum_s(), 8);
  EXPECT_EQ(out.work(1).mean_s(), 0.5);
  EXPECT_EQ(out.work(1).max_s(), 3);
  EXPECT_EQ(out.work(2).mean_s(), 0) << "of what never ran";
  ASSERT_EQ(out.kinds_size(), 2);
  EXPECT_EQ(out.kinds(0).kind(), "copy");
  EXPECT_EQ(out.kinds(1).sum_s(), 8);
  EXPECT_EQ(out.kinds(1).count(), 16u);
}

TEST(TablesProtoTest, OfManyKernelsTheLongestAreToldAndKindsHaveAll) {
  JobTables tables;
  RankTables& rank = AddRank(tables, 0);
  for (std::size_t i = 0; i < kWorkTold + 5; ++i) {
    const auto seconds = static_cast<double>(i);
    rank.kernels.push_back({"compute", "k" + std::to_string(i), 1, seconds, 0, 0, 0});
  }
  const v1::Tables out = InShort(tables);
  ASSERT_EQ(out.work_size(), static_cast<int>(kWorkTold));
  EXPECT_EQ(out.work_left_out(), 5u);
  EXPECT_EQ(out.work(0).name(), "k24");
  EXPECT_EQ(out.work(19).name(), "k5");
  EXPECT_EQ(out.kinds(0).count(), kWorkTold + 5);
}

TEST(TablesProtoTest, CopiesOfAllRanksShareABandwidth) {
  JobTables tables;
  AddRank(tables, 0).copies = {{"HtoD", 2, 3'000'000'000, 1}, {"DtoD", 1, 8, 0}};
  AddRank(tables, 1).copies = {{"HtoD", 1, 1'000'000'000, 3}};
  const v1::Tables out = InShort(tables);
  ASSERT_EQ(out.copies_size(), 2);
  EXPECT_EQ(out.copies(0).kind(), "DtoD");
  EXPECT_EQ(out.copies(0).bandwidth_bytes_per_s(), 0) << "in no time at all";
  EXPECT_EQ(out.copies(1).count(), 3u);
  EXPECT_EQ(out.copies(1).bytes(), 4'000'000'000u);
  EXPECT_EQ(out.copies(1).bandwidth_bytes_per_s(), 1e9);
}

diagnosis::PathRow Segment(std::uint32_t rank, bool communicates, double seconds,
                           const std::string& longest = "") {
  diagnosis::PathRow row;
  row.rank = RankId(rank);
  row.communication = communicates;
  row.kind = CollectiveKind::kAllReduce;
  row.group = "dp";
  row.seconds = seconds;
  row.longest = longest;
  row.longest_s = seconds / 2;
  return row;
}

TEST(TablesProtoTest, SegmentsOfOnePlaceInTheProgramAreOneOverAllIterations) {
  JobTables tables;
  tables.path = {Segment(1, true, 0.5), Segment(2, false, 1, "load"), Segment(1, true, 0.25),
                 Segment(2, false, 2, "load"), Segment(2, false, 0.125, "save")};
  tables.path[3].kind = CollectiveKind::kBarrier;  // before another op: the same local time
  const v1::Tables out = InShort(tables);
  EXPECT_EQ(out.path_s(), 3.875);
  ASSERT_EQ(out.path_size(), 3);
  EXPECT_EQ(out.path(0).segment(), "local");
  EXPECT_EQ(out.path(0).rank(), 2u);
  EXPECT_EQ(out.path(0).op(), "");
  EXPECT_EQ(out.path(0).group(), "");
  EXPECT_EQ(out.path(0).longest(), "load");
  EXPECT_EQ(out.path(0).longest_s(), 1.5);
  EXPECT_EQ(out.path(0).count(), 2u);
  EXPECT_EQ(out.path(0).sum_s(), 3);
  EXPECT_EQ(out.path(1).segment(), "communication");
  EXPECT_EQ(out.path(1).op(), "all_reduce");
  EXPECT_EQ(out.path(1).group(), "dp");
  EXPECT_EQ(out.path(1).sum_s(), 0.75);
  EXPECT_EQ(out.path(2).longest(), "save");
}

TEST(TablesProtoTest, OfALongPathTheLongestSegmentsAreToldAndNoneWithoutTime) {
  JobTables tables;
  for (std::uint32_t rank = 0; rank < 30; ++rank) tables.path.push_back(Segment(rank, false, rank));
  v1::Tables out = InShort(tables);
  ASSERT_EQ(out.path_size(), static_cast<int>(kSegmentsTold));
  EXPECT_EQ(out.path(0).rank(), 29u);
  EXPECT_EQ(out.path_s(), 435) << "of all of it";
  tables.path = {Segment(0, false, 0), Segment(1, true, 0)};
  out = InShort(tables);
  EXPECT_EQ(out.path_size(), 0);
}

}  // namespace
}  // namespace fathom::collector
