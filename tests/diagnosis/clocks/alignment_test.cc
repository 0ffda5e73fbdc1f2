// Clocks that are apart by a known amount, seen only through the ends of collectives.
#include "diagnosis/clocks/alignment.h"

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
  EXPECT_EQ(alignment.offsets.at(RankId(0)), Nanos());
  EXPECT_EQ(alignment.offsets.at(RankId(1)), Nanos(7000));
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
  EXPECT_EQ(AlignClocks(view).offsets.at(RankId(2)), Nanos(-3000));
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
