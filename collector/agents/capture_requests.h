// Asks the agents of a job for captures of stacks and takes in what comes back.
//
// Used by evaluate/capture_trigger (Ask, TakeFinished), evaluate/hand_captures (Ask, Shown) and by
// sessions (OnReply). An answer counts only from the node that was asked for that rank.
//
// Thread-safety: thread-safe. Ownership: refers to registry and clock.
// Errors: those of StackCaptures; kUnasked. Cost: one message an agent; the captures of a job are
// held until the next one, or the job is forgotten.
#ifndef FATHOM_COLLECTOR_AGENTS_CAPTURE_REQUESTS_H_
#define FATHOM_COLLECTOR_AGENTS_CAPTURE_REQUESTS_H_

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "collector/agents/session_registry.h"
#include "collector/job/orders/stack_captures.h"
#include "collector/job/state/job_state.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class CaptureRequests {
 public:
  CaptureRequests(const SessionRegistry& registry, const Clock& clock)
      : registry_(registry), clock_(clock) {}

  absl::Status Ask(const JobState& job, const CaptureWish& wish);
  Rejection OnReply(std::string_view node, const v1::CaptureReply& reply);

  bool UnderWay(const std::string& job) const;
  std::size_t BegunSince(const std::string& job, MonoNs since) const;
  // The newest one, once, when it is over; else null.
  std::shared_ptr<const diagnosis::StackCapture> TakeFinished(const std::string& job);
  // The newest one as it stands, for people.
  ShownCapture Shown(const std::string& job) const;
  void Forget(const std::string& job);

 private:
  bool Send(const JobState& job, std::uint64_t id, const CaptureAsk& ask,
            const CaptureWish& wish) const;

  const SessionRegistry& registry_;
  const Clock& clock_;
  mutable service::Mutex mutex_;
  std::map<std::string, StackCaptures, std::less<>> jobs_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_AGENTS_CAPTURE_REQUESTS_H_
