#include "diagnosis/evidence/own_onset.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "diagnosis/model/lookup.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/stats/step.h"
#include "diagnosis/watch/shift.h"

namespace fathom::diagnosis {
namespace {

struct OwnTime {
  const IterationSummary* iteration;
  double seconds;
};

std::vector<OwnTime> OwnTimesSince(const JobView& view, Iteration onset, RankId rank) {
  std::vector<OwnTime> out;
  for (const IterationSummary& it : view.window) {
    if (it.index < onset) continue;
    const RankIteration* own = RankIn(it, rank);
    if (own != nullptr) out.push_back({&it, (own->duration - own->blocked).Seconds()});
  }
  return out;
}

// 0: it has been so all the while, or there is no one place where it began.
std::size_t PlaceOfRise(const std::vector<double>& own, double rise,
                        const DiagnosisConfig& config) {
  const auto calm = static_cast<std::size_t>(std::max(1, config.baseline_iterations));
  const auto least = static_cast<std::size_t>(std::max(1, config.min_irregular));
  if (own.size() < calm + least) return 0;
  const std::size_t at = BestSplit(own, calm, own.size() - least + 1, StepLimitsOf(config)).at;
  const auto split = own.begin() + static_cast<std::ptrdiff_t>(at);
  const std::vector<double> before(own.begin(), split), after(split, own.end());
  const double limit = Median(after) - rise / 2;
  const bool apart = Apart(before, limit, false, config.consistent_share) &&
                     Apart(after, limit, true, config.consistent_share);
  return apart ? at : 0;
}

}  // namespace

std::optional<OwnOnset> FindOwnOnset(const Case& c, RankId rank, double excess) {
  const auto times = OwnTimesSince(c.view, c.suspicion.onset, rank);
  std::vector<double> own;
  for (const OwnTime& time : times) own.push_back(time.seconds);
  const std::size_t at = PlaceOfRise(own, excess, c.config);
  if (at == 0) return std::nullopt;
  const IterationSummary& first = *times[at].iteration;
  return OwnOnset{first.index, first.begin, static_cast<std::int64_t>(times.size() - at)};
}

Suspicion Since(const OwnOnset& onset, const Suspicion& suspicion) {
  Suspicion out = suspicion;
  out.onset = onset.iteration;
  out.onset_time = onset.time;
  out.seen_since_onset = onset.seen_since;
  return out;
}

}  // namespace fathom::diagnosis
