// Orders probes of the nodes that a job's verdicts name: for people, and by itself once the job
// ended.
//
// Used by the API (SuspectsAndPeers) and by serve (Ended). Model: a verdict that convicts, of a
// cause that lies in a node, names a suspect; other nodes of the job are peers, which ran the same
// on the same hardware. While the job runs nothing is ordered by itself: agents refuse beside
// training anyhow. When it has ended, the nodes are free for a moment, and a probe that training
// interrupts is killed by the agent.
//
// Thread-safety: SuspectsAndPeers is thread-safe; Ended is of the diagnoser's thread. Ownership:
// refers to Parts. Errors: NotFound where no verdict names a node. Cost: O(verdicts + ranks).
#ifndef FATHOM_COLLECTOR_EVALUATE_PROBE_TRIGGER_H_
#define FATHOM_COLLECTOR_EVALUATE_PROBE_TRIGGER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "collector/agents/probe_requests.h"
#include "collector/agents/session_registry.h"
#include "collector/evaluate/probe_settings.h"
#include "collector/job/state/job_state.h"
#include "collector/verdict/verdict_ledger.h"

namespace fathom::collector {

// Suspects first, then at most `peers` others that are connected. `only_hardware`: of verdicts that
// convict of a cause in a node.
absl::StatusOr<std::vector<std::string>> SuspectsAndPeers(const std::string& name,
                                                          const JobState* job,
                                                          const VerdictLedger& ledger,
                                                          const SessionRegistry& registry,
                                                          std::size_t peers, bool only_hardware);

class ProbeTrigger {
 public:
  struct Parts {
    ProbeRequests& probes;
    const VerdictLedger& ledger;
    const SessionRegistry& registry;
    std::function<void(const std::string& line)> say;
    const Clock& clock;
  };
  static constexpr Nanos kAgain{3600ll * 1'000'000'000};  // of a suspect
  static constexpr std::size_t kPeers = 3;

  ProbeTrigger(ProbeSettings settings, Parts parts)
      : settings_(std::move(settings)), parts_(std::move(parts)) {}

  void Ended(const JobState& job);

 private:
  bool Due(const std::string& suspect);

  const ProbeSettings settings_;
  const Parts parts_;
  std::map<std::string, MonoNs> ordered_;  // by suspect; those of the last hour
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EVALUATE_PROBE_TRIGGER_H_
