#include "diagnosis/peers/rank_outliers.h"

#include <gtest/gtest.h>

namespace fathom::diagnosis {
namespace {

constexpr double kPlayedIteration = 0.1;

// On devices; an iteration takes them some 50 ms by themselves.
Peers AlikeRanks(std::uint32_t ranks, std::int64_t iterations) {
  Peers peers;
  peers.roles = 1;
  peers.on_device = true;
  for (std::int64_t i = 0; i < iterations; ++i) peers.iterations.emplace_back(i);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    peers.ranks.emplace_back(rank);
    peers.role.push_back(0);
    OwnPieces pieces;
    pieces.own = pieces.wall = 0.05 + 0.0001 * (rank % 3);
    pieces.compute = 0.045;
    pieces.known = true;
    peers.pieces.emplace_back(peers.iterations.size(), pieces);
  }
  return peers;
}

void AddGarbage(OwnPieces& pieces, double seconds) {
  pieces.own += seconds;
  pieces.wall += seconds;
  pieces.gc += seconds;
}

const Outlier* FoundOf(const Outliers& outliers, std::size_t entity) {
  for (const Outlier& each : outliers.found) {
    if (each.entity == entity) return &each;
  }
  return nullptr;
}

// Rank 0 writes a checkpoint that takes longer than any collection of rank 3.
Peers GarbageBesideACheckpoint() {
  Peers peers = AlikeRanks(16, 6);
  for (const std::size_t i : {0, 2}) AddGarbage(peers.pieces[3][i], 0.03);
  peers.pieces[0][4].own += 0.05;
  peers.pieces[0][4].wall += 0.05;
  return peers;
}

TEST(RankOutliersTest, ACheckpointOfOneDoesNotHideTheGarbageOfAnother) {
  const Outliers outliers = OutliersOfRanks(GarbageBesideACheckpoint(), kPlayedIteration, {});
  const Outlier* const found = FoundOf(outliers, 3);
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->host_time);
  EXPECT_EQ(found->shows, 2u);
  EXPECT_NEAR(found->excess, 0.03, 1e-6);
  EXPECT_NEAR(outliers.reference[3][0], 0.05, 0.001);
  EXPECT_EQ(FoundOf(outliers, 0), nullptr);
}

// The near miss: all collect as much, each in its own iterations.
TEST(RankOutliersTest, GarbageOfAllNamesNobody) {
  Peers peers = AlikeRanks(8, 6);
  for (std::size_t rank = 0; rank < 8; ++rank) {
    for (std::size_t i = rank % 2; i < 6; i += 2) AddGarbage(peers.pieces[rank][i], 0.03);
  }
  EXPECT_TRUE(OutliersOfRanks(peers, kPlayedIteration, {}).found.empty());
}

// One collection is one long iteration like any other.
TEST(RankOutliersTest, WhatIsFoundByItsOwnTimeIsNotFoundAgain) {
  Peers peers = AlikeRanks(8, 6);
  for (OwnPieces& pieces : peers.pieces[3]) AddGarbage(pieces, 0.03);
  const Outliers outliers = OutliersOfRanks(peers, kPlayedIteration, {});
  ASSERT_EQ(outliers.found.size(), 1u);
  EXPECT_FALSE(outliers.found[0].host_time);
}

}  // namespace
}  // namespace fathom::diagnosis
