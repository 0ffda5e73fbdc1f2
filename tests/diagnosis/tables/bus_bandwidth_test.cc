// Bus bandwidth of collectives whose bytes and times are known.
#include "diagnosis/tables/bus_bandwidth.h"

#include <gtest/gtest.h>

#include "diagnosis/tables/job_tables.h"

namespace fathom::diagnosis {
namespace {

using enum CollectiveKind;

// The factors of nccl-tests for eight ranks.
TEST(BusBandwidthTest, FactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(BusFactor(kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(BusFactor(kAllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(BusFactor(kReduceScatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(BusFactor(kAllToAll, 8), 0.875);
  EXPECT_DOUBLE_EQ(BusFactor(kAllReduce, 2), 1);
}

TEST(BusBandwidthTest, WhatHasNoLastArriverHasNone) {
  for (const CollectiveKind kind : {kBroadcast, kReduce, kSend, kRecv, kBarrier, kUnknown}) {
    EXPECT_EQ(BusFactor(kind, 8), 0);
  }
  EXPECT_EQ(BusFactor(kAllReduce, 1), 0);
}

TEST(BusBandwidthTest, AnAllGatherCountsWhole) {
  EXPECT_EQ(WholeBytes(kAllGather, 100, 8, GatherBytes::kPart), 800);
  EXPECT_EQ(WholeBytes(kAllGather, 100, 8, GatherBytes::kWhole), 100);
  EXPECT_EQ(WholeBytes(kAllGather, 100, 8, GatherBytes::kUnknown), 0)
      << "no figure rather than a wrong one";
  EXPECT_EQ(WholeBytes(kAllReduce, 100, 8, GatherBytes::kUnknown), 100);
}

CollectiveRow Row(const std::string& group, std::uint64_t bytes, double bus) {
  CollectiveRow row;
  row.group = group;
  row.kind = kAllReduce;
  row.bytes = bytes;
  row.members = 4;
  row.transfer = 1;
  row.bus_bandwidth = bus;
  return row;
}

TEST(BusBandwidthTest, ItIsToldByCommunicatorKindAndSize) {
  std::vector<CollectiveRow> rows = {Row("dp", 64, 0), Row("tp", 64, 5)};
  for (int i = 1; i <= 11; ++i) rows.push_back(Row("dp", 1024, i));
  const auto bandwidths = BandwidthsOf(rows);
  ASSERT_EQ(bandwidths.size(), 2u) << "what cannot be told is left out";
  EXPECT_EQ(bandwidths[0].group, "dp");
  EXPECT_EQ(bandwidths[0].count, 11u);
  EXPECT_DOUBLE_EQ(bandwidths[0].bus, 6);
  EXPECT_DOUBLE_EQ(bandwidths[0].bus_slow, 2);
  EXPECT_EQ(bandwidths[1].group, "tp");
}

}  // namespace
}  // namespace fathom::diagnosis
