// What the ranks of a ring say of its transfers when one of its links passes nothing on.
//
// Used by the tests of stuck transfers. Thread-safety: thread-compatible. Errors: none.
#ifndef FATHOM_TESTS_DIAGNOSIS_HANG_LIVE_TRANSFER_RING_H_
#define FATHOM_TESTS_DIAGNOSIS_HANG_LIVE_TRANSFER_RING_H_

#include <cstdint>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

inline constexpr std::uint32_t kRingSteps = 12;

inline Transfer To(std::uint32_t peer, std::uint32_t posted, std::uint32_t moved,
                   std::uint32_t done) {
  Transfer t;
  t.group = GroupId(1);
  t.sequence = Sequence(5);
  t.peer = RankId(peer);
  t.sends = true;
  t.steps = kRingSteps;
  t.posted = posted;
  t.gpu = t.moved = moved;
  t.done = done;
  t.still_for = Nanos::FromSeconds(5);
  return t;
}

inline Transfer From(std::uint32_t peer, std::uint32_t posted, std::uint32_t moved,
                     std::uint32_t done) {
  Transfer t = To(peer, posted, moved, done);
  t.sends = false;
  t.gpu = done;
  return t;
}

// Over the link from `stuck` − 1 to `stuck` no more than 3 steps arrive. The ranks behind it starve
// one step later each, those before it fill what buffers they have.
inline void StickRing(JobView& view, std::uint32_t stuck) {
  const auto ranks = static_cast<std::uint32_t>(view.ranks.size());
  for (std::uint32_t hop = 0; hop < ranks; ++hop) {
    const std::uint32_t to = (stuck + hop) % ranks, from = (to + ranks - 1) % ranks;
    const std::uint32_t arrived = 3 + hop;
    const std::uint32_t taken = hop == 0 ? arrived + 4 : arrived;
    view.ranks[from].transfers.push_back(To(to, arrived + 4, taken, arrived));
    view.ranks[to].transfers.push_back(From(from, arrived + 4, arrived, arrived));
  }
}

}  // namespace fathom::diagnosis

#endif  // FATHOM_TESTS_DIAGNOSIS_HANG_LIVE_TRANSFER_RING_H_
