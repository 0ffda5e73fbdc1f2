// What a rank's excess went into where the rows have no CPU clock: split by the summaries.
//
// Used by evidence/ledger. Model: the excess of the rank's CPU time and run-queue time in slow
// iterations over those before the onset (means, since the agent's samples smear over neighbouring
// iterations), as shares of its own excess. What is neither is host time.
//
// What its batches took longer because the processes that make them waited for a core is waiting
// for a core as well.
//
// Crowding: who computes more on a full machine also waits longer for cores, and by how much its
// surroundings tell: for each second of CPU time as long as itself before the onset, or as the
// other ranks of its node since, whichever is longer. Waiting beyond that is somebody else's doing.
//
// Units: seconds. Thread-safety: pure functions. Cost: O(window), of a rank that waits for cores
// O(ranks × window).
#ifndef FATHOM_DIAGNOSIS_EVIDENCE_PARTS_H_
#define FATHOM_DIAGNOSIS_EVIDENCE_PARTS_H_

#include <optional>

#include "diagnosis/evidence/rule.h"
#include "diagnosis/graph/execution_graph.h"

namespace fathom::diagnosis {

// Per second of own excess.
struct SummaryShares {
  double cpu = 0;
  double runqueue = 0;
  double wait_per_cpu = 0;  // seconds for cores per second of CPU time; 0: not asked
  double starved = 0;       // of its batches: their makers waited for a core
};

// Null where the summaries do not know the CPU time of the rank, or `own_excess` is not positive.
// `since`: its first slow iteration.
std::optional<SummaryShares> SharesOf(const Case& c, RankId rank, double own_excess,
                                      Iteration since);

// `typical` with its unsplit part split.
Excess PartsOf(const Excess& typical, const std::optional<SummaryShares>& shares);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_EVIDENCE_PARTS_H_
