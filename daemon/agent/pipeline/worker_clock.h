// How long the processes that make a rank's batches waited for a core, between any two moments.
//
// Fed by session/rank_session from source/process/worker_sampler; asked by rank_pipeline for each
// iteration.
//
// Model: the workers of a loader make one batch each in turn, so where a rank waits for its batches
// the wait of one batch for cores is, per iteration, the mean over its workers. A reading holds all
// workers at once; what their counters grew since the one before, on average over those that are in
// both, is added to one sum, and between two readings that sum is interpolated. Behind the newest
// reading it goes on as between the last two: an iteration is summed up sooner than its workers are
// read again. What their CPU limit held them back for is not in the counters (held_back.h).
//
// Units: CLOCK_MONOTONIC ns; ns of all threads of a process since they began. Thread-safety:
// single-threaded, owned by the poll loop. Errors: none; before the second reading nothing is known
// and 0 is told. Cost: O(workers) a reading, O(log readings) an answer; kMaxPoints × 16 bytes.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_WORKER_CLOCK_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_WORKER_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

namespace fathom::agent {

class WorkerClock {
 public:
  static constexpr std::size_t kMaxPoints = 1024;

  // By process. Requires: `time_ns` rises from call to call.
  void Add(std::int64_t time_ns, const std::map<std::uint32_t, std::int64_t>& runqueue_ns);

  std::int64_t Starved(std::int64_t begin_ns, std::int64_t end_ns) const;

 private:
  struct Point {
    std::int64_t time_ns = 0;
    std::int64_t sum_ns = 0;
  };

  double SumAt(std::int64_t time_ns) const;

  std::deque<Point> points_;
  std::map<std::uint32_t, std::int64_t> last_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_WORKER_CLOCK_H_
