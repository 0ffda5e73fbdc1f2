// What each rank of a capture spends more of its time in than its peers, without anybody accused.
//
// Used by collector/evaluate/hand_captures. docs/rules/functions.md.
//
// Model: each rank against the captured ranks that do the same work, by functions/compare. Nobody
// has said what the job loses, so a function is named only where it takes kLeastExcess of a rank's
// time beyond its peers', more than where a verdict points at the rank.
//
// Thread-safety: pure. Errors: a rank whose function is not known says in Detail::missing why.
// Cost: ranks times that of functions/compare.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_COMPARE_RANKS_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_COMPARE_RANKS_H_

#include <vector>

#include "diagnosis/model/detail.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/stack_capture.h"

namespace fathom::diagnosis {

inline constexpr double kLeastExcess = 0.05;

struct RankFunctions {
  RankId rank;
  Detail detail;
};

// Those with a function first, that with most beyond its peers before all others.
std::vector<RankFunctions> CompareRanks(const JobView& view, const StackCapture& capture);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_COMPARE_RANKS_H_
