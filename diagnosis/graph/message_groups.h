// Which groups carry messages between two ranks, as those of a pipeline do, rather than collectives
// of all their members.
//
// Used by graph/group_transfers, slowness/judge/slow_messages, slowness/network/network_channels
// and slowness/rules/imbalance. Model: a group is seen to carry messages where rows hold a send or
// a receive on it. Rows of large jobs are those of a few ranks, so groups of the same shape (size,
// and one distance between neighbouring ranks) count likewise, unless a group of that shape is seen
// with collectives only.
//
// Thread-safety: pure. Cost: O(ops in the rows + members of all groups).
#ifndef FATHOM_DIAGNOSIS_GRAPH_MESSAGE_GROUPS_H_
#define FATHOM_DIAGNOSIS_GRAPH_MESSAGE_GROUPS_H_

#include <set>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

std::set<GroupId> MessageGroups(const JobView& view);

// True where the rows hold any message: ranks are stages of a pipeline and do unequal work; other
// jobs give every rank equal work.
bool CarriesMessages(const JobView& view);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_MESSAGE_GROUPS_H_
