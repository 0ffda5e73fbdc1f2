// Runs fathom-probe for the collector, one at a time, beside the poll loop.
//
// Owned by probe/probe_orders. Model: Begin() starts a thread that runs the program to its end;
// Stop() kills it; Take() hands over, once, what it printed.
//
// Thread-safety: Begin, Stop, Take and busy on the poll loop. Ownership: owns the thread; the
// destructor ends the program. Units: seconds of real time, wall ns. Errors: go into the answer, in
// words. Cost: one process, which takes what the order allows it.
#ifndef FATHOM_DAEMON_AGENT_PROBE_PROBE_RUNNER_H_
#define FATHOM_DAEMON_AGENT_PROBE_PROBE_RUNNER_H_

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "daemon/service/mutex.h"
#include "fathom/v1/probe.pb.h"

namespace fathom::agent {

class ProbeRunner {
 public:
  // What it printed; gives up when `stop` becomes true.
  using Tool = std::function<absl::StatusOr<std::string>(const v1::ProbeOrder& order,
                                                         const std::atomic<bool>& stop)>;

  explicit ProbeRunner(Tool tool) : tool_(std::move(tool)) {}
  ProbeRunner(const ProbeRunner&) = delete;
  ProbeRunner& operator=(const ProbeRunner&) = delete;
  ~ProbeRunner();

  // Requires: not busy, and what was done before was taken.
  void Begin(const v1::ProbeOrder& order, std::int64_t now_wall_ns);
  // `why` becomes the answer. Nothing where none runs.
  void Stop(const std::string& why);
  bool busy() const;
  std::optional<v1::ProbeAnswer> Take();

 private:
  void Run(const v1::ProbeOrder& order, std::int64_t began_wall_ns);
  void End();

  const Tool tool_;
  std::atomic<bool> stop_{false};
  mutable service::Mutex mutex_;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  std::string stopped_because_ ABSL_GUARDED_BY(mutex_);
  std::optional<v1::ProbeAnswer> done_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

// The tool: `program` by name beside the agent or on its PATH, or by path; at most `most_seconds`,
// and `memory_mib` where the order names none (0: what the program takes by itself).
ProbeRunner::Tool ProbeToolOf(const std::string& program, double most_seconds,
                              std::uint32_t memory_mib);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PROBE_PROBE_RUNNER_H_
