#include "diagnosis/stats/interval_set.h"

#include <algorithm>

namespace fathom::diagnosis {

void IntervalSet::Add(std::int64_t begin, std::int64_t end) {
  if (end <= begin) return;
  // Nested events mostly follow the one around them.
  if (!stretches_.empty() && begin >= stretches_.back().begin && begin <= stretches_.back().end) {
    stretches_.back().end = std::max(stretches_.back().end, end);
    return;
  }
  stretches_.push_back({begin, end});
  if (stretches_.size() >= merge_at_) {
    Merge();
    merge_at_ = std::max(kFirstMerge, 2 * stretches_.size());
  }
}

void IntervalSet::Merge() {
  const auto earlier = [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; };
  if (!std::is_sorted(stretches_.begin(), stretches_.end(), earlier)) {
    std::sort(stretches_.begin(), stretches_.end(), earlier);
  }
  std::size_t kept = 0;
  for (const Stretch& next : stretches_) {
    if (kept > 0 && next.begin <= stretches_[kept - 1].end) {
      stretches_[kept - 1].end = std::max(stretches_[kept - 1].end, next.end);
    } else {
      stretches_[kept++] = next;
    }
  }
  stretches_.resize(kept);
}

void IntervalSet::Seal() {
  Merge();
  before_.clear();
  before_.reserve(stretches_.size());
  std::int64_t covered = 0;
  for (const Stretch& stretch : stretches_) {
    before_.push_back(covered);
    covered += stretch.end - stretch.begin;
  }
}

IntervalSet IntervalSet::Without(const IntervalSet& other) const {
  IntervalSet rest;
  auto cut = other.stretches_.begin();
  for (const Stretch& stretch : stretches_) {
    std::int64_t from = stretch.begin;
    while (cut != other.stretches_.end() && cut->end <= from) ++cut;
    for (auto at = cut; at != other.stretches_.end() && at->begin < stretch.end; ++at) {
      rest.Add(from, at->begin);
      from = std::max(from, at->end);
    }
    rest.Add(from, stretch.end);
  }
  rest.Seal();
  return rest;
}

std::int64_t IntervalSet::CoveredUntil(std::int64_t time) const {
  const auto after =
      std::upper_bound(stretches_.begin(), stretches_.end(), time,
                       [](std::int64_t t, const Stretch& stretch) { return t < stretch.begin; });
  if (after == stretches_.begin()) return 0;
  const auto i = static_cast<std::size_t>(after - stretches_.begin()) - 1;
  return before_[i] + std::min(time, stretches_[i].end) - stretches_[i].begin;
}

std::int64_t IntervalSet::Covered(std::int64_t begin, std::int64_t end) const {
  return end > begin ? CoveredUntil(end) - CoveredUntil(begin) : 0;
}

std::int64_t IntervalSet::Covered() const {
  return empty() ? 0 : CoveredUntil(stretches_.back().end);
}

}  // namespace fathom::diagnosis
