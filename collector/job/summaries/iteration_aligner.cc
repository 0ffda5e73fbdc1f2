#include "collector/job/summaries/iteration_aligner.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fathom::collector {

// The advance between the two newest known iterations, for a rank that does not tell its own.
std::int64_t IterationAligner::StepOf(const OfGroup& known) {
  if (known.size() < 2) return 1;
  const auto last = std::prev(known.end());
  const auto before = std::prev(last);
  const std::int64_t iterations = last->second - before->second;
  const auto sequences = static_cast<std::int64_t>(last->first - before->first);
  return iterations > 0 ? std::max<std::int64_t>(1, sequences / iterations) : 1;
}

std::int64_t IterationAligner::Near(const OfGroup& known, std::uint64_t sequence,
                                    std::int64_t step) {
  auto at = known.lower_bound(sequence);
  if (at != known.end() && at->first == sequence) return at->second;
  if (at == known.end() || at != known.begin()) --at;
  const double distance = sequence >= at->first ? static_cast<double>(sequence - at->first)
                                                : -static_cast<double>(at->first - sequence);
  const double steps = distance / static_cast<double>(step > 0 ? step : StepOf(known));
  if (std::abs(steps) > 1e12) return -1;
  // A distance below half a step is the same iteration, cut at another op by that rank.
  return std::max<std::int64_t>(at->second + std::llround(steps), -1);
}

void IterationAligner::Learn(OfGroup& known, std::uint64_t sequence, std::int64_t number) {
  known.emplace(sequence, number);
  if (known.size() > kKnownPerGroup) known.erase(known.begin());
}

std::vector<KnownAnchors> IterationAligner::Known() const {
  std::vector<KnownAnchors> all;
  for (const auto& [group, known] : groups_) {
    const std::size_t told = std::min(known.size(), kToldPerGroup);
    const auto from = std::prev(known.end(), static_cast<std::ptrdiff_t>(told));
    if (told > 0) all.push_back({group, {from, known.end()}});
  }
  return all;
}

void IterationAligner::GoOnFrom(const std::vector<KnownAnchors>& known) {
  if (!groups_.empty()) return;
  for (const KnownAnchors& each : known) {
    if (groups_.size() < kGroups) groups_[each.group] = {each.anchors.begin(), each.anchors.end()};
  }
}

std::vector<std::int64_t> IterationAligner::Place(const Batch& batch) {
  std::vector<std::int64_t> placed(batch.steps.size(), -1);
  if (!groups_.contains(batch.group) && groups_.size() >= kGroups) groups_.erase(groups_.begin());
  OfGroup& known = groups_[batch.group];
  if (known.empty() && groups_.size() > 1) unanchored_ += placed.size();
  const std::optional<std::int64_t> offset =
      known.empty() ? batch.offset.value_or(0) : batch.offset;
  std::uint64_t sequence = batch.first_sequence;
  std::int64_t last = -1;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const std::int64_t step = batch.steps[i];
    const std::int64_t own = batch.own_first + static_cast<std::int64_t>(i);
    const auto at = known.find(sequence);
    std::int64_t number = last + 1;
    if (at != known.end()) {
      number = at->second;
    } else if (last < 0) {
      number = offset ? own + *offset : Near(known, sequence, step);
    }
    // Two iterations of one rank are never the same one of the job.
    if (last >= 0) number = std::max(number, last + 1);
    if (number >= 0) {
      placed[i] = last = number;
      Learn(known, sequence, number);
    }
    sequence += static_cast<std::uint64_t>(std::max<std::int64_t>(step, 1));
  }
  return placed;
}

}  // namespace fathom::collector
