#include "daemon/agent/pipeline/thread_clock.h"

#include <algorithm>

namespace fathom::agent {
namespace {

bool Before(const ThreadPoint& point, std::int64_t time_ns) { return point.time_ns < time_ns; }

}  // namespace

bool ThreadClock::Watch(std::uint32_t tid) {
  if (series_.contains(tid)) return true;
  if (series_.size() >= kMaxThreads) return false;
  series_.try_emplace(tid);
  return true;
}

std::vector<std::uint32_t> ThreadClock::Threads() const {
  std::vector<std::uint32_t> tids;
  for (const auto& entry : series_) tids.push_back(entry.first);
  return tids;
}

void ThreadClock::Add(std::uint32_t tid, const ThreadPoint& point) {
  const auto it = series_.find(tid);
  if (it == series_.end()) return;
  std::deque<ThreadPoint>& points = it->second;
  auto at = std::lower_bound(points.begin(), points.end(), point.time_ns, Before);
  if (at != points.end() && at->time_ns == point.time_ns) return;
  points.insert(at, point);
  if (points.size() > kMaxPoints) points.pop_front();
}

std::optional<ThreadPoint> ThreadClock::At(std::uint32_t tid, std::int64_t time_ns) const {
  const auto it = series_.find(tid);
  if (it == series_.end()) return std::nullopt;
  const std::deque<ThreadPoint>& points = it->second;
  const auto after = std::lower_bound(points.begin(), points.end(), time_ns, Before);
  if (after == points.end()) return std::nullopt;
  if (after->time_ns == time_ns) return *after;
  if (after == points.begin()) return std::nullopt;
  const ThreadPoint& a = *(after - 1);
  const ThreadPoint& b = *after;
  const double share =
      static_cast<double>(time_ns - a.time_ns) / static_cast<double>(b.time_ns - a.time_ns);
  const auto between = [share](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(share * static_cast<double>(to - from));
  };
  return ThreadPoint{time_ns, between(a.cpu_ns, b.cpu_ns), between(a.runqueue_ns, b.runqueue_ns)};
}

}  // namespace fathom::agent
