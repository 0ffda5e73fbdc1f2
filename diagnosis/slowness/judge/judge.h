// From gathered evidence to verdicts with grades, or to an abstention.
//
// Used by engine/diagnose on slow jobs. docs/rules/README.md has the table of grades.
//
// Model: a rank that shows in consistent_share of the irregular iterations is a candidate. More
// than half of all ranks as candidates: all are slow alike, which judge_alike looks into, and no
// device is convicted, nor is a candidate whose peers have nearly the same excess. A candidate that
// waited for cores, and of whose excess what is left without that does not show as often, is a
// matter of its node: what else runs there cannot make it guilty, whatever else it did. Established
// needs enough iterations, high odds, most of the excess explained, others waiting for it, and no
// other explanation; what falls short of one is supported.
//
// Thread-safety: pure. Cost: O(ranks × iterations).
// Source: Holmes (NSDI'25) on evidence across iterations; grades are ours.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_H_

#include <vector>

#include "diagnosis/evidence/ledger.h"
#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

// Adds verdicts and abstentions to the findings.
void JudgeSlowness(const Case& c, const Ledger& ledger, Findings& findings);

// True if the excess is waiting for a core, more than the rank's own additional work brings along:
// somebody else takes the cores. Where explains_share of the excess is CPU time, all of it is.
bool WaitsForCores(const Excess& parts, const DiagnosisConfig& config);

// Of the excess, what the rank itself did: all but what it waited for cores beyond what its own
// computing brings along.
double AnswerableFor(const Excess& parts, const DiagnosisConfig& config);

// The cause that the larger part of a rank's excess speaks for.
Cause CauseOf(const Excess& parts, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_JUDGE_H_
