#include "diagnosis/watch/group_levels.h"

#include <algorithm>

namespace fathom::diagnosis {
namespace {

// Requires: not empty. Reorders the values.
GroupLevel LevelOf(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  std::int64_t median = *middle;
  std::int64_t shortest = median;
  if (middle != values.begin()) {
    const auto [least, below] = std::minmax_element(values.begin(), middle);
    shortest = *least;
    if (values.size() % 2 == 0) median = *below + (median - *below) / 2;
  }
  return {Nanos(shortest), Nanos(median)};
}

}  // namespace

std::size_t GroupLevels::NumberOf(GroupId group, std::size_t entry) {
  if (entry < groups_.size() && groups_[entry] == group) return numbers_[entry];
  const std::size_t number = known_.try_emplace(group, known_.size()).first->second;
  elapsed_.resize(known_.size());
  if (entry == groups_.size()) {
    groups_.push_back(group);
    numbers_.push_back(number);
  } else {
    groups_[entry] = group;
    numbers_[entry] = number;
  }
  return number;
}

void GroupLevels::Learn(const IterationSummary& iteration) {
  std::size_t entry = 0;
  for (const RankIteration& rank : iteration.ranks) {
    for (const GroupIteration& group : rank.groups) {
      elapsed_[NumberOf(group.group, entry++)].push_back(group.elapsed.count);
    }
  }
  levels_.resize(elapsed_.size());
  for (std::size_t number = 0; number < elapsed_.size(); ++number) {
    if (elapsed_[number].empty()) continue;
    levels_[number] = LevelOf(elapsed_[number]);
    elapsed_[number].clear();
  }
}

}  // namespace fathom::diagnosis
