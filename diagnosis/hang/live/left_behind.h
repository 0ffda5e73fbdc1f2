// Who is behind the others, where nobody tells when ops end? Part of rule hang. docs/rules/hang.md.
//
// Model: NCCL without its profiler plugin tells entries alone, so no op is ever seen open and
// nobody is seen to wait. When all ranks are stalled, none inside of an op, the counts of entries
// stand still, and a member that has entered fewer ops of a communicator than another is one that
// the other waits for, on its GPU. The end of such waits is the lead, if it is a single rank.
//
// Thread-safety: pure functions. Cost: O(ranks × groups).
#ifndef FATHOM_DIAGNOSIS_HANG_LIVE_LEFT_BEHIND_H_
#define FATHOM_DIAGNOSIS_HANG_LIVE_LEFT_BEHIND_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "diagnosis/hang/place/stuck_job.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

struct LeftBehind {
  RankId rank;
  GroupId group;  // in which most are ahead of it
  std::uint64_t entered = 0;
  std::uint64_t most = 0;     // entered by another member
  std::vector<RankId> ahead;  // in any group
};

// Nothing where a rank is active, is inside of an op, is out of reach, or tells no counts.
[[nodiscard]] std::optional<LeftBehind> FindLeftBehind(const StuckJob& job);

// A lead: a rank may also have been kept from calling more by what the GPUs wait for.
Verdict LeadOnLeftBehind(const StuckJob& job, const LeftBehind& behind);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_LIVE_LEFT_BEHIND_H_
