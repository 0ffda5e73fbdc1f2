// Finds a rank's facts or a group of a job by its identity.
//
// Used throughout diagnosis. Ranks and groups mostly come sorted, and a whole job's ranks lie each
// at its own place; both are used and neither is required.
//
// Thread-safety: pure functions. Errors: null where there is none. Lifetime: of the view.
// Cost: O(1) for ranks of a whole job, O(log n) for what is sorted, else O(n).
#ifndef FATHOM_DIAGNOSIS_MODEL_LOOKUP_H_
#define FATHOM_DIAGNOSIS_MODEL_LOOKUP_H_

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

const RankFacts* FactsOf(const JobView& view, RankId rank);
const Group* FindGroup(const JobView& view, GroupId id);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_LOOKUP_H_
