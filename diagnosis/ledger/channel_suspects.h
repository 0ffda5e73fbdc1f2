// Slow channels as suspects: told by what they have in common, a link, a NIC, a node, else by all
// of their ranks.
//
// Used by ledger/accounting. Model: a channel counts that takes channel_ratio times what its family
// takes; where most of the family is slow, or it has one peer, sure_ratio, and only where the nodes
// of its ranks are known, since what crosses nodes is slower. The place is that of
// ledger/odd_place.
//
// Units: seconds. Thread-safety: pure function. Errors: none; empty where none is slow.
// Cost: O(channels × members).
#ifndef FATHOM_DIAGNOSIS_LEDGER_CHANNEL_SUSPECTS_H_
#define FATHOM_DIAGNOSIS_LEDGER_CHANNEL_SUSPECTS_H_

#include <vector>

#include "diagnosis/ledger/channels.h"
#include "diagnosis/ledger/suspect.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/topology.h"
#include "diagnosis/peers/account_limits.h"
#include "diagnosis/peers/outliers.h"

namespace fathom::diagnosis {

// `outliers`: of the channels; `iterations`: those that were played.
std::vector<Suspect> SlowChannels(const JobView& view, const Channels& channels,
                                  const Outliers& outliers,
                                  const std::vector<Iteration>& iterations,
                                  const AccountLimits& limits, const Topology* topology);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_CHANNEL_SUSPECTS_H_
