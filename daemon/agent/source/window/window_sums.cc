#include "daemon/agent/source/window/window_sums.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fathom::agent {
namespace {

std::int64_t BusyTime(const WindowContents& contents) {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const Activity& activity : contents.activities) {
    if (activity.kind == abi::ActivityKind::kSync) continue;
    spans.emplace_back(activity.begin_ns, activity.end_ns);
  }
  std::sort(spans.begin(), spans.end());
  std::int64_t busy = 0;
  std::int64_t covered = spans.empty() ? 0 : spans.front().first;
  for (const auto& [begin, end] : spans) {
    busy += std::max<std::int64_t>(0, end - std::max(begin, covered));
    covered = std::max(covered, end);
  }
  return busy;
}

void Add(const ActivitySum& more, ActivitySum& sum) {
  sum.kind = more.kind;
  sum.count += more.count;
  sum.total_ns += more.total_ns;
  sum.longest_ns = std::max(sum.longest_ns, more.longest_ns);
  sum.bytes += more.bytes;
}

// Those beyond the room become one line a kind.
void Fold(std::vector<ActivitySum>& sums) {
  if (sums.size() <= kMaxWindowSums) return;
  std::map<abi::ActivityKind, ActivitySum> rest;
  for (std::size_t i = kMaxWindowSums; i < sums.size(); ++i) Add(sums[i], rest[sums[i].kind]);
  sums.resize(kMaxWindowSums);
  for (auto& [kind, sum] : rest) sums.push_back(std::move(sum));
}

}  // namespace

WindowSums SumUp(const WindowContents& contents) {
  std::map<std::pair<abi::ActivityKind, std::string>, ActivitySum> by_name;
  for (const Activity& activity : contents.activities) {
    const bool named = activity.name < contents.names.size();
    const std::string name = named ? contents.names[activity.name] : std::string();
    const std::int64_t lasted = activity.end_ns - activity.begin_ns;
    ActivitySum& sum = by_name[{activity.kind, name}];
    sum.name = name;
    Add({activity.kind, name, 1, lasted, lasted, activity.bytes}, sum);
  }
  WindowSums out;
  out.busy_ns = BusyTime(contents);
  for (auto& [key, sum] : by_name) out.sums.push_back(std::move(sum));
  std::stable_sort(out.sums.begin(), out.sums.end(),
                   [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  Fold(out.sums);
  return out;
}

}  // namespace fathom::agent
