// Runs the sources of hardware readings, each on a thread of its own, within its pace and budget.
//
// Owned by session/hardware_watch, which asks once a second what came in.
//
// Model: a source is sampled every `pace`, or as seldom as its budget wants (a sample that took c
// of processor time is followed by c / budget of rest, at most kLongestRest). One that is not there
// (NotFound) is asked again every `retry`; one that fails likewise, and says why. A call that has
// not come back for `patience` makes the source "hangs", with the call's name: the agent goes on
// without it, and takes it up again if the call ever returns.
//
// Units: ns of the injected clock; processor time of the source's thread.
// Thread-safety: Take, States and Stop on one thread. Ownership: owns sources and threads. A thread
// that hangs in a driver when the runner ends is left behind, with all it refers to.
// Errors: those of the sources, as states. Cost: the sources' own.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_SOURCE_RUNNER_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_SOURCE_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/agent/source/hardware/hardware_source.h"
#include "proto/types/time_units.h"

namespace fathom::agent {

struct SourceState {
  std::string name;
  std::string state;  // "starts", "on", "missing", "failed", "hangs"
  std::string reason;
  std::uint64_t samples = 0;
  double cpu_seconds = 0;
  Nanos rest;               // between its last two samples
  double least_rest_s = 0;  // that its budget wants, whatever the pace

  bool SaysTheSame(const SourceState& other) const {
    return state == other.state && reason == other.reason;
  }
};

struct RunnerPace {
  Nanos pace{1'000'000'000};
  Nanos retry{60'000'000'000};
  Nanos patience{5'000'000'000};
};

class SourceRunner {
 public:
  static constexpr Nanos kLongestRest{30'000'000'000};

  SourceRunner(std::vector<std::unique_ptr<HardwareSource>> sources, std::function<MonoNs()> now,
               const RunnerPace& pace = {});
  SourceRunner(const SourceRunner&) = delete;
  SourceRunner& operator=(const SourceRunner&) = delete;
  ~SourceRunner();

  // From now on between two samples; thread-safe.
  void SetPace(Nanos pace);

  // The newest readings of each source that was sampled since the last call.
  std::vector<Reading> Take();
  std::vector<SourceState> States() const;
  // True once each source was sampled or failed at least once.
  bool AllTried() const;

 private:
  struct Worker;

  static void Run(const std::shared_ptr<Worker>& worker);

  const RunnerPace pace_;
  const std::function<MonoNs()> now_;
  std::vector<std::shared_ptr<Worker>> workers_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_SOURCE_RUNNER_H_
