#include "collector/window/iteration_aligner.h"

#include <algorithm>
#include <cmath>

namespace fathom::collector {

std::int64_t IterationAligner::Near(const Known& known, std::uint64_t sequence, std::int64_t step) {
  auto at = known.lower_bound(sequence);
  if (at != known.end() && at->first == sequence) return at->second;
  if (at == known.end() || at != known.begin()) --at;
  const double distance = sequence >= at->first ? static_cast<double>(sequence - at->first)
                                                : -static_cast<double>(at->first - sequence);
  const double steps = distance / static_cast<double>(std::max<std::int64_t>(step, 1));
  if (std::abs(steps) > 1e12) return -1;
  // A distance below half a step is the same iteration, cut at another op by that rank.
  return std::max<std::int64_t>(at->second + std::llround(steps), -1);
}

void IterationAligner::Learn(Known& known, std::uint64_t sequence, std::int64_t number) {
  known.emplace(sequence, number);
  if (known.size() > kKnownPerGroup) known.erase(known.begin());
}

std::vector<std::int64_t> IterationAligner::Place(std::uint64_t group, std::uint64_t first_sequence,
                                                  std::int64_t own_first,
                                                  std::span<const std::int64_t> steps) {
  std::vector<std::int64_t> placed(steps.size(), -1);
  if (!groups_.contains(group) && groups_.size() >= kGroups) groups_.erase(groups_.begin());
  Known& known = groups_[group];
  if (known.empty() && groups_.size() > 1) unanchored_ += steps.size();
  const bool first_of_all = known.empty();
  std::uint64_t sequence = first_sequence;
  std::int64_t last = -1;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto at = known.find(sequence);
    std::int64_t number = at != known.end() ? at->second : last + 1;
    if (at == known.end() && last < 0) {
      number =
          first_of_all ? own_first + static_cast<std::int64_t>(i) : Near(known, sequence, steps[i]);
    }
    // Two iterations of one rank are never the same one of the job.
    if (last >= 0) number = std::max(number, last + 1);
    if (number >= 0) {
      placed[i] = last = number;
      Learn(known, sequence, number);
    }
    sequence += static_cast<std::uint64_t>(std::max<std::int64_t>(steps[i], 1));
  }
  // Where the next batch of this rank begins, if the step to it is known.
  if (last >= 0 && steps.back() > 0) Learn(known, sequence, last + 1);
  return placed;
}

}  // namespace fathom::collector
