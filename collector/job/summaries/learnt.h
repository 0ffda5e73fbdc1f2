// What was learnt of a job's iteration times: those judged lately, and the slow episode they are
// in.
//
// Kept by store/learnt_keeper while the job runs, handed back to JobState by a collector that has
// just started: what it would learn anew of a job that is slow is that slow is usual.
//
// Model: of the same life of the job if one of its processes lives, known by node, boot, start and
// pid. The first rank that reports gives iterations their numbers; `numbering` says which, so that
// who goes on gives the same. Where that is not known (an earlier fathom kept it, or iterations
// came before it), they are found again by when they began, or by how many must have passed since,
// as exactly as times tell (kPassedShare). Clocks are set back and forward: where the numbers go on
// behind the last one they are believed, whatever times say. What would be before the first
// iteration is left out.
//
// Units: wall clock of nodes for iterations, of the collector for `kept`. Thread-safety: plain
// value; pure functions. Errors: nothing where it does not fit.
#ifndef FATHOM_COLLECTOR_JOB_SUMMARIES_LEARNT_H_
#define FATHOM_COLLECTOR_JOB_SUMMARIES_LEARNT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/job/summaries/iteration_aligner.h"
#include "diagnosis/model/job_view.h"

namespace fathom::collector {

struct Learnt {
  WallNs kept;
  std::vector<std::uint64_t> life;  // marks of processes that took part (RankProcess), one a node
  diagnosis::Episode episode;
  std::vector<diagnosis::PastIteration> past;
  std::vector<KnownAnchors> numbering;
};

// With the numbers that `window` gives. Nothing: nothing was learnt. Requires: window is not empty;
// both are ascending.
std::optional<Learnt> Renumbered(const Learnt& learnt,
                                 const std::vector<diagnosis::IterationSummary>& window);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_SUMMARIES_LEARNT_H_
