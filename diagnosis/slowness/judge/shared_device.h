// What several groups whose communication is slow have in common: one rank's NIC, the rail that all
// their ranks are on, or nothing that can be told.
//
// Used by slowness/judge/judge. Model: ranks are told apart by node and by their place among the
// ranks of their node (rank 11 of nodes of eight has place 3), which on rail-wired clusters is the
// leaf switch they are on. A device that many share is named only where groups at other places, of
// the same size, are well.
//
// Thread-safety: pure. Cost: O(ranks + members of the slow groups).
// Source: C4's rows and columns (methods 9), for groups in place of pairs; topology decay as in
// Holmes (NSDI'25): the more users a device has, the more of them must suffer.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_SHARED_DEVICE_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_SHARED_DEVICE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct SharedDevice {
  std::vector<RankId> ranks;          // all members of the slow groups
  RankId rank = kNoRank;              // the only one they have in common
  std::optional<std::uint32_t> rail;  // the place that all of them have on their nodes
};

// Requires: at least two groups.
SharedDevice SharedBy(const JobView& view, const std::set<GroupId>& slow);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_SHARED_DEVICE_H_
