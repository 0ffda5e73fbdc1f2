// Which op of which communicator will close an iteration that is still to come.
//
// Used by DetailWindows and SourceSwitches, which name such an op to all ranks: sequence numbers
// are equal on all members of a communicator.
//
// Model: extrapolated from the newest boundary by the step an iteration. Should the step have
// changed meanwhile, the members still act at the same op, only an iteration earlier or later.
// Units: iterations of the job. Thread-safety: pure. Errors: none. Cost: O(ranks).
#ifndef FATHOM_COLLECTOR_JOB_ORDERS_ANCHOR_PLAN_H_
#define FATHOM_COLLECTOR_JOB_ORDERS_ANCHOR_PLAN_H_

#include <cstdint>
#include <map>

#include "collector/job/ranks/rank_table.h"
#include "collector/job/summaries/summary_window.h"
#include "collector/process/clock.h"

namespace fathom::collector {

// The newest boundary on each communicator that closes iterations, over all ranks.
std::map<GroupId, SummaryWindow::Anchor> NewestAnchors(const RankTable& ranks,
                                                       const SummaryWindow& window);

// The sequence of the anchor that closes `iteration`.
std::uint64_t SequenceAt(const SummaryWindow::Anchor& anchor, std::int64_t iteration);

// Iterations until the last agent has told its processes. Requires: iteration_time > 0.
std::int64_t LeadIterations(Nanos iteration_time);

// How long a rank may take to come through so many iterations: the job is perhaps slow.
Nanos PatienceFor(std::int64_t iterations, Nanos iteration_time);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_ORDERS_ANCHOR_PLAN_H_
