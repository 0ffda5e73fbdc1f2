// Did a rank get more work, and of what kind? What it was asked to do in slow iterations against
// what it was asked before, as far as its rows count it.
//
// Used by slowness/judge/judge_work and wording/phrase, so that no device is convicted of what the
// model or its data ask of it. Model: work of an iteration is counted in launches of kernels, in
// ops, in elements of the batches that the DataLoader gave, and in the bytes of the rank's ops on
// each communicator; longer sequences and more tokens move more activations, more layers launch
// more kernels. What grew most is told. A device that is slow gets no more of any. Bytes are taken
// op by op, so that an iteration that is cut does not count as less.
//
// Units: ratios; seconds. Thread-safety: pure. Errors: null where nothing of the rank is counted
// now, or nothing was before. Cost: O(rows of the rank).
#ifndef FATHOM_DIAGNOSIS_EVIDENCE_WORK_GROWTH_H_
#define FATHOM_DIAGNOSIS_EVIDENCE_WORK_GROWTH_H_

#include <optional>
#include <string>

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

struct WorkGrowth {
  double times = 1;
  std::string what;  // "launches of kernels", "bytes on TENSOR (3)"
};

std::optional<WorkGrowth> WorkGrowthOf(const Case& c, RankId rank);

// How many times the FLOP of its products of matrices are what they were; 0: not known. A function
// of its own may make them, so that they count for no work that is asked of it.
double FlopGrowthOf(const Case& c, RankId rank);

// Medians over iterations; 0 where they are not known.
struct OwnTime {
  double before = 0, now = 0;                  // no wait for others
  double working_before = 0, working_now = 0;  // of that, what was no wait for a core
};

OwnTime OwnTimeOf(const Case& c, RankId rank);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_EVIDENCE_WORK_GROWTH_H_
