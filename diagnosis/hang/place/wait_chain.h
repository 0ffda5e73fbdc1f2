// The chain behind a culprit of a job that stands still: who waits for it, who waits for those, and
// in which ops. Shown as a picture with the verdict.
//
// Used by rules hang and stopped_job, each with the stuck ops of its own graph.
//
//   rank 9 <- ranks 8, 10, 11 in all_reduce 41 of TENSOR <- ranks 0-7, 12-15 in barrier 3 of WORLD
//
// Model: hop 1 are the ranks inside an op that a culprit holds up, hop n + 1 those inside an op
// that a rank of hop n holds up. Ops of one hop, one kind and groups of one description are one
// step, so that 64 tensor groups are one box and not 64. A rank stands in its nearest hop. A rank
// that waits in several ops of a hop (what it launched ahead) needs one step: those that name no
// further rank are left out, the widest are kept.
//
// Thread-safety: pure functions. Cost: O(hops × waits × members).
#ifndef FATHOM_DIAGNOSIS_HANG_PLACE_WAIT_CHAIN_H_
#define FATHOM_DIAGNOSIS_HANG_PLACE_WAIT_CHAIN_H_

#include <vector>

#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// One stuck op: `inside` wait in it for `held_by`.
struct Wait {
  GroupId group;
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::int64_t number = kNoWaitNumber;  // as the source counts
  Nanos waited;                         // 0: not known
  std::vector<RankId> inside;
  std::vector<RankId> held_by;
};

// Nearest first, of one hop the largest first; empty where nobody waits for `culprits`.
std::vector<WaitStep> ChainBehind(const JobView& view, const std::vector<RankId>& culprits,
                                  const std::vector<Wait>& waits);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_PLACE_WAIT_CHAIN_H_
