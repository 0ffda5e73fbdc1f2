// In which function does a rank spend the time that its peers do not?
//
// Used by functions/name_function. docs/rules/functions.md.
//
// Model: ranks of one job take as long for an iteration, so a share of the capture is a time an
// iteration. The excess of a place is its share on the culprit less the median of its peers'. Named
// is the innermost place that holds most of all excess that the capture shows, a fair part of what
// the job loses, and more than chance makes of so few iterations (chance.h). Of its own time is not
// what the culprit waited for a core beyond its peers. Nobody's place is named where what the
// culprit does besides has grown alike: then the rank is slow at all it does. Nor is one in which
// its peers spend time as well, where it has as many more products of matrices to compute, or where
// the place holds less than half of the loss: then it does more of what they all do.
//
// Units: shares of the culprit's time, 0 to 1. Thread-safety: pure.
// Errors: abstains, with what is missing in Detail::missing. Cost: O(ranks × stacks × depth × log).
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_COMPARE_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_COMPARE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnosis/model/detail.h"
#include "diagnosis/model/stack_capture.h"

namespace fathom::diagnosis {

// Of what is lost: a function that holds less is told as the part that it is, or, where peers spend
// time in it as well, not at all.
inline constexpr double kMostOfLoss = 0.5;

struct CompareLimits {
  std::uint64_t least_samples = 40;  // of the culprit, and of each peer
  double part_of_loss = 0.2;         // of what the job loses
  double explains_excess = 0.6;      // of all that the culprit has beyond its peers
  double sigmas = 4;                 // beyond chance; as normal deviates
  double least_excess = 0.02;        // of its time
  double shared = 0.02;              // a place that peers spend so much of their time in as well
  double alike = 0.5;                // as much growth, of that of the place, is growth alike
  double doing_share = 0.5;          // of the excess, that tells what the thread does there
  std::size_t table_rows = 8;
  double flop_times = 0;  // no limit: its products of matrices against its peers'; 0: not known
};

// `lost`: share of an iteration that the culprit costs, on average; 0: not known.
Detail CompareFunctions(const StackCapture& capture, RankId culprit,
                        const std::vector<RankId>& peers, double lost,
                        const CompareLimits& limits = {});

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_COMPARE_H_
