// Who does not come where all other ranks make a communicator? Part of rule hang.
// docs/rules/hang.md.
//
// Model: the tracer's Python part marks init_process_group and new_group while they last; all ranks
// of the job must call them. Where no rank is inside of an op and some are inside of such a call,
// those that are not are waited for. Only what is known of all ranks tells: one that was never seen
// may be the one that the silent ones wait for, too. Several that have not come may wait for one
// another (one loads data, the others for its lock), so that a single one alone is judged.
//
// Thread-safety: pure functions. Cost: O(ranks × open ops).
#ifndef FATHOM_DIAGNOSIS_HANG_LIVE_RENDEZVOUS_H_
#define FATHOM_DIAGNOSIS_HANG_LIVE_RENDEZVOUS_H_

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/evidence/rule.h"
#include "diagnosis/hang/place/stuck_job.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

struct Rendezvous {
  std::string call;  // "init_process_group"
  std::vector<RankId> inside;
  std::vector<RankId> absent;  // seen, and not inside
  std::vector<RankId> unseen;  // nothing is known of them
  Nanos together;              // for so long all of `inside` have been there
};

// Nothing where no rank is in such a call, a rank is inside of an op, has died or is out of reach,
// or one that is not inside goes on.
[[nodiscard]] std::optional<Rendezvous> FindRendezvous(const StuckJob& job);

// A verdict on the one that is absent, or why there is none.
void JudgeRendezvous(const StuckJob& job, const Rendezvous& found, Findings& out);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_LIVE_RENDEZVOUS_H_
