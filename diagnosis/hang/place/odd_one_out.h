// Who called something else than the others? Two looks at the records of a job that stopped.
//
// Used by hang/records/stopped_job.cc.
//
// FindMismatch: at one position of one group, members called ops of different kind, element type or
// size. Sizes are compared only where the call demands equal ones of all members (EnteredOp::even).
// The odd ones are those in the minority; without a majority both sides are.
//
// FindSkipped: ranks in a ring of waits did the same work as their peers, but one is behind in one
// group and ahead in another: it left out an op, or changed the order. Ranks of one program make a
// chain: of two, one is behind the other in all groups or in none. The smallest set of ranks
// without which the rest is a chain are the odd ones. Groups are matched across ranks by
// description and size; ranks whose counts differ by more than a few ops do other work and are not
// compared.
//
// Thread-safety: pure functions. Errors: nothing found. Cost: O(ops) and O(ranks² × groups).
#ifndef FATHOM_DIAGNOSIS_HANG_PLACE_ODD_ONE_OUT_H_
#define FATHOM_DIAGNOSIS_HANG_PLACE_ODD_ONE_OUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis::records {

struct Mismatch {
  GroupId group;
  Sequence sequence;
  std::string difference;  // "kind", "type" or "size"
  std::vector<RankId> odd;
  std::vector<RankId> others;
  std::string odd_call;  // "all_gather float32[1]"
  std::string other_call;
  bool majority = true;  // false: both sides stand in `odd`
};

// The first mismatch in a group that has an open op; in any group if `ended`.
[[nodiscard]] std::optional<Mismatch> FindMismatch(const JobView& view, bool ended);

struct Skipped {
  RankId rank;
  std::vector<std::string> behind;  // groups in which it is behind its peers …
  std::vector<std::string> ahead;   // … and those in which it is not
  std::uint32_t contradicts = 0;    // peers whose order it contradicts
};

// The odd ones of `ring`. Empty when the ring has no order that a majority keeps.
std::vector<Skipped> FindSkipped(const JobView& view, const std::vector<RankId>& ring,
                                 std::uint64_t same_work_ops);

}  // namespace fathom::diagnosis::records

#endif  // FATHOM_DIAGNOSIS_HANG_PLACE_ODD_ONE_OUT_H_
