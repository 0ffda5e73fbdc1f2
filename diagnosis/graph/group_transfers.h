// How long the communication itself takes in each group, told by summaries alone: for all groups of
// a job of any size, without rows.
//
// Used by slowness/rules/communication_slow on jobs of which rows of some ranks only are fetched.
//
// Model: in ops in which all leave together, elapsed = wait + transfer, and the member that comes
// last waits for nobody. So the smallest elapsed sum among the members bounds the transfers of an
// iteration from above, and no lateness of any rank lengthens it. Groups that carry messages are
// left out: their members wait for one another by turns, longer when anything in a stage takes
// longer.
//
// Units: seconds. Thread-safety: pure. Cost: O(ranks × groups × iterations asked for).
#ifndef FATHOM_DIAGNOSIS_GRAPH_GROUP_TRANSFERS_H_
#define FATHOM_DIAGNOSIS_GRAPH_GROUP_TRANSFERS_H_

#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct GroupTransfers {
  GroupId group;
  double usual = 0;           // median over the baseline iterations
  std::vector<double> times;  // one an irregular iteration, in their order
};

// Groups without messages, of which every member reported every iteration. Both lists: ordered by
// index.
std::vector<GroupTransfers> TransfersOf(const JobView& view,
                                        const std::vector<Iteration>& irregular,
                                        const std::vector<Iteration>& baseline);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_GROUP_TRANSFERS_H_
