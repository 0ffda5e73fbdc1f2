// Connections between ranks that move nothing, and ranks that do not read what has arrived.
//
// Used by rule stopped_job (recordings) and rule hang (live); hang/place/meeting_place.h says what
// such paths have in common.
//
// Model: a path is troubled when its sender's retransmission timer has doubled at least
// config.path_backoff times over bytes that are not confirmed, or when a transfer of NCCL's is lost
// on it (stuck_transfers.h). Where the other end has bytes that its process does not read, the path
// works and that process is deaf.
//
// Thread-safety: pure functions. Cost: O(paths log paths), and that of the transfers.
#ifndef FATHOM_DIAGNOSIS_HANG_PLACE_TROUBLED_PATHS_H_
#define FATHOM_DIAGNOSIS_HANG_PLACE_TROUBLED_PATHS_H_

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "diagnosis/hang/place/stuck_transfers.h"
#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

using Path = std::pair<RankId, RankId>;  // the lower rank first

struct TroubledPaths {
  std::set<Path> paths;
  std::map<Path, StuckTransfer> transfers;  // of the paths on which one is lost
  std::set<RankId> deaf;                    // do not read what has arrived on such a path

  // Those between `ranks`. Requires: sorted.
  TroubledPaths Among(const std::vector<RankId>& ranks) const;
};

// Of the sockets and transfers of all ranks as they are now.
TroubledPaths FindTroubledPaths(const JobView& view, const DiagnosisConfig& config);
// As they were when the records were written.
TroubledPaths FindRecordedTrouble(const JobView& view, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_PLACE_TROUBLED_PATHS_H_
