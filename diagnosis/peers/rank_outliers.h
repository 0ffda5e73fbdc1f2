// Ranks that take longer by themselves than those that do the same work.
//
// Used by ledger/accounting and, on summaries alone, by watch/peer_look.
//
// Model: own times by role (peers/outliers), and within them what marks tell apart, collections of
// garbage and awaited batches, each by itself: another rank's checkpoint must not hide them. A rank
// of a role of one or two has nobody to be compared with in what it computes, for stages may differ
// by design; but what its host spends on collections of garbage, on awaiting its batch, or on
// neither computing nor waiting for others is no stage's work: of that all ranks are peers. A job
// of two ranks has one peer each; such time is never too short, so the longer one is at fault
// (peers/pair_outlier).
//
// Units: seconds. Thread-safety: pure functions. Errors: none. Cost: that of FindOutliers(), up to
// four times.
#ifndef FATHOM_DIAGNOSIS_PEERS_RANK_OUTLIERS_H_
#define FATHOM_DIAGNOSIS_PEERS_RANK_OUTLIERS_H_

#include <utility>
#include <vector>

#include "diagnosis/peers/account_limits.h"
#include "diagnosis/peers/outliers.h"
#include "diagnosis/peers/peers.h"

namespace fathom::diagnosis {

Outliers OutliersOfRanks(const Peers& peers, double iteration_s, const AccountLimits& limits);

// Two ranks that alone do the same work, and whose own times differ by pair_differs of an
// iteration.
std::vector<std::pair<RankId, RankId>> PairsThatDiffer(const Peers& peers, double iteration_s,
                                                       const AccountLimits& limits);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_PEERS_RANK_OUTLIERS_H_
