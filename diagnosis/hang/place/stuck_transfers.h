// Where the transfers of ops that do not end stand still: over which link what was sent does not
// arrive.
//
// Used by hang/place/troubled_paths, live. A transfer is what one rank sends to another one in an
// op, on one channel of NCCL's, and is told from both ends (model/job_view.h).
//
//   rank 0 ──► rank 1 ──x── rank 2 ──► rank 3 ──► rank 0      a ring whose link 1–2 is down
//   taken 2    taken 4      taken 2    taken 2
//   arrived 2  arrived 2    arrived 2  arrived 2
//
// Model: a ring, or a tree, stops everywhere when one link stops, each rank some steps apart, so
// who is furthest behind tells nothing. But only over the link that is at fault more was taken by
// the network than has arrived, while the receiver has room for it: everywhere else what was sent
// has arrived, and the sender waits for its GPU, or the receiver's GPU for the next step. That is
// asked of each edge by both of its ends; all counts have stood still for config.transfer_still.
// An edge is not judged where
//   - an end is not told, is told twice, is old, or the ends do not agree on the number of steps;
//   - the receiver waits for another transfer in the group of which that is so: NCCL may join the
//     receives of several ranks behind one network card, and none of them arrives before all do;
//   - any transfer of the op still moves: it is slow, not stuck.
//
// Thread-safety: pure functions. Cost: O(transfers log transfers).
#ifndef FATHOM_DIAGNOSIS_HANG_PLACE_STUCK_TRANSFERS_H_
#define FATHOM_DIAGNOSIS_HANG_PLACE_STUCK_TRANSFERS_H_

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct StuckTransfer {
  RankId sender, receiver;
  std::uint32_t channel = 0;
  std::uint32_t taken = 0;    // steps, by the network at the sender
  std::uint32_t arrived = 0;  // at the receiver
  std::uint32_t steps = 0;
  Nanos still_for;
};

// Ops of which some transfer has moved lately.
using MovingOps = std::set<std::pair<GroupId, Sequence>>;

MovingOps FindMovingOps(const JobView& view, const DiagnosisConfig& config);

// In order of group, sequence, sender, receiver and channel.
std::vector<StuckTransfer> FindStuckTransfers(const JobView& view, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_PLACE_STUCK_TRANSFERS_H_
