// Which communicators pass messages round a ring, as context parallelism passes keys and values.
//
// Used by peers/peers and graph/pipelines. Model: every member that sends does so to one rank and
// receives from one rank, and whoever follows the sends comes back, after three ranks or more. All
// places of a ring are alike, whatever numbers the neighbours have; the stages of a pipeline, which
// send to both sides, are not. Of two ranks that send to one another neither picture can be told,
// and they are no ring.
//
// Thread-safety: pure. Errors: none; a communicator of whose members some have no rows here is no
// ring. Cost: O(ops in the rows × log).
#ifndef FATHOM_DIAGNOSIS_GRAPH_RINGS_H_
#define FATHOM_DIAGNOSIS_GRAPH_RINGS_H_

#include <set>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

std::set<GroupId> RingsOf(const JobView& view);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_RINGS_H_
