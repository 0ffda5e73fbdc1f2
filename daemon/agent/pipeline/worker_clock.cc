#include "daemon/agent/pipeline/worker_clock.h"

#include <algorithm>

namespace fathom::agent {

void WorkerClock::Add(std::int64_t time_ns,
                      const std::map<std::uint32_t, std::int64_t>& runqueue_ns) {
  std::int64_t grown = 0, both = 0;
  for (const auto& [pid, value] : runqueue_ns) {
    const auto before = last_.find(pid);
    if (before == last_.end()) continue;
    // Less than before: one of its threads has ended, or the number was given to another process.
    grown += std::max<std::int64_t>(0, value - before->second);
    ++both;
  }
  last_ = runqueue_ns;
  const std::int64_t sum = points_.empty() ? 0 : points_.back().sum_ns;
  points_.push_back({time_ns, sum + (both > 0 ? grown / both : 0)});
  if (points_.size() > kMaxPoints) points_.pop_front();
}

double WorkerClock::SumAt(std::int64_t time_ns) const {
  const auto after = std::lower_bound(points_.begin() + 1, points_.end() - 1, time_ns,
                                      [](const Point& p, std::int64_t t) { return p.time_ns < t; });
  const Point &a = *(after - 1), &b = *after;
  const std::int64_t at = std::max(time_ns, points_.front().time_ns);
  const double rate =
      static_cast<double>(b.sum_ns - a.sum_ns) / static_cast<double>(b.time_ns - a.time_ns);
  return static_cast<double>(a.sum_ns) + rate * static_cast<double>(at - a.time_ns);
}

std::int64_t WorkerClock::Starved(std::int64_t begin_ns, std::int64_t end_ns) const {
  if (points_.size() < 2 || end_ns <= begin_ns) return 0;
  return static_cast<std::int64_t>(SumAt(end_ns) - SumAt(begin_ns));
}

}  // namespace fathom::agent
