// Waits in messages of which the source does not name the other end, as in traces without shapes.
//
// Used by evidence/judge: such waits are laid to nobody. But where one rank takes longer by itself
// and is the only one that does not wait longer than before, the others wait for it, directly or in
// turn.
//
// Units: seconds. Thread-safety: pure. Cost: O(ops) for HasUnnamedMessages, O(ranks × iterations)
// for the other.
#ifndef FATHOM_DIAGNOSIS_EVIDENCE_UNNAMED_WAITS_H_
#define FATHOM_DIAGNOSIS_EVIDENCE_UNNAMED_WAITS_H_

#include "diagnosis/evidence/ledger.h"
#include "diagnosis/rules/rule.h"

namespace fathom::diagnosis {

bool HasUnnamedMessages(const JobView& view);

// By how much the time blocked in communication of every other rank has grown, at least, if that
// of `rank` has not; 0 where it has, or where some other rank's has not.
double OthersWaitLonger(const Case& c, const Ledger& ledger, RankId rank);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_EVIDENCE_UNNAMED_WAITS_H_
