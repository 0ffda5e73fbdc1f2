// The stacks of a job's ranks that a person asked for last: what each rank did at that moment.
//
// Owned by JobState. Asked for by `fathom trace stacks`, sent by agents/trace_requests, filled by
// the agents' replies, read by the API. Diagnosis does not look at them: it has its own, of ranks
// that are silent.
//
// Units: none. Thread-safety: thread-compatible (JobState's lock).
// Errors: InvalidArgument, FailedPrecondition with what to do. Cost: at most kMaxStacks stacks.
#ifndef FATHOM_COLLECTOR_JOB_ORDERS_ASKED_STACKS_H_
#define FATHOM_COLLECTOR_JOB_ORDERS_ASKED_STACKS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/admission/reject_reason.h"
#include "collector/job/ranks/rank_table.h"

namespace fathom::v1 {
class StackReply;
}

namespace fathom::collector {

struct StackAsk {
  std::string node;
  std::vector<RankId> ranks;
};

struct AskedStack {
  std::string state = "asked";  // "asked", "read", "refused"
  std::string reason{};
  std::vector<std::string> frames{};  // innermost first
  std::string source{};               // what read them
};

class AskedStacks {
 public:
  static constexpr std::size_t kMaxStacks = 64;

  // Of `wanted`; of all ranks where that is empty.
  absl::StatusOr<std::vector<StackAsk>> Plan(std::uint64_t id, const std::vector<RankId>& wanted,
                                             const RankTable& ranks);
  void Refuse(std::uint64_t id, const StackAsk& ask, const std::string& why);
  // Requires: the ranks are those of the sender. kUnasked: an older question, or nobody asked.
  Rejection Take(const v1::StackReply& reply);

  std::uint64_t id() const { return id_; }  // 0: none yet
  const std::map<RankId, AskedStack>& ranks() const { return ranks_; }

 private:
  std::uint64_t id_ = 0;
  std::map<RankId, AskedStack> ranks_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_ORDERS_ASKED_STACKS_H_
