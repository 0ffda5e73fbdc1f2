#include "collector/job/rows/row_cache.h"

#include <algorithm>
#include <utility>

namespace fathom::collector {

void RowCache::Put(RankId rank, std::int64_t iteration, diagnosis::RankRows rows) {
  auto& ranks = by_iteration_[iteration];
  const auto [at, added] = ranks.try_emplace(rank);
  if (!added) rows_ -= Size(at->second);
  rows_ += Size(rows);
  at->second = std::move(rows);
  MakeRoom(rank, iteration);
}

// What came last stays, however much it is.
void RowCache::MakeRoom(RankId newest, std::int64_t iteration) {
  while (rows_ > most_ && by_iteration_.size() > 1) {
    if (!DropOthers(newest)) Drop(Dispensable(iteration));
  }
}

void RowCache::Limit(std::size_t most) {
  most_ = most;
  if (by_iteration_.empty()) return;
  const auto& [iteration, ranks] = *by_iteration_.rbegin();
  if (!ranks.empty()) MakeRoom(ranks.begin()->first, iteration);
}

void RowCache::Prefer(const std::vector<RankId>& ranks, const std::vector<Iteration>& iterations,
                      Iteration onset) {
  preferred_ = {ranks.begin(), ranks.end()};
  wanted_.clear();
  for (const Iteration iteration : iterations) wanted_.insert(iteration.value);
  onset_ = onset.value;
}

std::int64_t RowCache::Dispensable(std::int64_t newest) const {
  std::int64_t before = -1, since = -1;
  std::size_t all_before = 0, all_since = 0;
  for (const auto& [iteration, ranks] : by_iteration_) {
    if (iteration == newest) continue;
    if (!wanted_.empty() && !wanted_.contains(iteration)) return iteration;
    std::int64_t& oldest = iteration < onset_ ? before : since;
    ++(iteration < onset_ ? all_before : all_since);
    if (oldest < 0) oldest = iteration;
  }
  if (all_before == 0 && all_since == 0) return newest;
  return all_before > all_since ? before : since;
}

void RowCache::Drop(std::int64_t iteration) {
  const auto at = by_iteration_.find(iteration);
  for (const auto& [rank, rows] : at->second) rows_ -= Size(rows);
  by_iteration_.erase(at);
}

// All rows of ranks that are not preferred; false: there were none.
bool RowCache::DropOthers(RankId newest) {
  if (preferred_.empty()) return false;
  const std::size_t before = rows_;
  for (auto& [iteration, ranks] : by_iteration_) {
    std::erase_if(ranks, [&](const auto& entry) {
      const bool leaves = entry.first != newest && !preferred_.contains(entry.first);
      if (leaves) rows_ -= Size(entry.second);
      return leaves;
    });
  }
  std::erase_if(by_iteration_, [](const auto& entry) { return entry.second.empty(); });
  return rows_ < before;
}

const diagnosis::RankRows* RowCache::Find(RankId rank, std::int64_t iteration) const {
  const auto at = by_iteration_.find(iteration);
  if (at == by_iteration_.end()) return nullptr;
  const auto rows = at->second.find(rank);
  return rows == at->second.end() ? nullptr : &rows->second;
}

std::map<RankId, diagnosis::RankRows> RowCache::Collect(const std::vector<RankId>& ranks,
                                                        const std::vector<Iteration>& iterations,
                                                        const RowCache* beside) const {
  std::map<RankId, diagnosis::RankRows> collected;
  std::set<std::int64_t> wanted;
  for (const Iteration iteration : iterations) wanted.insert(iteration.value);
  for (const std::int64_t iteration : wanted) {
    const bool there = beside != nullptr && beside->HasIteration(iteration);
    if (!there && !HasIteration(iteration)) continue;
    for (const RankId rank : ranks) {
      const diagnosis::RankRows* rows = Find(rank, iteration);
      if (rows == nullptr && there) rows = beside->Find(rank, iteration);
      if (rows == nullptr) continue;
      auto& into = collected[rank];
      into.ops.insert(into.ops.end(), rows->ops.begin(), rows->ops.end());
      into.marks.insert(into.marks.end(), rows->marks.begin(), rows->marks.end());
      into.functions.insert(into.functions.end(), rows->functions.begin(), rows->functions.end());
    }
  }
  for (auto& [rank, rows] : collected) {
    std::stable_sort(rows.ops.begin(), rows.ops.end(),
                     [](const auto& a, const auto& b) { return a.enter < b.enter; });
    std::stable_sort(rows.marks.begin(), rows.marks.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
  }
  return collected;
}

void RowCache::Clear() {
  by_iteration_.clear();
  preferred_.clear();
  wanted_.clear();
  onset_ = -1;
  rows_ = 0;
}

}  // namespace fathom::collector
