// The stacks of a job that stands still, equal ones together, so that the odd one out is seen.
//
// Used by rule hang. Shown with the verdict, and exported as folded stacks.
//
//   rank 2         queue.get  <  train  <  main           differs at queue.get
//   ranks 0, 1     all_reduce <  share  <  train  <  main
//
// Model: two stacks are equal when their functions are, whatever the lines. The cluster of the
// culprit comes first, then the larger ones. Each is compared, from the outermost frame, with the
// largest other cluster.
//
// Thread-safety: pure function. Cost: O(ranks with a stack × frames × log).
// Source: equivalence classes of stacks as STAT (Arnold et al., IPDPS 2007) shows them.
#ifndef FATHOM_DIAGNOSIS_HANG_PLACE_STACK_CLUSTERS_H_
#define FATHOM_DIAGNOSIS_HANG_PLACE_STACK_CLUSTERS_H_

#include <cstddef>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

inline constexpr std::size_t kMostClusters = 8;  // shown; a ninth says no more

std::vector<StackCluster> ClusterStacks(const JobView& view, const std::vector<RankId>& culprits);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_PLACE_STACK_CLUSTERS_H_
