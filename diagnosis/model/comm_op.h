// One communication op of one rank, and what the rank did beside communication: the rows that a
// localisation looks at.
//
// Filled by the live collector (from fathom.v1.CommOp) and by importers; read by
// diagnosis/slowness/rules.
//
// Units and clocks: MonoNs of the rank's node; ranks on different nodes must never be compared by
// it, durations may. A time that is not known is 0. An op with end not known is in flight.
// cpu_at_enter and runqueue_at_enter are cumulative counters of the calling thread. What the CPU
// limit of a rank held it back for is in neither, and comes before the arrival at an op.
// Thread-safety: plain values.
#ifndef FATHOM_DIAGNOSIS_MODEL_COMM_OP_H_
#define FATHOM_DIAGNOSIS_MODEL_COMM_OP_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "proto/types/collective_kind.h"
#include "proto/types/data_type.h"
#include "proto/types/ids.h"
#include "proto/types/time_units.h"

namespace fathom::diagnosis {

struct CommOp {
  GroupId group;
  Sequence sequence = kNoSequence;  // kNoSequence for point-to-point
  CollectiveKind kind = CollectiveKind::kUnknown;
  DataType data_type = DataType::kUnknown;
  std::uint64_t bytes = 0;
  RankId peer = kNoRank;  // global rank of the root or of the other end
  std::uint32_t thread = 0;
  Iteration iteration{-1};  // -1: not known
  MonoNs enter;             // API entry: the arrival of the rank
  MonoNs api_return;
  MonoNs exec_start;
  MonoNs end;         // done on this rank
  MonoNs wait_start;  // the caller blocked on it from wait_start …
  MonoNs wait_end;    // … to wait_end; not known if it never had to
  Nanos cpu_at_enter;
  Nanos runqueue_at_enter;
  // What the process asked of its device since it entered the op before; 0 where not traced.
  std::uint64_t launches = 0;
  Nanos launching;    // host time in launches, copies and the like
  Nanos device_wait;  // host time blocked on the device
  bool failed = false;
  // Runs on a device: the host only launches it, ahead of time, and the rank arrives when the
  // kernel starts.
  bool on_device = false;
  // Of such an op, where all kernels were traced: the time the device had computed or copied, in
  // sum, when this kernel started. Negative: not known.
  Nanos device_at_arrival{-1};
  bool hidden = false;  // its device computed all the while: nothing waited for it

  bool done() const { return end.known(); }
  MonoNs arrival() const { return on_device && exec_start.known() ? exec_start : enter; }
  // Its times are those of a device that told when it carried the op out; no host thread's.
  bool in_device_time() const { return thread == 0 && exec_start.known(); }
  bool device_known() const { return device_at_arrival.count >= 0 && exec_start.known(); }
  // Where the op stands in the program order of its rank: of the device where its work is known,
  // else of the host.
  MonoNs place() const { return device_known() ? exec_start : enter; }
  Nanos elapsed() const { return end - arrival(); }  // Requires: done().
};

// A stretch in which the device of a rank ran communication and nothing else. `op`: the one that
// it waited for, an index into the rank's ops; kNoneWaitedFor where that cannot be told.
struct DeviceWait {
  static constexpr std::size_t kNoneWaitedFor = ~std::size_t{0};
  MonoNs begin;
  MonoNs end;
  std::size_t op = kNoneWaitedFor;
};

enum class MarkKind : std::uint8_t { kGc, kDataLoader };

// A stretch on a rank that the Python source marked. end not known: still open.
struct Mark {
  MarkKind kind = MarkKind::kGc;
  MonoNs begin;
  MonoNs end;
  std::uint32_t thread = 0;
  Iteration iteration{-1};
};

// A Python function that took long, seen whole; callers and callees alike.
struct FunctionCall {
  std::string name;  // as the source writes it: "train.py(26): log_metrics_to_remote"
  MonoNs begin;
  MonoNs end;
  std::uint32_t thread = 0;
  Iteration iteration{-1};
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_COMM_OP_H_
