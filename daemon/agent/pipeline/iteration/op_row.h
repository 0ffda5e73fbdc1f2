// One communication op of one rank as the agent keeps it: joined from its ring records.
//
// Made by op_joiner, kept by op_log, read by iteration_summary and session/rows_reply.
//
// Units: CLOCK_MONOTONIC ns of the node, 0 = not known. Bytes of the caller's buffer.
// Thread-safety: plain values.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_OP_ROW_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_OP_ROW_H_

#include <cstdint>

#include "daemon/abi/event_record.h"
#include "daemon/agent/pipeline/iteration/device_calls.h"
#include "proto/types/collective_kind.h"
#include "proto/types/data_type.h"

namespace fathom::agent {

inline constexpr std::int64_t kNoIteration = -1;

struct OpRow {
  std::uint64_t op_id = 0;
  std::uint64_t sequence = abi::kNoSequence64;
  std::uint64_t bytes = 0;
  std::int64_t enter_ns = 0;
  std::int64_t return_ns = 0;
  std::int64_t exec_start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t wait_start_ns = 0;
  std::int64_t wait_end_ns = 0;
  // Of an op on a device: exec_start_ns is when its stream reached it, end_ns when the GPU was
  // done. device_busy_ns: time the device computed before it, cumulative; 0 = not known.
  std::int64_t device_busy_ns = 0;
  std::uint64_t stream = 0;          // opaque key
  DeviceTotals device_calls;         // when it was entered
  std::int64_t cpu_at_enter_ns = 0;  // cumulative, of the calling thread; 0 = not known
  std::int64_t runqueue_at_enter_ns = 0;
  std::int64_t iteration = kNoIteration;  // ordinal; kNoIteration when not known
  std::uint32_t thread_id = 0;
  std::uint32_t peer = abi::kNoPeer;  // rank inside the group
  std::uint16_t group_slot = abi::kNoGroupSlot;
  CollectiveKind kind = CollectiveKind::kUnknown;
  DataType data_type = DataType::kUnknown;
  std::uint8_t flags = 0;  // abi::RecordFlag

  bool done() const { return end_ns != 0; }
  bool on_device() const { return (flags & abi::kFlagDevice) != 0; }
  // When the rank came to the op: its stream, where a device carries it out.
  std::int64_t arrival_ns() const {
    return on_device() && exec_start_ns != 0 ? exec_start_ns : enter_ns;
  }
  // The same of a process that may have been held back or stopped meanwhile (pipeline/held_back).
  template <typename HeldBack>
  std::int64_t arrival_ns(const HeldBack& held) const {
    return on_device() ? arrival_ns() : held.Arrival(enter_ns, end_ns);
  }
  bool failed() const { return (flags & abi::kFlagFailed) != 0; }
};

// A stretch that the Python source marked, from a begin and an end mark.
struct MarkRow {
  abi::MarkKind kind = abi::MarkKind::kNone;  // the begin's kind
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  // 0 = still open
  std::uint64_t pair_id = 0;
  std::uint32_t thread_id = 0;
  std::uint64_t elements = 0;  // of a batch: those of its largest tensor; 0 = not known
  std::uint32_t function = 0;  // of a function: its number in the process's table
};

// What a begin mark is of, as messages write it.
inline const char* MarkName(abi::MarkKind begin) {
  if (begin == abi::MarkKind::kFunctionBegin) return "function";
  return begin == abi::MarkKind::kGcBegin ? "gc" : "dataloader";
}

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_OP_ROW_H_
