// Clocks that are apart by a known amount, seen only through the ends of collectives.
#include "diagnosis/graph/alignment.h"

#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

void AddOp(JobView& view, std::uint32_t rank, std::uint64_t group, std::uint64_t sequence,
           std::int64_t end) {
  CommOp op;
  op.group = GroupId(group);
  op.sequence = Sequence(sequence);
  op.kind = CollectiveKind::kAllReduce;
  op.enter = MonoNs(end - 1000);
  op.end = MonoNs(end);
  view.rows[RankId(rank)].ops.push_back(op);
}

TEST(AlignmentTest, OffsetsAreTheMedianOfSharedEnds) {
  JobView view;
  for (std::uint64_t i = 1; i <= 9; ++i) {
    const auto end = static_cast<std::int64_t>(i * 1'000'000);
    const std::int64_t noise = i % 3 == 0 ? 40 : i == 5 ? 900'000 : 0;  // one is wild
    AddOp(view, 0, 1, i, end);
    AddOp(view, 1, 1, i, end + 7000 + noise);
  }
  const ClockAlignment alignment = AlignClocks(view);
  EXPECT_EQ(alignment.ranks.at(RankId(0)).offset, Nanos());
  EXPECT_EQ(alignment.ranks.at(RankId(1)).offset, Nanos(7000));
  EXPECT_LE(alignment.residual, Nanos(40));
  EXPECT_EQ(alignment.largest, Nanos(7000));
}

TEST(AlignmentTest, RanksWithoutACommonGroupAreReachedThroughOthers) {
  JobView view;
  for (std::uint64_t i = 1; i <= 5; ++i) {
    const auto end = static_cast<std::int64_t>(i * 1'000'000);
    AddOp(view, 0, 1, i, end);
    AddOp(view, 1, 1, i, end + 500);
    AddOp(view, 1, 2, i, end + 20'500);
    AddOp(view, 2, 2, i, end + 20'000 - 3000);
  }
  const RankClock clock = AlignClocks(view).ranks.at(RankId(2));
  EXPECT_EQ(clock.offset, Nanos(-3000));
  EXPECT_EQ(clock.reference, RankId(0));
  EXPECT_EQ(clock.shared, 5);
}

TEST(AlignmentTest, ResidualsAddUpOnTheWay) {
  JobView view;
  for (std::uint64_t i = 1; i <= 9; ++i) {
    const auto end = static_cast<std::int64_t>(i * 1'000'000);
    const std::int64_t noise = i % 3 == 0 ? 0 : i % 3 == 1 ? 30 : -30;
    AddOp(view, 0, 1, i, end);
    AddOp(view, 1, 1, i, end + noise);
    AddOp(view, 1, 2, i, end);
    AddOp(view, 2, 2, i, end + 2 * noise);
  }
  const ClockAlignment alignment = AlignClocks(view);
  EXPECT_EQ(alignment.ranks.at(RankId(0)).residual, Nanos());
  EXPECT_EQ(alignment.ranks.at(RankId(1)).residual, Nanos(30));
  EXPECT_EQ(alignment.ranks.at(RankId(2)).residual, Nanos(90));
  EXPECT_EQ(alignment.residual, Nanos(90));
}

// Hosts that were started 100 days apart, in two sets of ranks that share nothing.
TEST(AlignmentTest, ClocksThatCountFromTheStartOfAHostAreAligned) {
  constexpr std::int64_t kApart = 8'640'000'000'000'000;
  JobView view;
  for (std::uint64_t i = 1; i <= 5; ++i) {
    const auto end = static_cast<std::int64_t>(i * 1'000'000);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      AddOp(view, rank, rank / 2 + 1, i, end + (rank == 1 ? kApart : 0));
    }
  }
  const ClockAlignment alignment = AlignClocks(view);
  EXPECT_EQ(alignment.ranks.at(RankId(1)).offset, Nanos(kApart));
  EXPECT_EQ(alignment.ranks.at(RankId(3)).reference, RankId(2));
  EXPECT_EQ(alignment.largest, Nanos(kApart));
}

TEST(AlignmentTest, TooFewSharedCollectivesAlignNobody) {
  JobView view;
  AddOp(view, 0, 1, 1, 5000);
  AddOp(view, 1, 1, 1, 9000);
  const ClockAlignment alignment = AlignClocks(view);
  EXPECT_EQ(alignment.largest, Nanos());
}

}  // namespace
}  // namespace fathom::diagnosis
