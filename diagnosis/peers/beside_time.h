// What ranks were blocked on communication where it runs beside their computing.
//
// Called where the ranks of an iteration come together, before anything else looks at it:
// collector/job, collector/runs, collector/import/fathom.
//
// Model: live a device tells when it began and ended communication, and nothing of its kernels. Of
// an op that its computing may have hidden an agent tells a bound: `blocked` at most, `unsure` of
// it less at least (docs/formats/summary.md). The rank of a role that computes longest keeps the
// pauses between its ops, so that of it all is known. Another one is ahead of it, its ops lie end
// to end, and how far it has come is not known. Two things tell all the same:
//
//   the longest     |outside    |===1===|   |===2===|   |===3===|outside|
//   another      |outside |======1=======|==2==|==3==|      ·      |outside |
//                          lead + op 1
//
// - Outside of such rows of ops it computes in full sight. What it needs of the longest rank's time
//   there it needs inside, too, but for what the longest rank's host took: a pause comes once.
// - The first op from which on nothing is known lasts longer than any of the longest rank's by at
//   least what the rank is ahead.
// It is taken to be ahead by the larger of the two, as far as the bound allows. A rank that tells
// nothing of it among others that do (an older agent) is taken to compute as the median of them;
// where it computes longer for certain than any of them is known to, they are taken to compute as
// long, as far as their bounds allow.
//
// Units: Nanos. Thread-safety: pure. Errors: none; alone in its role a rank keeps its bound.
// Cost: O(ranks × communicators) where any rank tells of such ops, else O(ranks).
#ifndef FATHOM_DIAGNOSIS_PEERS_BESIDE_TIME_H_
#define FATHOM_DIAGNOSIS_PEERS_BESIDE_TIME_H_

#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

// `groups`: of the job, by id. Afterwards `blocked` is settled and `unsure` is 0.
void SettleBlocked(const std::vector<Group>& groups, IterationSummary& iteration);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_PEERS_BESIDE_TIME_H_
