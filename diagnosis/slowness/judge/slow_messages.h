// Which members of a slow communicator are slow in their messages to other ranks as well: the
// communicator is slow as a whole, the messages tell whose port it is.
//
// Used by slowness/judge/judge_groups. Model: of the messages that a rank sends in an iteration the
// shortest waited least, so it is near the pure transfer. A member whose shortest takes link_factor
// × its usual (medians of irregular and baseline iterations), and longer by the wait floor, shows;
// all others must stay below link_contrast ×. Its neighbour in the pipeline may show too but is no
// member. Nothing is told where a member sends no messages, lies in between, or more than half of
// the members show.
//
// Units: ratios. Thread-safety: pure. Cost: O(ranks × groups × iterations).
// Source: row and column of C4's matrix (methods 9), by summaries.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_SLOW_MESSAGES_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_SLOW_MESSAGES_H_

#include <vector>

#include "diagnosis/evidence/rule.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct SlowMessages {
  std::vector<RankId> ranks;  // sorted; empty where it cannot be told
  double growth = 0;          // the least of theirs
  double others = 0;          // the most of any other member's
};

SlowMessages FindSlowMessages(const Case& c, const std::vector<RankId>& members);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_SLOW_MESSAGES_H_
