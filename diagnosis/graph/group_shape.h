// How the members of a communicator lie to one another: what makes two of them alike.
//
// Used by ledger/channels. Thread-safety: pure functions. Errors: none.
// Cost: O(members × log members).
#ifndef FATHOM_DIAGNOSIS_GRAPH_GROUP_SHAPE_H_
#define FATHOM_DIAGNOSIS_GRAPH_GROUP_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

// Between members that follow one another.
std::vector<std::uint32_t> DistancesIn(const std::vector<RankId>& members);

// How many members lie on each node, ascending, so that the nodes themselves do not matter; empty
// where a node is not known.
std::vector<std::size_t> SpreadOf(const JobView& view, const std::vector<RankId>& members);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_GROUP_SHAPE_H_
