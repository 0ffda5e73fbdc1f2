#include "diagnosis/watch/stall.h"

#include <algorithm>
#include <vector>

namespace fathom::diagnosis {
namespace {

// Whether what is known of the rank is of now. Of a job out of reach the last word stands; death
// stands in any case.
bool IsOfNow(const RankFacts& rank, bool any_in_reach) {
  return rank.agent_reachable || !any_in_reach || IsDead(rank);
}

}  // namespace

Nanos LongestIteration(const JobView& view) {
  Nanos longest;
  for (const IterationSummary& it : view.window) {
    if (it.index.value <= 0 || it.ranks.empty()) continue;
    std::vector<Nanos> durations;
    for (const RankIteration& r : it.ranks) durations.push_back(r.duration);
    std::nth_element(durations.begin(), durations.begin() + durations.size() / 2, durations.end());
    longest = std::max(longest, durations[durations.size() / 2]);
  }
  return longest;
}

Nanos StallThreshold(const RankFacts& rank, Nanos longest, const DiagnosisConfig& config) {
  const bool settled_in =
      rank.typical_iteration.count > 0 && rank.iterations_seen >= config.baseline_iterations;
  if (!settled_in && rank.recent_pause.count == 0) return config.startup_floor;
  const Nanos usual = settled_in ? rank.typical_iteration : rank.recent_pause;
  const Nanos own = Nanos::FromSeconds(config.stall_factor * usual.Seconds());
  const Nanos seen = std::max(longest, rank.longest_pause);
  const Nanos history = Nanos::FromSeconds(config.stall_history_factor * seen.Seconds());
  return std::max({config.stall_floor, own, history});
}

bool IsDead(ProcessState state) {
  return state == ProcessState::kGone || state == ProcessState::kZombie;
}

bool IsDead(const RankFacts& rank) { return IsDead(rank.state); }

bool IsStalled(const RankFacts& rank, Nanos longest, const DiagnosisConfig& config) {
  if (IsDead(rank)) return !rank.exited_orderly;
  return rank.silent_for > StallThreshold(rank, longest, config);
}

bool AnyInReach(const JobView& view) {
  return std::any_of(view.ranks.begin(), view.ranks.end(),
                     [](const RankFacts& rank) { return rank.agent_reachable; });
}

bool AnyStalled(const JobView& view, const DiagnosisConfig& config) {
  // No threshold is below its floor, and the history of a large job takes long to look through.
  const Nanos floor = std::min(config.stall_floor, config.startup_floor);
  const bool silent = std::any_of(view.ranks.begin(), view.ranks.end(), [&](const RankFacts& r) {
    return IsDead(r) || r.silent_for > floor;
  });
  if (!silent) return false;
  const Nanos longest = LongestIteration(view);
  const bool in_reach = AnyInReach(view);
  return std::any_of(view.ranks.begin(), view.ranks.end(), [&](const RankFacts& r) {
    return IsOfNow(r, in_reach) && IsStalled(r, longest, config);
  });
}

}  // namespace fathom::diagnosis
