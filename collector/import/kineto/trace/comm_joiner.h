// Joins the events of a communication into one: the call on the host, its run, and the wait for it.
//
// Used by JobBuilder, one rank at a time.
//
// Model:
//   Call and run. Gloo: the first open call of the same kind and size before the run began (kinds
//   alone where sizes are told differently); for send and recv the call on the same thread just
//   before. Where the file was cut, so that runs are lost, the first such call of the latest step
//   that has one (whole_steps.h tells what else is lost). NCCL: External id, unless the launch or
//   the time speaks against it (and not at all where that is so of more than kMostWrongIds: the ids
//   then count something else); else the launch of the kernel's correlation id that lies inside the
//   call, else (several ops launched as one kernel, when their group is closed) all open calls that
//   the kernel can be of, begun since the launch before. Calls that bear the same group and
//   sequence are one op.
//
//   Wait. After a synchronous call, or one that does not say, the caller waits for the run to end
//   if it begins no op before. Else a thread that waits does nothing: in a gap of the calling
//   thread, longer than kShortestGap, the ops in flight that end inside it were waited for, one
//   after the other, from the begin of the gap. The rest of the gap is the host's own. (DDP's wait
//   for its buckets has no event; it is the gap at the end of backward.) The waiter is woken before
//   the event of the run ends, so an end may lie up to kLateEnd after the gap. Where none does, the
//   worker may have lost its core to the waiter: of the ops in flight the first to end, at most
//   kLostCore and a quarter of the gap later, was waited for, and ended with the gap. Ops that only
//   wait (ThreadOps::waiting) are gaps as well. A message is its own
//   wait, unless the thread does something meanwhile (isend, irecv): its run then ends when wait()
//   on it returns, and it was waited for from the last event of the thread before that. The end of
//   an isend stays unknown, for the data may have gone long before.
//
//   On a device the rank waits where nothing but communication runs: DeviceWaits().
// Deviation: a thread that sleeps while an op is in flight looks as if it waited until the op ends.
//
// Units: ns since the base of the trace. Thread-safety: pure function.
// Errors: none; what finds no partner stays alone and is counted. Cost: O(n log n).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_COMM_JOINER_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_COMM_JOINER_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collector/import/kineto/trace/rank_trace.h"

namespace fathom::collector::kineto {

inline constexpr std::int64_t kShortestGap = 50'000;
// 10 to 30 µs where cores are free; a worker may lose its core between the wake-up and the end.
inline constexpr std::int64_t kLateEnd = 1'000'000;
// Until a worker that lost its core has it again: some turns of others.
inline constexpr std::int64_t kLostCore = 10'000'000;
// Of the kernels whose External id is that of some call, those that cannot be of it.
inline constexpr double kMostWrongIds = 0.1;
// By so much the clocks of host and device may differ.
inline constexpr std::int64_t kDeviceClock = 10'000'000;

// Of two times, where the first may be absent: events before the base have times below 0.
inline std::int64_t Later(std::int64_t known, std::int64_t time) {
  return known == kAbsent ? time : std::max(known, time);
}

struct JoinedOp {
  CommEvent call;                    // of a run without a call, the run itself
  std::int64_t run_begin = kAbsent;  // kAbsent: no run found
  std::int64_t run_end = kAbsent;
  std::int64_t run_thread = kAbsent;
  std::int64_t wait_begin = kAbsent;
  std::int64_t wait_end = kAbsent;
  bool on_device = false;

  // When the rank left it for good, as far as it is known.
  std::int64_t left() const { return run_end != kAbsent ? run_end : call.end; }
};

// A stretch in which the device ran communication and nothing else. `op`: of JoinedOps::ops, the
// one whose end the device then waited for; kNone where none ends in the stretch.
struct DeviceStretch {
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::size_t op = kNone;
};

struct JoinedOps {
  std::vector<JoinedOp> ops;  // by call.begin
  std::uint64_t calls_without_run = 0;
  std::uint64_t runs_without_call = 0;
};

// Of the ops called by any thread; waits of `training_thread` only.
JoinedOps JoinComms(const RankTrace& trace, std::int64_t training_thread);

// By begin. `device_busy`: kernels that compute, and copies; sealed.
std::vector<DeviceStretch> DeviceWaits(const JoinedOps& joined, const IntervalSet& device_busy);

// The thread that trains: the one with the step marks, else the busiest.
std::int64_t TrainingThread(const RankTrace& trace);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_COMM_JOINER_H_
