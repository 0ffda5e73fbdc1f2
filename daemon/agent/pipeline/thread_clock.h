// CPU time and run-queue time of a rank's API-calling threads, at any recent moment.
//
// Fed by source/process/thread_sampler (every few ms while ops flow) and by the CPU clock that a
// kOpEnter record may carry; asked by iteration_summary and when rows are sent.
//
// Model: per thread a series of points (time, cpu, run-queue), both cumulative; between two points
// the value is interpolated linearly, so an answer is as sharp as the points are dense. Outside the
// series there is no answer.
//
// Units: CLOCK_MONOTONIC ns; CPU and run-queue in ns since the thread began. Run-queue time is
// without what the process's CPU limit held it back for (held_back.h).
// Thread-safety: single-threaded, owned by the poll loop.
// Errors: nullopt where nothing is known.
// Cost: O(log points) an answer; kMaxPoints × 24 bytes a thread, at most kMaxThreads threads.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_THREAD_CLOCK_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_THREAD_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace fathom::agent {

struct ThreadPoint {
  std::int64_t time_ns = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t runqueue_ns = 0;
};

class ThreadClock {
 public:
  static constexpr std::size_t kMaxPoints = 4096;
  static constexpr std::size_t kMaxThreads = 16;

  // Notes that the thread calls the API, so that it gets sampled. False if there are too many.
  bool Watch(std::uint32_t tid);
  std::vector<std::uint32_t> Threads() const;

  // Points may come slightly out of order. Requires: Watch(tid) was true.
  void Add(std::uint32_t tid, const ThreadPoint& point);

  std::optional<ThreadPoint> At(std::uint32_t tid, std::int64_t time_ns) const;

 private:
  std::map<std::uint32_t, std::deque<ThreadPoint>> series_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_THREAD_CLOCK_H_
