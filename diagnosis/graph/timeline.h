// What one rank did, in program order: its ops, and the gap before each.
//
// Built from the rows of a view for diagnosis/graph/execution_graph; read by the rules.
//
//   enter k-1                                                     enter k
//   |<----------------------------- gap k ----------------------->|
//   | local (before)  |##### blocked in waits #####| local (after) |
//
// Model: the gap before op k reaches from the entry of op k-1 (or the begin of the iteration, for
// its first op) to the entry of op k. In it the rank computed, ran Python, was blocked on
// communication, waited for a core, or did something nobody saw. own = wall − blocked is what the
// rank itself is answerable for. Where waits were not traced, blocked is the time off the CPU in
// which an op was open, at most.
// On a device whose kernels were traced the same holds in the device's time: an op enters when its
// kernel starts, blocked is the time in which nothing but communication ran, and `cpu` the time in
// which the device computed or copied; the rest of own it idled, for want of work from the host.
//
// Units: seconds; times of the rank's own monotonic clock only.
// Thread-safety: plain values. Lifetime: ops point into the view's rows, which must outlive it.
// Cost: O(ops log ops) a rank.
#ifndef FATHOM_DIAGNOSIS_GRAPH_TIMELINE_H_
#define FATHOM_DIAGNOSIS_GRAPH_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "diagnosis/model/comm_op.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

inline constexpr std::size_t kNoOp = ~std::size_t{0};

struct Gap {
  std::uint64_t key = 0;  // equal for the same place in every iteration, on every rank of a role
  double wall = 0;
  double blocked = 0;
  double after_wait = 0;  // local time after the last wait worth following; wall if there is none
  double cpu = 0;
  double runqueue = 0;
  double gc = 0;
  double dataloader = 0;
  bool cpu_known = false;
  bool runqueue_known = false;
  bool on_device = false;         // times of the device, not of the host
  std::size_t waited_op = kNoOp;  // the last op it was blocked on for long enough to follow
  double waited = 0;              // for how long

  double own() const { return wall - blocked; }
};

struct RankTimeline {
  RankId rank;
  std::vector<const CommOp*> ops;                                       // by enter
  std::vector<Gap> gaps;                                                // gaps[k] precedes ops[k]
  std::map<Iteration, std::pair<std::size_t, std::size_t>> iterations;  // [first, last) op
  bool waits_traced = false;
};

// `wait_floor` in seconds: shorter waits are not followed.
RankTimeline BuildTimeline(RankId rank, const RankRows& rows,
                           const std::map<Iteration, MonoNs>& iteration_begin, double wait_floor);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_TIMELINE_H_
