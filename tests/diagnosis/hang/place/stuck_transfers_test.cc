#include "diagnosis/hang/place/stuck_transfers.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/hang/live/transfer_ring.h"

namespace fathom::diagnosis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

JobView Ring(std::uint32_t ranks, std::uint32_t stuck) {
  JobView view;
  view.world_size = ranks;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    view.ranks.emplace_back();
    view.ranks.back().rank = RankId(r);
  }
  StickRing(view, stuck);
  return view;
}

std::vector<StuckTransfer> Find(const JobView& view) {
  return FindStuckTransfers(view, DiagnosisConfig());
}

auto Over(std::uint32_t sender, std::uint32_t receiver) {
  return AllOf(Field(&StuckTransfer::sender, RankId(sender)),
               Field(&StuckTransfer::receiver, RankId(receiver)));
}

// The end of `rank` of what goes from its predecessor to it, or from it to its successor.
Transfer& EndAt(JobView& view, std::uint32_t rank, bool sends) {
  for (Transfer& t : view.ranks[rank].transfers) {
    if (t.sends == sends) return t;
  }
  throw std::out_of_range("no such end");
}

TEST(StuckTransfersTest, OfARingThatStandsStillOnlyTheLinkOnWhichStepsAreLost) {
  for (std::uint32_t stuck = 0; stuck < 6; ++stuck) {
    const auto found = Find(Ring(6, stuck));
    ASSERT_THAT(found, ElementsAre(Over((stuck + 5) % 6, stuck)));
    EXPECT_EQ(found[0].taken, 7u);
    EXPECT_EQ(found[0].arrived, 3u);
  }
}

// A stall that is no link's: what the network took has arrived everywhere.
TEST(StuckTransfersTest, WhatHasArrivedIsNotStuckOnItsWay) {
  JobView view = Ring(4, 2);
  EndAt(view, 1, true).moved = EndAt(view, 1, true).gpu = 3;
  EXPECT_THAT(Find(view), IsEmpty());
}

// The receiver's GPU takes nothing, so its proxy has no room: a network that buffers takes more.
TEST(StuckTransfersTest, AReceiverWithoutRoomIsNotTheLink) {
  JobView view = Ring(4, 2);
  EndAt(view, 2, false).posted = 3;
  EXPECT_THAT(Find(view), IsEmpty());
}

TEST(StuckTransfersTest, WhatMovedLatelyIsSlowAndAllOfItsOpWithIt) {
  const DiagnosisConfig config;
  for (const bool sends : {true, false}) {
    JobView view = Ring(4, 2);
    EXPECT_THAT(FindMovingOps(view, config), IsEmpty());
    EndAt(view, 0, sends).still_for = config.transfer_still - Nanos(1);
    EXPECT_THAT(Find(view), IsEmpty()) << "an edge that is not the stuck one";
    EXPECT_THAT(FindMovingOps(view, config), ElementsAre(std::pair(GroupId(1), Sequence(5))));
  }
}

TEST(StuckTransfersTest, AnEdgeOfWhichOneEndIsNotKnownIsNotJudged) {
  const auto without = [](const std::function<void(JobView&)>& spoil) {
    JobView view = Ring(4, 2);
    spoil(view);
    return Find(view);
  };
  EXPECT_THAT(without([](JobView& v) {
                std::erase_if(v.ranks[1].transfers, [](const Transfer& t) { return t.sends; });
              }),
              IsEmpty())
      << "the sender's: its network card is another process's";
  EXPECT_THAT(without([](JobView& v) { v.ranks[2].transfers.clear(); }), IsEmpty());
  EXPECT_THAT(without([](JobView& v) { v.ranks[1].agent_reachable = false; }), IsEmpty());
  EXPECT_THAT(without([](JobView& v) { v.ranks[2].agent_reachable = false; }), IsEmpty());
  EXPECT_THAT(without([](JobView& v) { EndAt(v, 1, true).channel = 7; }), IsEmpty());
  EXPECT_THAT(without([](JobView& v) { EndAt(v, 2, false).sequence = Sequence(6); }), IsEmpty());
  EXPECT_THAT(without([](JobView& v) { EndAt(v, 2, false).steps = 11; }), IsEmpty())
      << "they do not speak of the same transfer";
  EXPECT_THAT(without([](JobView& v) { EndAt(v, 1, true).peer = kNoRank; }), IsEmpty());
  EXPECT_THAT(without([](JobView& v) { v.ranks[1].transfers.push_back(EndAt(v, 1, true)); }),
              IsEmpty())
      << "two messages between the same two: which is which?";
}

// Ranks 0 and 1 share a network card that is rank 1's process's (PXN). Their receives at rank 2 are
// one; it waits for rank 0, whose GPU has sent nothing, and what rank 1 sent does not count yet.
TEST(StuckTransfersTest, AReceiverThatWaitsForAnotherUnseenOneIsNotJudged) {
  JobView view = Ring(4, 2);
  Transfer joined = From(0, 8, 3, 3);
  joined.channel = 1;
  view.ranks[2].transfers.push_back(joined);
  EXPECT_THAT(Find(view), IsEmpty());
  view.ranks[2].transfers.back().moved = kRingSteps;
  EXPECT_THAT(Find(view), ElementsAre(Over(1, 2))) << "that one has come whole";
}

TEST(StuckTransfersTest, AHealthyOpUnderWayHasNone) {
  JobView view = Ring(4, 2);
  for (RankFacts& facts : view.ranks) {
    for (Transfer& t : facts.transfers) t.still_for = Nanos();
  }
  EXPECT_THAT(Find(view), IsEmpty());
  EXPECT_THAT(Find(JobView()), IsEmpty());
}

}  // namespace
}  // namespace fathom::diagnosis
