#include "collector/window/iteration_aligner.h"

#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(IterationAligner, TheFirstRanksCountIsTheJobs) {
  IterationAligner aligner;
  EXPECT_EQ(aligner.Place(7, 100, 3, Numbers{5, 5, 5}), (Numbers{3, 4, 5}));
}

TEST(IterationAligner, ARankThatCountsDifferentlyIsPlacedByItsAnchors) {
  IterationAligner aligner;
  aligner.Place(7, 100, 3, Numbers{5, 5, 5});
  EXPECT_EQ(aligner.Place(7, 105, 0, Numbers{5, 5, 5}), (Numbers{4, 5, 6}));
}

TEST(IterationAligner, ARankAheadOfAllIsPlacedByDistance) {
  IterationAligner aligner;
  aligner.Place(7, 100, 0, Numbers{5});
  EXPECT_EQ(aligner.Place(7, 150, 2, Numbers{5, 5}), (Numbers{10, 11}));
}

TEST(IterationAligner, WhatLiesBeforeTheFirstHasNoNumber) {
  IterationAligner aligner;
  aligner.Place(7, 100, 0, Numbers{5});
  EXPECT_EQ(aligner.Place(7, 90, 0, Numbers{5, 5, 5}), (Numbers{-1, -1, 0}));
}

TEST(IterationAligner, AnotherAnchorOpOfTheSameIterationIsTheSameIteration) {
  IterationAligner aligner;
  aligner.Place(7, 100, 0, Numbers{10, 10, 10});
  EXPECT_EQ(aligner.Place(7, 101, 0, Numbers{10, 10, 10}), (Numbers{0, 1, 2}));
}

TEST(IterationAligner, UnequalStepsFollowTheKnownAnchors) {
  IterationAligner aligner;
  aligner.Place(7, 100, 0, Numbers{5, 20, 5, 5});  // gradient accumulation
  EXPECT_EQ(aligner.Place(7, 125, 9, Numbers{5, 5}), (Numbers{2, 3}));
}

TEST(IterationAligner, UnequalStepsGoOnAcrossBatches) {
  IterationAligner aligner;
  aligner.Place(7, 100, 0, Numbers{5, 20});
  EXPECT_EQ(aligner.Place(7, 125, 2, Numbers{5, 5}), (Numbers{2, 3}));
}

TEST(IterationAligner, TwoIterationsOfARankNeverShareANumber) {
  IterationAligner aligner;
  aligner.Place(7, 100, 0, Numbers{10, 10});
  // A rank that found half the period: its second iteration falls into the job's first.
  EXPECT_EQ(aligner.Place(7, 100, 0, Numbers{5, 5, 5}), (Numbers{0, 1, 2}));
}

TEST(IterationAligner, AGroupNobodySharesKeepsItsOwnCountAndIsCounted) {
  IterationAligner aligner;
  aligner.Place(7, 100, 0, Numbers{5});
  EXPECT_EQ(aligner.Place(8, 40, 2, Numbers{5}), (Numbers{2}));
  EXPECT_EQ(aligner.unanchored(), 1u);
}

TEST(IterationAligner, AbsurdSequencesDoNotOverflow) {
  IterationAligner aligner;
  aligner.Place(7, 100, 0, Numbers{5});
  EXPECT_EQ(aligner.Place(7, ~std::uint64_t{0} - 5, 0, Numbers{1}), (Numbers{-1}));
  EXPECT_EQ(aligner.Place(7, 0, 0, Numbers{-3, 0}), (Numbers{-1, -1}));
}

}  // namespace
}  // namespace fathom::collector
