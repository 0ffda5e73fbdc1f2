// What one iteration of one rank comes to: the numbers that always flow to the collector.
//
// Computed by rank_pipeline when an iteration closes; put into fathom.v1.SummaryBatch by
// uplink/summary_batch. docs/formats/summary.md explains each number.
//
// Units: ns, CLOCK_MONOTONIC of the node. An op belongs to the iteration in which it was entered
// (API order); it counts with its whole elapsed time. Ops that have not ended count, but have no
// elapsed time. An op whose device told when it began blocks while the device carries it out, not
// while the host waits, but for those that computing hid. blocked, gc and dataloader are clipped to
// [begin, end]; a wait for the anchor that has not ended yet reaches to the end. Waits for the
// device are those between the entries of two anchors, and no more than the iteration took.
// Thread-safety: pure. Errors: none; a CPU time that is not known is 0.
// Cost: one pass over the iteration's rows and products.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_SUMMARY_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_SUMMARY_H_

#include <cstdint>
#include <map>

#include "daemon/agent/pipeline/held_back.h"
#include "daemon/agent/pipeline/iteration/products.h"
#include "daemon/agent/pipeline/op_log.h"
#include "daemon/agent/pipeline/thread_clock.h"
#include "daemon/agent/pipeline/void_time.h"
#include "proto/types/flop_class.h"
#include "proto/types/issue_latency.h"

namespace fathom::agent {

struct GroupSummary {
  std::uint32_t count = 0;
  std::int64_t elapsed_ns = 0;
  std::int64_t shortest_ns = 0;  // of what is no receive; 0: all were
  std::int64_t longest_ns = 0;
  std::int64_t first_ns = 0;
};

struct IterationSpan {
  std::int64_t number = 0;
  std::uint64_t first_row = 0;
  std::uint64_t anchor_row = 0;  // the last row
  std::uint64_t anchor_sequence = 0;
  std::int64_t begin_ns = 0;  // end of the anchor before; for the first one, entry of its first op
  std::int64_t end_ns = 0;
};

struct IterationSummary {
  IterationSpan span;
  std::int64_t cpu_ns = 0;       // of the threads that called the API in it
  std::int64_t runqueue_ns = 0;  // likewise
  std::int64_t blocked_ns = 0;   // at most
  // Of that, ops that computing may have hidden (hidden_ops); the time in runs of ops in which it
  // computed for certain; and the longest op from which on it is not known.
  std::int64_t unsure_ns = 0;
  std::int64_t beside_ns = 0;
  std::int64_t leading_ns = 0;
  std::int64_t gc_ns = 0;
  std::int64_t dataloader_ns = 0;
  std::int64_t loader_starved_ns = 0;  // of that: its workers waited for a core
  std::uint64_t batch_elements = 0;    // of the batches that came in it
  std::int64_t device_wait_ns = 0;     // its threads stood still for a device
  IssueLatency issued;                 // of ops whose device told when it began them
  // Of products of matrices; 0 where none was seen, or graphs were launched, whose products are
  // not.
  FlopByClass flop{};
  VoidTime void_time;
  std::uint32_t ops = 0;
  std::map<std::uint16_t, GroupSummary> groups;  // by group slot
};

// Requires: span.first_row <= span.anchor_row < log.next(). Rows that the log no longer has are
// left out.
IterationSummary Summarise(const OpLog& log, const ProductLog& products, const ThreadClock& clock,
                           const HeldBack& held, const IterationSpan& span);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_SUMMARY_H_
