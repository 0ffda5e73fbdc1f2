// What a slow job costs, and how sure a series of observations makes us.
//
// Used by slowness/judge/judge, ranking and the rules that give verdicts. Thread-safety: pure
// functions. Units: seconds, hours of one rank's device.
#ifndef FATHOM_DIAGNOSIS_EVIDENCE_COST_H_
#define FATHOM_DIAGNOSIS_EVIDENCE_COST_H_

#include <cstddef>

#include "diagnosis/evidence/ledger.h"
#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/watch/watch.h"

namespace fathom::diagnosis {

// Of all ranks and iterations of the window, in seconds: what the cost of a lead is held against.
double MedianDuration(const JobView& view);

// Cost since the onset of the present episode; `share` of it is this culprit's (0 … 1).
// Iterations that are not remembered one by one count with the present loss per iteration.
Cost CostOfSlowness(const JobView& view, const Suspicion& suspicion, double share);

// Ranks × the time the job has stood still.
Cost CostOfHang(const JobView& view, Nanos stuck_for);

// Of `steps` steps that took `step_s` each, in the mean, and would have taken `repaired_s`.
// Requires: repaired_s > 0.
Cost CostOfSteps(const JobView& view, std::size_t steps, double step_s, double repaired_s);

// Of a whole window in which each iteration lost `lost` seconds. Where that is all of it, how much
// faster it would be is not told: a slowdown of 1.
Cost CostOfWindow(const JobView& view, double lost);

// Iterations that an established verdict rests on, at least: twice the fewest that a supported one
// does in a recording, where the odds alone would be content with those.
inline constexpr std::size_t kEstablishedIterations = 2 * kFewestForMedian;

// Odds of "this entity is the cause" against "nobody in particular is" after `shows` of
// `iterations` observations. A true cause shows in `guilty` (config.guilty_share) of irregular
// iterations, another entity in `chance` of them. Requires: both between 0 and 1.
double PosteriorOdds(double prior, std::size_t shows, std::size_t iterations, double chance,
                     double guilty);

// How often this rank shows in an iteration without being at fault: as often as it did before, but
// at least chance_share, and no more than consistent_share, so that showing always tells something
// of everybody: it lies below guilty_share.
double ChanceToShow(const Ledger& ledger, const RankAccount& account,
                    const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_EVIDENCE_COST_H_
