#include "collector/job/summaries/iteration_slots.h"

#include <algorithm>

namespace fathom::collector {

std::optional<std::size_t> IterationSlots::Find(std::int64_t iteration) const {
  const auto it = std::find(iteration_.begin(), iteration_.end(), iteration);
  if (it == iteration_.end() || iteration < 0) return std::nullopt;
  return static_cast<std::size_t>(it - iteration_.begin());
}

std::optional<IterationSlots::Claimed> IterationSlots::Claim(std::int64_t iteration) {
  std::size_t best = iteration_.size();
  for (std::size_t i = 0; i < iteration_.size(); ++i) {
    if (iteration_[i] < 0) {
      best = i;
      break;
    }
    if (Pinned(iteration_[i])) continue;
    if (best == iteration_.size() || iteration_[i] < iteration_[best]) best = i;
  }
  if (best == iteration_.size() || iteration_[best] > iteration) return std::nullopt;
  const Claimed claimed{best, iteration_[best]};
  iteration_[best] = iteration;
  newest_ = std::max(newest_, iteration);
  return claimed;
}

void IterationSlots::Pin(std::int64_t first, std::int64_t last) {
  const auto half = static_cast<std::int64_t>(iteration_.size() / 2);
  pinned_last_ = last;
  pinned_first_ = std::max(first, last - half + 1);
}

IterationSlots IterationSlots::Fewer(std::size_t count, std::vector<std::int64_t>& leave) const {
  IterationSlots fewer(count);
  if (pinned_last_ >= pinned_first_) fewer.Pin(pinned_first_, pinned_last_);
  const std::vector<std::int64_t> sorted = Sorted();
  std::size_t excess = sorted.size() - std::min(sorted.size(), count);
  for (const std::int64_t iteration : sorted) {
    if (excess > 0 && !fewer.Pinned(iteration)) {
      leave.push_back(iteration), --excess;
    } else {
      fewer.Claim(iteration);
    }
  }
  return fewer;
}

void IterationSlots::Clear() {
  std::fill(iteration_.begin(), iteration_.end(), -1);
  newest_ = -1;
  Unpin();
}

std::vector<std::int64_t> IterationSlots::Sorted() const {
  std::vector<std::int64_t> all;
  all.reserve(iteration_.size());
  for (const std::int64_t iteration : iteration_) {
    if (iteration >= 0) all.push_back(iteration);
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace fathom::collector
