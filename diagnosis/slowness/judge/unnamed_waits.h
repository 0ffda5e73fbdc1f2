// Waits in messages of which the source does not name the other end, as in traces without shapes.
//
// Used by slowness/judge/judge: such waits are laid to nobody. But where one rank takes longer by
// itself and is the only one that does not wait longer than before, the others wait for it,
// directly or in turn.
//
// Model: only time in which the caller is known to have been blocked on such a message counts, and
// it must be most of what all waits of a rank grew by. Who is last to a collective is known: a rank
// that merely has no slack left there, while the network became slower, is waited for by nobody.
//
// Units: seconds; times of the rank's own monotonic clock. Thread-safety: pure.
// Cost: O(ops) for HasUnnamedMessages, O(ops log ops + ranks × iterations) for the other.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_UNNAMED_WAITS_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_UNNAMED_WAITS_H_

#include "diagnosis/evidence/ledger.h"
#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

bool HasUnnamedMessages(const JobView& view);

// By how much the time blocked in such messages of every other rank has grown, at least, if the
// waits of `rank` have not; 0 where they have, or where some other rank's have not, or not mostly
// in such messages, or are not known.
double OthersWaitLonger(const Case& c, const Ledger& ledger, RankId rank);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_UNNAMED_WAITS_H_
