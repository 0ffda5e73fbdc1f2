#include "daemon/agent/source/window/window_sums.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace fathom::agent {
namespace {

std::int64_t BusyTime(const WindowContents& contents) {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const Activity& activity : contents.activities) {
    if (activity.kind == abi::ActivityKind::kSync) continue;
    if (activity.kind == abi::ActivityKind::kOverhead) continue;
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

// Those beyond the room become one line a kind; overheads, a handful at most, stay.
void Fold(std::vector<ActivitySum>& sums) {
  if (sums.size() <= kMaxWindowSums) return;
  std::map<abi::ActivityKind, ActivitySum> rest;
  std::vector<ActivitySum> kept;
  for (std::size_t i = kMaxWindowSums; i < sums.size(); ++i) {
    if (sums[i].kind == abi::ActivityKind::kOverhead) {
      kept.push_back(std::move(sums[i]));
    } else {
      Add(sums[i], rest[sums[i].kind]);
    }
  }
  sums.resize(kMaxWindowSums);
  for (auto& [kind, sum] : rest) sums.push_back(std::move(sum));
  std::move(kept.begin(), kept.end(), std::back_inserter(sums));
}

struct Overhead {
  const char* name;
  bool of_driver;
};

// By OverheadDetail; CUPTI's enumeration of CUDA 13.5.
Overhead OverheadOf(std::uint8_t detail) {
  constexpr std::uint8_t kHigh = abi::kOverheadHigh;
  switch (detail) {
    case 1:
      return {"compiling", true};
    case kHigh + 1:
      return {"CUPTI: handing buffers over", false};
    case kHigh + 2:
      return {"CUPTI: instrumenting", false};
    case kHigh + 3:
      return {"CUPTI: making its resources", false};
    case kHigh + 4:
      return {"loading a module", true};
    case kHigh + 5:
      return {"loading a function", true};
    case kHigh + 6:
      return {"the GPU's queue is full", true};
    case kHigh + 7:
      return {"CUPTI: asking for a buffer", false};
    case kHigh + 8:
      return {"CUPTI: watching unified memory", false};
    default:
      return {"unknown overhead", false};
  }
}

}  // namespace

WindowSums SumUp(const WindowContents& contents) {
  std::map<std::pair<abi::ActivityKind, std::string>, ActivitySum> by_name;
  for (const Activity& activity : contents.activities) {
    const bool named = activity.name < contents.names.size();
    const bool overhead = activity.kind == abi::ActivityKind::kOverhead;
    const Overhead what = overhead ? OverheadOf(activity.detail) : Overhead{"", false};
    const std::string name = named ? contents.names[activity.name] : std::string(what.name);
    const std::int64_t lasted = activity.end_ns - activity.begin_ns;
    ActivitySum& sum = by_name[{activity.kind, name}];
    sum.name = name;
    sum.of_driver = what.of_driver;
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
