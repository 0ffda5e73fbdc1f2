// Which level of each part of a daemon's work is worth what it takes, within a budget.
//
// Used by level_keeper. A part of the work (a sampler, a stream) can be done at one of several
// levels, from the finest to the coarsest. Each level has what it takes and a loss: how much less
// is known with it, on one scale for all parts.
//
// Model: a knapsack with several resources and one choice of each part. The choice has the least
// loss of all that fit. Where none fits it is the one that exceeds the budget by the smallest
// factor, in steps of kStep, and of these the one with the least loss: little is won by giving up
// all for a hundredth.
//
// Method: exact. Parts are taken in one after the other, and of what the parts so far can be only
// those combinations are kept that no other beats in loss and in every resource. Of what is still
// to come the least is known, so that a combination which cannot fit any more goes at once; only
// where none is left all are looked at.
//
// Thread-safety: pure. Errors: none; a part without a level is passed over. Cost: combinations that
// nobody beats × levels, for each part; of eight parts with four levels well below a millisecond
// (tests/daemon/service/budget/choose_levels_test compares it with a search of all).
// Source: dominance in the multidimensional multiple-choice knapsack, Kellerer, Pferschy and
// Pisinger 2004, chapter 11.
#ifndef FATHOM_DAEMON_SERVICE_BUDGET_CHOOSE_LEVELS_H_
#define FATHOM_DAEMON_SERVICE_BUDGET_CHOOSE_LEVELS_H_

#include <cstddef>
#include <vector>

#include "daemon/service/budget/spend.h"

namespace fathom::service {

struct Level {
  Spend spend;
  double loss = 0;
  bool allowed = true;  // false: now it would come too late
};

// By part, the finest first. Requires: some level of each part is allowed.
using Levels = std::vector<std::vector<Level>>;

struct Choice {
  std::vector<std::size_t> level;  // by part
  Spend spend;
  double loss = 0;
  bool fits = false;
};

inline constexpr double kStep = 0.05;  // of the budget, by which what does not fit is compared

Choice ChooseLevels(const Levels& parts, const Spend& budget);

// What a given choice takes and loses; `fits` likewise.
Choice Priced(const Levels& parts, const std::vector<std::size_t>& level, const Spend& budget);

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_BUDGET_CHOOSE_LEVELS_H_
