// Which ops of different ranks are one collective, or the two ends of one message, and who made
// whom wait there.
//
// Built by diagnosis/graph/execution_graph; read by the rules.
//
// Model: a collective instance is (group, sequence). A send and a receive belong together by
// (group, source, destination, place among those of the iteration). Who can delay whom depends on
// the kind: in all-reduce, all-gather, reduce-scatter, all-to-all and barrier everybody delays
// everybody; in broadcast and scatter the root delays the others; in reduce and gather the others
// delay the root; a send and its receive delay each other.
//
// For kinds in which all leave together no common clock is needed: transfer = the shortest elapsed
// time, wait = elapsed − transfer, the last to arrive is the one with the shortest elapsed time.
//
// Thread-safety: plain values. Lifetime: refers to the timelines it was built from.
// Source: methods of Holmes (NSDI'25), with duration in place of timestamps.
#ifndef FATHOM_DIAGNOSIS_GRAPH_INSTANCES_H_
#define FATHOM_DIAGNOSIS_GRAPH_INSTANCES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "diagnosis/graph/timeline.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

// An op by place: line is an index into the timelines, op into its ops.
struct OpRef {
  std::size_t line = 0;
  std::size_t op = kNoOp;
  friend bool operator==(const OpRef&, const OpRef&) = default;
};

struct Instance {
  GroupId group;
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::uint64_t bytes = 0;
  Iteration iteration{-1};
  std::vector<OpRef> members;
  bool complete = false;  // ops of all members of the group are here
};

// Who made `waiter` wait in an instance.
struct LastArrival {
  OpRef who;
  bool self = true;    // nobody came noticeably later than the waiter itself
  double lead_s = 0;   // how much earlier than `who` the waiter came
  bool known = false;  // false: no other member's op is here, or one is not done
};

class Instances {
 public:
  Instances(const std::vector<RankTimeline>& lines, const std::vector<Group>& groups);

  const std::vector<Instance>& all() const { return instances_; }
  const CommOp& OpAt(const OpRef& ref) const { return *lines_[ref.line].ops[ref.op]; }
  // The instance an op belongs to; null where it has no partner here.
  const Instance* Of(const OpRef& ref) const;
  // Shortest elapsed time of the members that are done; 0 if none or if it tells nothing
  // (messages).
  double TransferSeconds(const Instance& instance) const;
  // Among the members whose ops are here. `floor`: a lead shorter than this many seconds is none.
  LastArrival WhoCameLast(const OpRef& waiter, double floor) const;

 private:
  using MessageKey = std::tuple<GroupId, RankId, RankId, Iteration, std::uint64_t>;

  void JoinCollectives(const std::vector<Group>& groups);
  void JoinMessages();
  LastArrival AmongAll(const Instance& instance, const OpRef& waiter, double floor) const;
  LastArrival Other(const Instance& instance, const OpRef& waiter) const;
  LastArrival Root(const Instance& instance, const OpRef& waiter) const;

  const std::vector<RankTimeline>& lines_;
  std::vector<Instance> instances_;
  std::vector<std::vector<std::size_t>> index_;  // per line and op: position in instances_ or kNoOp
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_INSTANCES_H_
