// Whose device (or thread that carries out ops) has not begun an op that the others have? Part of
// rule hang. docs/rules/hang.md.
//
// Model: all members have entered an op, and most have begun it, two at least (of one against one
// either may tell wrongly): their kernel runs and waits. A member that has not begun it, though
// nothing that it entered before in communication is still open, is held up by what its device does
// besides: a kernel that is long or never ends, a copy, an event that never comes. A member with
// anything older open waits for that; following such ops leads to who does not begin. Exactly one
// in the whole job is told; and only one whose beginnings are told at all, as the counts of its
// communicators show.
//
// Thread-safety: pure functions. Cost: O(instances × members × open ops).
#ifndef FATHOM_DIAGNOSIS_HANG_LIVE_LAGGING_H_
#define FATHOM_DIAGNOSIS_HANG_LIVE_LAGGING_H_

#include <optional>
#include <vector>

#include "diagnosis/graph/wait_for.h"
#include "diagnosis/hang/place/stuck_job.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

struct Lagging {
  RankId rank;
  const StuckInstance* stuck = nullptr;  // lifetime: of the graph
  std::vector<RankId> begun;             // members whose part of it runs
};

[[nodiscard]] std::optional<Lagging> FindLagging(const StuckJob& job);

// At most supported: a long computation looks the same.
Verdict ConvictLagging(const StuckJob& job, const Lagging& lagging);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_LIVE_LAGGING_H_
