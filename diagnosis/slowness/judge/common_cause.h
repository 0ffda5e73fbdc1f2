// What several ranks that became slow at once have in common, so that none of them is convicted.
//
// Used by slowness/judge/judge. Model: devices fail one by one. Slow ranks on more nodes than
// most_culprit_nodes, or several on each of two, have a common cause. So have slow ranks that work
// together and take longer alike (AccountLimits::alike_ratio): communicators, smaller than the job,
// of which more than half are slow tie them into one block. A replica with longer sequences, a busy
// expert, a stage with more work look like that, and no device does.
//
// Thread-safety: pure. Cost: O(ranks + members of all groups × slow ranks).
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_COMMON_CAUSE_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_COMMON_CAUSE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "diagnosis/evidence/ledger.h"
#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

using Accounts = std::vector<const RankAccount*>;

bool Contains(const Accounts& accounts, RankId rank);
std::vector<RankId> RanksOf(const Accounts& accounts);

// How many nodes the accounts are on; a rank whose node is not known counts for none.
std::size_t NodesOf(const JobView& view, const Accounts& accounts);

// The node of all of them, if all ranks of that node are among them and there are other nodes.
std::string NodeOfAll(const JobView& view, const Ledger& ledger, const Accounts& accounts);

// True where so many nodes do not fail at once.
bool OnManyNodes(const Case& c, const Accounts& accounts);

// True where communicators tie all of them together and they take longer alike; never of one rank.
bool WorkTogether(const Case& c, const Accounts& accounts);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_COMMON_CAUSE_H_
