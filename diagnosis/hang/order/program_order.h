// Who left its own rhythm? Of ranks that wait for one another in a ring, the one that entered an op
// which never before followed the ops it had entered just before.
//
// Used by rules hang (rows) and stopped_job (records). docs/rules/mismatch.md.
//
//   rank 1 before:  T T D D W  T T D D W      in a tensor group, D data group, W all ranks
//   rank 1 now:     T T                       a beginning of what it always does
//   rank 2 now:     T D D W                   after "W T" there always came T: it left one out
//
// Model: an op is known by group, kind, bytes and peer. For each of the last ops of a rank those
// places in its history are taken that agree with it on the longest stretch before that two places
// share (up to kContext ops); if none of them went on with this op, the rank deviates there.
// A rank whose last ops were all seen to follow keeps its order. Only if exactly one of the ring
// deviates and all others keep their order is it named.
//
// Thread-safety: pure functions. Cost: O(tail × history × kContext) a rank.
// Source: n-gram anomaly detection on call sequences (Forrest et al., 1996, on system calls), with
// the longest matching context in place of a fixed length.
#ifndef FATHOM_DIAGNOSIS_HANG_ORDER_PROGRAM_ORDER_H_
#define FATHOM_DIAGNOSIS_HANG_ORDER_PROGRAM_ORDER_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proto/types/collective_kind.h"
#include "proto/types/ids.h"

namespace fathom::diagnosis {

struct OpStep {
  GroupId group;
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::uint64_t bytes = 0;
  RankId peer = kNoRank;
  friend auto operator<=>(const OpStep&, const OpStep&) = default;
};

struct OrderBreak {
  RankId rank;
  OpStep did;
  OpStep usual;           // what followed each time before
  std::size_t times = 0;  // how often it did
};

inline constexpr std::size_t kContext = 32;  // ops
inline constexpr std::size_t kTail = 48;     // last ops of a rank that are looked at

// The one of `ring` that broke its order. `steps`: ops of each rank in order of entry, oldest
// first.
[[nodiscard]] std::optional<OrderBreak> FindOrderBreak(
    const std::map<RankId, std::vector<OpStep>>& steps, const std::vector<RankId>& ring);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_ORDER_PROGRAM_ORDER_H_
