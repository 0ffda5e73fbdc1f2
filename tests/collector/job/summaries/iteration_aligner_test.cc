#include "collector/job/summaries/iteration_aligner.h"

#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers Place(IterationAligner& aligner, std::uint64_t group, std::uint64_t sequence,
              std::int64_t own, const Numbers& steps,
              std::optional<std::int64_t> offset = std::nullopt) {
  return aligner.Place({group, sequence, own, steps, offset});
}

TEST(IterationAligner, TheFirstRanksCountIsTheJobs) {
  IterationAligner aligner;
  EXPECT_EQ(Place(aligner, 7, 100, 3, Numbers{5, 5, 5}), (Numbers{3, 4, 5}));
}

TEST(IterationAligner, ARankThatCountsDifferentlyIsPlacedByItsAnchors) {
  IterationAligner aligner;
  Place(aligner, 7, 100, 3, Numbers{5, 5, 5});
  EXPECT_EQ(Place(aligner, 7, 105, 0, Numbers{5, 5, 5}), (Numbers{4, 5, 6}));
}

TEST(IterationAligner, ARankAheadOfAllIsPlacedByDistance) {
  IterationAligner aligner;
  Place(aligner, 7, 100, 0, Numbers{5});
  EXPECT_EQ(Place(aligner, 7, 150, 2, Numbers{5, 5}), (Numbers{10, 11}));
}

TEST(IterationAligner, WhatLiesBeforeTheFirstHasNoNumber) {
  IterationAligner aligner;
  Place(aligner, 7, 100, 0, Numbers{5});
  EXPECT_EQ(Place(aligner, 7, 90, 0, Numbers{5, 5, 5}), (Numbers{-1, -1, 0}));
}

TEST(IterationAligner, AnotherAnchorOpOfTheSameIterationIsTheSameIteration) {
  IterationAligner aligner;
  Place(aligner, 7, 100, 0, Numbers{10, 10, 10});
  EXPECT_EQ(Place(aligner, 7, 101, 0, Numbers{10, 10, 10}), (Numbers{0, 1, 2}));
}

TEST(IterationAligner, UnequalStepsFollowTheKnownAnchors) {
  IterationAligner aligner;
  Place(aligner, 7, 100, 0, Numbers{5, 20, 5, 5});  // gradient accumulation
  EXPECT_EQ(Place(aligner, 7, 125, 9, Numbers{5, 5}), (Numbers{2, 3}));
}

TEST(IterationAligner, ARankGoesOnFromItsOwnCountWhenTheStepIsNotKnown) {
  IterationAligner aligner;
  Place(aligner, 7, 100, 0, Numbers{5, 0});  // the last step of a batch is not known
  EXPECT_EQ(Place(aligner, 7, 130, 2, Numbers{5, 0}, 0), (Numbers{2, 3}));
  EXPECT_EQ(Place(aligner, 7, 300, 9, Numbers{0}, 0), (Numbers{9})) << "batches were lost";
}

TEST(IterationAligner, SingleIterationsOfAnotherRankArePlacedByTheStepSoFar) {
  IterationAligner aligner;
  for (int i = 0; i < 4; ++i) Place(aligner, 7, 100 + 3u * i, i, Numbers{0}, 0);
  EXPECT_EQ(Place(aligner, 7, 115, 0, Numbers{0}), (Numbers{5}));
}

TEST(IterationAligner, AKnownAnchorBeatsTheOldOffset) {
  IterationAligner aligner;
  Place(aligner, 7, 100, 0, Numbers{5, 5, 5});
  EXPECT_EQ(Place(aligner, 7, 110, 40, Numbers{5}, 0), (Numbers{2}));
}

TEST(IterationAligner, TwoIterationsOfARankNeverShareANumber) {
  IterationAligner aligner;
  Place(aligner, 7, 100, 0, Numbers{10, 10});
  // A rank that found half the period: its second iteration falls into the job's first.
  EXPECT_EQ(Place(aligner, 7, 100, 0, Numbers{5, 5, 5}), (Numbers{0, 1, 2}));
}

TEST(IterationAligner, AGroupNobodySharesKeepsItsOwnCountAndIsCounted) {
  IterationAligner aligner;
  Place(aligner, 7, 100, 0, Numbers{5});
  EXPECT_EQ(Place(aligner, 8, 40, 2, Numbers{5}), (Numbers{2}));
  EXPECT_EQ(aligner.unanchored(), 1u);
}

// What came first to the one is no longer there for the other, to whom another rank comes first.
TEST(IterationAligner, WhoGoesOnGivesTheSameNumbers) {
  IterationAligner before;
  Place(before, 7, 100, 3, Numbers{5, 5, 5, 5});
  EXPECT_EQ(Place(before, 7, 110, 0, Numbers{5, 5, 5}), (Numbers{5, 6, 7}));
  IterationAligner alone, after;
  after.GoOnFrom(before.Known());
  EXPECT_EQ(after.Known(), before.Known());
  EXPECT_EQ(Place(alone, 7, 110, 0, Numbers{5, 5, 5}), (Numbers{0, 1, 2}));
  EXPECT_EQ(Place(after, 7, 110, 0, Numbers{5, 5, 5}), (Numbers{5, 6, 7}));
  EXPECT_EQ(Place(after, 7, 125, 8, Numbers{5, 0}), (Numbers{8, 9})) << "and goes on";
  // Once it has numbers of its own they stay.
  alone.GoOnFrom(before.Known());
  EXPECT_EQ(Place(alone, 7, 110, 0, Numbers{5, 5, 5}), (Numbers{0, 1, 2}));
}

TEST(IterationAligner, OfALongJobTheNewestAreToldOfEachGroup) {
  IterationAligner aligner;
  const Numbers steps(600, 5);
  Place(aligner, 7, 100, 0, steps);
  Place(aligner, 9, 50, 0, Numbers{2, 2});
  const std::vector<KnownAnchors> known = aligner.Known();
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known[0].anchors.size(), IterationAligner::kToldPerGroup);
  EXPECT_EQ(known[0].anchors.back(), (std::pair<std::uint64_t, std::int64_t>(3095, 599)));
  EXPECT_EQ(known[1].anchors.size(), 2u);
}

TEST(IterationAligner, AbsurdSequencesDoNotOverflow) {
  IterationAligner aligner;
  Place(aligner, 7, 100, 0, Numbers{5});
  EXPECT_EQ(Place(aligner, 7, ~std::uint64_t{0} - 5, 0, Numbers{1}), (Numbers{-1}));
  EXPECT_EQ(Place(aligner, 7, 0, 0, Numbers{-3, 0}), (Numbers{-1, -1}));
}

}  // namespace
}  // namespace fathom::collector
