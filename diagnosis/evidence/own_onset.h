// Since when one rank takes longer, where that is later than since when the job does.
//
// Used by evidence/ledger and judge: an episode of slowness may go over from one culprit to the
// next, or get a second one, without an end between; what is said of a rank, what its time went
// into and what it has cost counts from its own beginning.
//
// Model: own time is the duration of an iteration without what of it the rank was blocked in
// communication. Since the onset of the episode it is a low stretch, as long as one that would have
// ended the episode (settled_iterations), then a high one; halfway between the rank's present and
// usual own time lies the limit, and nearly all of each stretch are on their side of it. What comes
// and goes has no such place, and neither has a rank that the window does not know well enough:
// then the onset of the job stands.
//
// Units: seconds within. Thread-safety: pure functions. Cost: O(window × log ranks).
// Source: the split is stats/step's.
#ifndef FATHOM_DIAGNOSIS_EVIDENCE_OWN_ONSET_H_
#define FATHOM_DIAGNOSIS_EVIDENCE_OWN_ONSET_H_

#include <cstdint>
#include <optional>

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

struct OwnOnset {
  Iteration iteration;
  WallNs time;
  std::int64_t seen_since = 0;  // iterations of the window
};

// Null where the rank did not begin later than the job. `excess`: its present own time beyond the
// usual, seconds.
[[nodiscard]] std::optional<OwnOnset> FindOwnOnset(const Case& c, RankId rank, double excess);

// The suspicion as if it had begun there.
Suspicion Since(const OwnOnset& onset, const Suspicion& suspicion);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_EVIDENCE_OWN_ONSET_H_
