// The captures of stacks of one job: which ranks were asked for theirs, and what came back.
//
// Owned by agents/capture_requests, one a job. Planned for verdicts whose cause is open
// (evaluate/capture_trigger), filled by the agents' replies.
//
// Model: one at a time; it is over when all ranks have answered, or kSlack after its end. Whoever
// takes it has it; the next one replaces what nobody took.
//
// Units: ns, seconds. Thread-safety: thread-compatible.
// Errors: InvalidArgument, FailedPrecondition with what to do.
// Cost: at most 30 KiB a rank as messages, some times that in memory.
#ifndef FATHOM_COLLECTOR_JOB_ORDERS_STACK_CAPTURES_H_
#define FATHOM_COLLECTOR_JOB_ORDERS_STACK_CAPTURES_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collector/admission/reject_reason.h"
#include "collector/job/ranks/rank_table.h"
#include "collector/process/clock.h"
#include "diagnosis/model/stack_capture.h"

namespace fathom::v1 {
class CaptureReply;
}

namespace fathom::collector {

struct CaptureWish {
  std::vector<RankId> accused{};  // whom it is made for
  std::vector<RankId> ranks{};    // all that are captured, these included
  double seconds = 4;
  std::uint32_t rate = 100;  // samples a second
};

// One order to the agent of one node.
struct CaptureAsk {
  std::string node;
  std::vector<RankId> ranks;
};

class StackCaptures {
 public:
  static constexpr std::size_t kMostRanks = 64;
  static constexpr Nanos kSlack{15'000'000'000};  // of py-spy's start and the answers' way

  // Begins a capture under `id`.
  absl::StatusOr<std::vector<CaptureAsk>> Plan(std::uint64_t id, const CaptureWish& wish,
                                               const RankTable& ranks, WallNs wall, MonoNs mono);
  // An ask of the newest could not be sent.
  void Refuse(const CaptureAsk& ask, const std::string& why);
  // kUnasked: an older capture, another node's rank, or nobody asked.
  Rejection Take(const v1::CaptureReply& reply, std::string_view node);

  bool UnderWay(MonoNs now) const;
  // How many began since.
  std::size_t BegunSince(MonoNs since) const;
  // The newest, once, when it is over; else null.
  std::shared_ptr<const diagnosis::StackCapture> TakeFinished(MonoNs now);

 private:
  std::uint64_t id_ = 0;
  std::shared_ptr<diagnosis::StackCapture> capture_;  // null: none, or taken
  std::map<RankId, std::string> awaited_;             // and their nodes
  MonoNs over_at_;
  std::deque<MonoNs> begun_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_ORDERS_STACK_CAPTURES_H_
