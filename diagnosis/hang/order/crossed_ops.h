// Ops of two communicators that some ranks entered in one order and others in the other, without
// waiting in between: both are open, all members are inside of both, and neither moves.
//
//   rank 0 entered:  41 of A, then 17 of B      what is carried out one after the other (a stream,
//   rank 1 entered:  17 of B, then 41 of A      a thread) waits for the other rank on each side
//
// Part of rule hang. docs/rules/mismatch.md.
//
// Model: of the ops that all members have entered the oldest open one of each communicator is
// taken; a rank shows an order where it has two of them open and has not begun the later one. Such
// a pair with both orders is crossed. That counts and ages alone tell it; whether the order was
// always so, which would explain nothing, its rows tell (hang/program_order.h).
//
// Thread-safety: pure functions. Cost: O(members × communicators that they are stuck in, squared).
#ifndef FATHOM_DIAGNOSIS_HANG_ORDER_CROSSED_OPS_H_
#define FATHOM_DIAGNOSIS_HANG_ORDER_CROSSED_OPS_H_

#include <optional>
#include <vector>

#include "diagnosis/graph/wait_for.h"
#include "diagnosis/hang/order/order_words.h"
#include "diagnosis/hang/place/stuck_job.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// Lifetime: of the graph.
struct CrossedOps {
  const StuckInstance* one = nullptr;
  const StuckInstance* two = nullptr;
  std::vector<RankId> one_first, two_first;  // neither is empty

  std::vector<RankId> Ranks() const;  // of both, sorted
};

[[nodiscard]] std::optional<CrossedOps> FindCrossedOps(const WaitFor& graph);

// Of these ranks exactly one left its usual order: it, supported. Else a lead on the smaller side,
// on both if they are equal.
Verdict ConvictCrossed(const StuckJob& job, const CrossedOps& crossed, const Orders& orders);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_ORDER_CROSSED_OPS_H_
