// Finds a rank's facts, a group of a job, or a rank in an iteration by its identity.
//
// Used throughout diagnosis. Ranks and groups of a view mostly come sorted, and a whole job's ranks
// lie each at its own place; both are used and neither is required.
//
// Thread-safety: pure functions. Errors: null where there is none. Lifetime: of the view.
// Cost: O(1) for ranks of a whole job, O(log n) for what is sorted, else O(n).
#ifndef FATHOM_DIAGNOSIS_MODEL_LOOKUP_H_
#define FATHOM_DIAGNOSIS_MODEL_LOOKUP_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

const RankFacts* FactsOf(const JobView& view, RankId rank);
const Group* FindGroup(const JobView& view, GroupId id);

// How many ranks it has, whether or not its members are known.
std::size_t SizeOf(const Group& group);

bool Contains(const std::vector<RankId>& ranks, RankId rank);

// Of the view, those that are not among `ranks`.
std::vector<RankId> RanksBeside(const JobView& view, const std::vector<RankId>& ranks);

// Empty where it is not known.
std::string NodeOf(const JobView& view, RankId rank);
// Of the GPU that it drives its PCI bus id, or else its number; empty where neither is known.
std::string GpuOf(const JobView& view, RankId rank);
// With an empty one where that of a rank is not known.
std::set<std::string> NodesOf(const JobView& view, const std::vector<RankId>& ranks);

// Null where the rank did not report. Requires: iteration.ranks sorted by rank. Cost: O(log n).
const RankIteration* RankIn(const IterationSummary& iteration, RankId rank);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_LOOKUP_H_
