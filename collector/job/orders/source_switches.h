// The newest order to switch sources of a job off or on: which ranks were asked, from which op on,
// and what became of it.
//
// Owned by JobState. Planned on a person's request (`fathom trace`), sent by agents/trace_requests,
// filled by the agents' replies. What is off now is told by the ranks' health, and at once by
// "done".
//
// Model: all ranks switch behind the op that closes an iteration some lead time ahead
// (anchor_plan.h). An order changes the words that the rank's health told last. A rank that has not
// come to its op "waits"; it may be "done" later. A restart of the job begins with everything on.
//
// NCCL's plugin is switched on all ranks or on none: where only some ranks know when their GPUs
// come to an op, those that do not would look late.
//
// Units: iterations of the job; ns. Thread-safety: thread-compatible (JobState's lock).
// Errors: InvalidArgument, FailedPrecondition with what to do. Cost: O(ranks).
#ifndef FATHOM_COLLECTOR_JOB_ORDERS_SOURCE_SWITCHES_H_
#define FATHOM_COLLECTOR_JOB_ORDERS_SOURCE_SWITCHES_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/admission/reject_reason.h"
#include "collector/job/ranks/rank_table.h"
#include "collector/job/summaries/summary_window.h"

namespace fathom::v1 {
class TraceReply;
}

namespace fathom::collector {

struct SwitchWish {
  std::uint32_t off = 0, on = 0;  // SourceBit
  std::vector<RankId> ranks{};    // empty: all
};

// The words a rank is to have.
struct SwitchWords {
  std::uint32_t sources_disabled = 0;
  std::uint32_t plugin_mask = 0;
  auto operator<=>(const SwitchWords&) const = default;
};

// One order to the agent of one node.
struct SwitchAsk {
  std::string node;
  GroupId group;
  std::uint64_t at_sequence = 0;
  SwitchWords words;
  std::vector<RankId> ranks;
};

struct RankSwitchState {
  std::string state = "asked";  // "asked", "done", "waits", "refused"
  std::string reason{};
  std::uint64_t at_sequence = 0;
  SwitchWords words{};  // that it was ordered to have
};

class SourceSwitches {
 public:
  absl::StatusOr<std::vector<SwitchAsk>> Plan(std::uint64_t id, const SwitchWish& wish,
                                              const RankTable& ranks, const SummaryWindow& window,
                                              Nanos iteration_time);
  // An ask could not be sent.
  void Refuse(std::uint64_t id, const SwitchAsk& ask, const std::string& why);
  // Also tells `ranks` what is off now. Requires: the ranks are those of the sender. kUnasked: an
  // older order, or nobody asked.
  Rejection Take(const v1::TraceReply& reply, RankTable& ranks);

  std::uint64_t id() const { return id_; }                           // 0: none yet
  std::int64_t first_iteration() const { return first_iteration_; }  // told the new way
  Nanos patience() const { return patience_; }
  const std::map<RankId, RankSwitchState>& ranks() const { return ranks_; }

 private:
  std::vector<SwitchAsk> Asks(const SwitchWish& wish, const RankTable& ranks,
                              const SummaryWindow& window);

  std::uint64_t id_ = 0;
  std::int64_t first_iteration_ = -1;
  Nanos patience_;
  std::map<RankId, RankSwitchState> ranks_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_ORDERS_SOURCE_SWITCHES_H_
