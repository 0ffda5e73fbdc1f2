// Sends the orders for a window of detail to the agents of a job.
//
// Used by the API on a person's request. The answers come back through sessions, into the job.
// Thread-safety: thread-safe. Ownership: refers to the registry. Errors: those of
// DetailWindows::Plan. Cost: one message an agent and anchor communicator.
#ifndef FATHOM_COLLECTOR_AGENTS_WINDOW_REQUESTS_H_
#define FATHOM_COLLECTOR_AGENTS_WINDOW_REQUESTS_H_

#include <absl/status/status.h>

#include <atomic>
#include <cstdint>

#include "collector/agents/session_registry.h"
#include "collector/job/state/job_state.h"

namespace fathom::collector {

class WindowRequests {
 public:
  explicit WindowRequests(const SessionRegistry& registry) : registry_(registry) {}

  absl::Status Ask(JobState& job, const WindowWish& wish);

 private:
  bool Send(const JobState& job, std::uint64_t id, const WindowAsk& ask, Nanos patience) const;

  const SessionRegistry& registry_;
  std::atomic<std::uint64_t> next_id_{1};
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_AGENTS_WINDOW_REQUESTS_H_
