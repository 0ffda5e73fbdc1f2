// The captures of stacks of one job: which ranks were asked for theirs, and what came back.
//
// Owned by agents/capture_requests, one a job. Planned for verdicts whose cause is open
// (evaluate/capture_trigger) and for people (evaluate/hand_captures), filled by the agents'
// replies.
//
// Model: one at a time; it is over when all ranks have answered, or kSlack after its end. Whoever
// takes it has it; the next one replaces what nobody took. The newest stays to be shown.
// One of so many iterations begins some lead time ahead, at the same one on all ranks, named to
// them as DetailWindows does it.
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
#include "collector/job/summaries/summary_window.h"
#include "collector/process/clock.h"
#include "diagnosis/model/stack_capture.h"

namespace fathom::v1 {
class CaptureReply;
class RankCapture;
}  // namespace fathom::v1

namespace fathom::collector {

struct CaptureWish {
  std::vector<RankId> accused{};  // whom it is made for
  std::vector<RankId> ranks{};    // all that are captured, these included
  double seconds = 4;
  std::int64_t iterations = 0;  // more: so many, the same on all ranks, instead of seconds
  bool aligned = false;         // the iterations of so many seconds, where they are known
  std::uint32_t rate = 100;     // samples a second
  bool native = false;          // frames of native code as well
  bool workers = false;         // processes that the ranks started as well
};

// One order to the agent of one node.
struct CaptureAsk {
  std::string node;
  struct Cue {
    RankId rank;
    GroupId group;
    std::uint64_t open_sequence = 0;
    std::uint64_t close_sequence = 0;
  };
  std::vector<RankId> ranks;
  std::vector<Cue> cues;  // of each rank; empty: they begin at once
  Nanos patience;
};

// The newest capture of a job, for people.
struct ShownCapture {
  std::uint64_t id = 0;  // 0: none yet
  bool over = false;
  std::vector<RankId> awaited;
  diagnosis::StackCapture capture;
};

// What an agent told of a rank.
diagnosis::RankStacks StacksOf(const v1::RankCapture& from);

class StackCaptures {
 public:
  static constexpr std::size_t kMostRanks = 64;
  static constexpr Nanos kSlack{15'000'000'000};  // of py-spy's start and the answers' way

  // Begins a capture under `id`.
  absl::StatusOr<std::vector<CaptureAsk>> Plan(std::uint64_t id, const CaptureWish& wish,
                                               const RankTable& ranks, const SummaryWindow& window,
                                               WallNs wall, MonoNs mono);
  // An ask of the newest could not be sent.
  void Refuse(const CaptureAsk& ask, const std::string& why);
  // kUnasked: an older capture, another node's rank, or nobody asked.
  Rejection Take(const v1::CaptureReply& reply, std::string_view node);

  bool UnderWay(MonoNs now) const;
  // How many began since.
  std::size_t BegunSince(MonoNs since) const;
  // The newest, once, when it is over; else null.
  std::shared_ptr<const diagnosis::StackCapture> TakeFinished(MonoNs now);
  ShownCapture Shown(MonoNs now) const;

 private:
  void Await(const std::vector<CaptureAsk>& asks, const CaptureWish& wish, MonoNs mono);

  std::uint64_t id_ = 0;
  std::shared_ptr<diagnosis::StackCapture> capture_;  // null: none yet
  bool taken_ = false;
  std::map<RankId, std::string> awaited_;  // and their nodes
  MonoNs over_at_;
  std::deque<MonoNs> begun_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_ORDERS_STACK_CAPTURES_H_
