// Sends what a person orders of a job's tracers to the agents: sources to switch, stacks to read.
//
// Used by the API. The answers come back through sessions, into the job.
// Thread-safety: thread-safe. Ownership: refers to the registry. Errors: those of
// SourceSwitches::Plan and AskedStacks::Plan. Cost: one message an agent and communicator.
#ifndef FATHOM_COLLECTOR_AGENTS_TRACE_REQUESTS_H_
#define FATHOM_COLLECTOR_AGENTS_TRACE_REQUESTS_H_

#include <absl/status/status.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "collector/agents/session_registry.h"
#include "collector/job/state/job_state.h"

namespace fathom::collector {

class TraceRequests {
 public:
  explicit TraceRequests(const SessionRegistry& registry) : registry_(registry) {}

  absl::Status Switch(JobState& job, const SwitchWish& wish);
  absl::Status ReadStacks(JobState& job, const std::vector<RankId>& ranks);

 private:
  bool Send(const JobState& job, std::uint64_t id, const SwitchAsk& ask, Nanos patience) const;
  bool Send(const JobState& job, std::uint64_t id, const StackAsk& ask) const;

  const SessionRegistry& registry_;
  std::atomic<std::uint64_t> next_id_{1};
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_AGENTS_TRACE_REQUESTS_H_
