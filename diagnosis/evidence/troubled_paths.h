// Connections between ranks that move nothing, and the rank at which they meet.
//
// Used by rule stopped_job (recordings) and rule hang (live) for an op that all members have entered
// and none has finished.
//
// Model: a path is troubled when its sender's retransmission timer has doubled at least
// kTroubledBackoff times over bytes that are not confirmed. Where the other end has bytes that its
// process does not read, the path works and that process is deaf. Paths that all have one end in
// common blame it; of a single path the two ends cannot be told apart.
//
// Thread-safety: pure functions. Cost: O(paths log paths).
#ifndef FATHOM_DIAGNOSIS_EVIDENCE_TROUBLED_PATHS_H_
#define FATHOM_DIAGNOSIS_EVIDENCE_TROUBLED_PATHS_H_

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "diagnosis/model/rank_record.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

inline constexpr std::uint32_t kTroubledBackoff = 2;  // doublings; one alone is an ordinary loss

using Path = std::pair<RankId, RankId>;  // the lower rank first

bool IsTroubled(const PathState& path);

struct TroubledPaths {
  std::set<Path> paths;
  std::set<RankId> deaf;  // do not read what has arrived on such a path
};

// Of the sockets of `ranks` as they are now.
TroubledPaths FindTroubledPaths(const JobView& view, const std::vector<RankId>& ranks);

// Ranks that are an end of every path.
std::vector<RankId> CommonEnds(const std::set<Path>& paths);

// The verdict's entity: the link between two ends, or the one rank. Victims are all others.
// Requires: one or two ends.
void NameEnds(const std::vector<RankId>& ends, Verdict& verdict);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_EVIDENCE_TROUBLED_PATHS_H_
