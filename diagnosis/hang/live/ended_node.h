// Was one node of several taken away, and the others left waiting? Part of rule hang.
// docs/rules/hang.md.
//
//   n0: ranks 0, 1 wait in all_reduce 41          n1: ranks 2, 3 ended by SIGTERM
//
// Model: whoever ends a job ends all of it. Where every death was ordered from outside (SIGTERM,
// SIGINT), all ranks of exactly one node died, all others live, and some of them have waited in
// communication since, for longer than config.stall_floor, the job goes on for the others: the node
// was drained, or its part of the job was ended alone. Who ordered it is not seen.
//
// Thread-safety: pure functions. Cost: O(ranks).
#ifndef FATHOM_DIAGNOSIS_HANG_LIVE_ENDED_NODE_H_
#define FATHOM_DIAGNOSIS_HANG_LIVE_ENDED_NODE_H_

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/hang/place/stuck_job.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

struct EndedNode {
  std::string node;
  std::vector<RankId> ranks;  // all of it
};

[[nodiscard]] std::optional<EndedNode> FindEndedNode(const StuckJob& job);

Verdict ConvictEndedNode(const StuckJob& job, const EndedNode& ended);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_LIVE_ENDED_NODE_H_
