// Whose ops a store of ops was given when, so that collectors beside it know what it has while it
// does not answer.
//
// Owned by OpStore, which hears of each block; told to the history by serve/kept_ops_teller.
//
// Model: a stretch of a job is a time in which the same ranks told their ops. Whoever tells within
// kTogether of its begin belongs to it from then on; a rank that comes later, or one that has told
// nothing for kSilent while others have, ends it, as do kLongest, and the next one begins. So a
// stretch may say of a rank up to kTogether before its first op, and up to kSilent after its last.
//
// Units: wall ns of this machine. Thread-safety: thread-compatible. Errors: none. Cost: O(log
// ranks) for a rank of a block; some 50 bytes a rank.
#ifndef FATHOM_COLLECTOR_OPS_KEPT_STRETCHES_H_
#define FATHOM_COLLECTOR_OPS_KEPT_STRETCHES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proto/types/time_units.h"

namespace fathom::collector {

struct KeptStretch {
  std::string job;
  WallNs from, to;
  std::string ranks;  // "0-3,7"
};

class KeptStretches {
 public:
  static constexpr Nanos kTogether{10'000'000'000};
  static constexpr Nanos kSilent{60'000'000'000};
  static constexpr Nanos kLongest = Nanos::FromSeconds(3600);

  void Heard(std::string_view job, const std::vector<std::uint32_t>& ranks, WallNs now);
  // Those that were begun or went on since the last call; a stretch is known by job and begin.
  std::vector<KeptStretch> TakeChanged();

 private:
  struct Going {
    WallNs from, to;
    std::map<std::uint32_t, WallNs> heard;  // rank, when last
    bool changed = false;
  };

  void Begin(std::string_view job, Going& going, WallNs now);

  std::map<std::string, Going, std::less<>> jobs_;
  std::vector<KeptStretch> ended_;  // not taken yet
};

// "0-3,7" of ranks in their order.
std::string RankRanges(const std::map<std::uint32_t, WallNs>& ranks);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_OPS_KEPT_STRETCHES_H_
