// Joins the records of one process into ops: API entry and return, execution, waits.
//
// Fed by rank_pipeline with validated records in ticket order; writes into op_log.
//
// Model: kOpEnter opens a row under its op_id, kOpReturn, where there is one, binds the work
// object's address to it. Worker and waiter records name the op by op_id where the tracer knew it,
// else by work address. A worker may be faster than the caller's return: what comes for an address
// that is bound to no op, or to one that already has that time, is kept under the address and taken
// in at the next kOpReturn that names it, if it is not older than that op's entry. (Addresses are
// used again.)
//
// The end of an op: the last end of its execution; the call's return where it was synchronous or
// failed; the end of the first wait where no execution was seen. An op that is open stays open:
// that is what a hang looks like. A wait for all ops of a thread (kFlagWaitAll) is told to each of
// its ops that was open when it began.
//
// An op on a device (kFlagDevice): the call only enqueues it. kGpuStart and kGpuEnd carry the GPU's
// clock, mapped by gpu_clock; the last kGpuEnd is its end. Where none is announced (no kFlagAsync)
// its end is that of the call, for want of a better. A communicator carries its ops out in order:
// one that has ended ends those entered before it whose own end was lost. What a communicator had
// in flight ends when the call that aborts or destroys it has returned (Stop): nobody tells more of
// it, and left open it would pass for the cause of a later hang.
//
// Thread-safety: single-threaded, owned by the poll loop.
// Errors: none; what cannot be joined is counted.
// Cost: at most two hash operations a record; memory 512 KiB + O(open ops) + kMaxUnbound.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_OP_JOINER_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_OP_JOINER_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "daemon/abi/event_record.h"
#include "daemon/agent/pipeline/gpu_clock.h"
#include "daemon/agent/pipeline/iteration/device_calls.h"
#include "daemon/agent/pipeline/iteration/products.h"
#include "daemon/agent/pipeline/op_log.h"

namespace fathom::agent {

struct JoinCounters {
  std::uint64_t ops = 0;
  std::uint64_t ended = 0;
  std::uint64_t orphans = 0;        // records whose op never showed (its entry was lost)
  std::uint64_t open_dropped = 0;   // ops that left the log before they ended
  std::uint64_t ends_inferred = 0;  // ops on a device ended by a later op of their communicator
  std::uint64_t stopped = 0;        // ops ended with their communicator
};

class OpJoiner {
 public:
  static constexpr std::size_t kMaxUnbound = 4096;
  static constexpr std::size_t kOpWindow = 1 << 16;  // a power of two

  // What a record did, for the caller's bookkeeping.
  struct Outcome {
    enum class What : std::uint8_t { kNothing, kEntered, kEnded };
    What what = What::kNothing;
    std::uint64_t row = 0;  // number in the log
  };

  // Requires: `log` outlives the joiner.
  explicit OpJoiner(OpLog& log) : log_(log) {}

  Outcome Take(const abi::EventRecord& record);

  // What the communicator in `group_slot` had in flight at `stopped_ns` is so no more: it was
  // aborted, destroyed or revoked, and those calls have returned.
  void Stop(std::uint16_t group_slot, std::int64_t stopped_ns);
  // Numbers of the rows that are open, oldest first.
  std::vector<std::uint64_t> OpenRows();
  const JoinCounters& counters() const { return counters_; }
  const GpuClock& gpu_clock() const { return gpu_clock_; }
  ProductLog& products() { return products_; }
  const ProductLog& products() const { return products_; }
  // abi::SourceBit of those that something has come from.
  std::uint32_t sources_seen() const { return sources_seen_; }

 private:
  struct Early {
    std::int64_t exec_start_ns = 0;
    std::int64_t exec_end_ns = 0;
    std::int64_t wait_start_ns = 0;
    std::int64_t wait_end_ns = 0;
  };

  Outcome Enter(const abi::EventRecord& record);
  Outcome Return(const abi::EventRecord& record);
  Outcome ReturnOfDeviceOp(const abi::EventRecord& record, std::uint64_t number, OpRow& row);
  void GpuStart(const abi::EventRecord& record);
  Outcome GpuEnd(const abi::EventRecord& record);
  void EndThoseBefore(const OpRow& row);
  void Reopen(std::uint64_t number, OpRow& row);
  Outcome Worker(const abi::EventRecord& record);
  Outcome Wait(const abi::EventRecord& record, std::uint64_t number, OpRow& row);
  void WaitAll(const abi::EventRecord& record);
  void TakeMark(const abi::EventRecord& record);
  void TakeWire(const abi::EventRecord& record);

  OpRow* RowOfOp(std::uint64_t op_id, std::uint64_t& number);
  OpRow* RowOf(const abi::EventRecord& record, std::uint64_t& number);
  void Bind(std::uint64_t work, std::uint64_t number);
  void KeepEarly(const abi::EventRecord& record);
  void TakeEarly(std::uint64_t work, OpRow& row);
  Outcome Settle(std::uint64_t number, OpRow& row, std::int64_t end_ns);
  void PruneOpen();

  OpLog& log_;
  // Row number + 1 by the low bits of the op_id; the row's own op_id says whether it is meant.
  std::vector<std::uint64_t> by_op_;
  absl::flat_hash_map<std::uint64_t, std::uint64_t> by_work_;
  absl::flat_hash_map<std::uint64_t, Early> early_;
  // Rows that a thread's wait for all of its ops is for, from kWaitStart to kWaitEnd.
  absl::flat_hash_map<std::uint32_t, std::vector<std::uint64_t>> waits_for_all_;
  std::deque<std::uint64_t> open_;  // in entry order; holds ended ones until the next prune
  // By group slot: rows of ops on a device, in entry order, whose end is still awaited.
  absl::flat_hash_map<std::uint16_t, std::deque<std::uint64_t>> on_device_;
  GpuClock gpu_clock_;
  DeviceCallSums device_calls_;
  ProductLog products_;
  std::uint32_t sources_seen_ = 0;
  std::int64_t device_busy_ns_ = 1;  // 0 would mean "not known"
  std::int64_t device_end_ns_ = 0;   // newest end of communication on the device
  JoinCounters counters_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_OP_JOINER_H_
