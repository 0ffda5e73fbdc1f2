// Single long iterations between regular ones, remembered for longer than the window lasts: is it
// always the same rank that makes them? Part of Watch(); slowness/rules/rare_spikes says it.
//
// Model: an iteration that takes peer_contrast times as long as usual, while the job is not slow,
// is a spike. It is the doing of the rank whose own time (without communication and waits for a
// core), in it and behind the last op of the one before, exceeds what it has in regular iterations,
// by mostly_share of what the iteration lost and peer_contrast times the excess of the next; else
// nobody's. They are rare, one in hundreds of iterations, so that few are in the window at once:
// the largest kMostSpikes of the last 10,000 iterations are kept.
//
// Of the rank by which most is lost those count that lose half of what its middle one does, and of
// all others likewise. It makes them if it has min_irregular of them, and more than chance gives to
// one of all ranks were each as likely: AccountLimits::chance_live, or chance_live_far where nobody
// else has any. It must cost least_cost of the time since its first, and not be over: as long
// without one as three times its longest gap. Whose spikes come every so many iterations, give or
// take one, has them by its own program (a checkpoint, an evaluation): of these nothing is said.
//
// Units: seconds, iterations. Thread-safety: pure functions. Errors: none.
// Cost: O(ranks log ranks) for each new spike; 88 bytes a spike.
#ifndef FATHOM_DIAGNOSIS_WATCH_SPIKES_H_
#define FATHOM_DIAGNOSIS_WATCH_SPIKES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/watch/series.h"

namespace fathom::diagnosis {

inline constexpr std::size_t kMostSpikes = 64;

// What was remembered and what the window has that is new. Of a job in trouble, slow or stalled,
// nothing is: its iterations are long for another reason.
SpikeMemory RememberSpikes(const JobView& view, const JobSeries& series, bool in_trouble,
                           const DiagnosisConfig& config);

struct SpikeCulprit {
  RankId rank;
  std::vector<const Spike*> own;  // in the memory that was asked, by index; some
  std::size_t all = 0;            // of their kind: anybody's and nobody's
  std::int64_t iterations = 0;    // since its first
  double lost_s = 0;              // in its own
  double share = 0;               // of the time since its first
  double chance = 0;              // that one of the ranks has so many
};

// `usual_s`: what an iteration takes; null where that is 0. It refers to `memory`.
std::optional<SpikeCulprit> WhoseSpikes(const JobView& view, const SpikeMemory& memory,
                                        double usual_s, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WATCH_SPIKES_H_
