// What the tracer keeps for a thread: its kernel id, the frames of hooks it is inside of, and the
// group Python is making on it.
//
// Model: a hook that calls the real function puts a Frame on its own stack and links it here. The
// innermost frame tells nested calls of the framework from calls of the job. Frames are unlinked on
// return, and by the unwinder when the real function throws (interpose/unwind.h).
// Thread-safety: each thread sees its own. TLS is initial-exec and trivially initialised: reading
// it never allocates. Validity: `epoch` ties it to one activation; a forked child starts afresh.
// Cost: hot path.
#ifndef FATHOM_DAEMON_TRACER_CORE_THREAD_STATE_H_
#define FATHOM_DAEMON_TRACER_CORE_THREAD_STATE_H_

#include <cstdint>

#include "daemon/abi/device_calls.h"
#include "daemon/tracer/core/host/thread_clock.h"
#include "daemon/tracer/core/ring/packed_record.h"
#include "daemon/tracer/core/table/address_table.h"

namespace fathom::tracer {

enum class FrameType : std::uint8_t { kOp, kWait, kExec };

// A hook in progress. `entry` is its record as begun: what its end repeats.
struct Frame {
  Frame* outer = nullptr;
  FrameType type = FrameType::kOp;
  bool saw_tag = false;     // kOp: the framework gave its sequence
  bool news = false;        // kOp: its entry or the table of works lacks what its return can tell
  bool ended = false;       // kExec: its end is written already; kOp on a GPU: counted as done
  bool end_told = false;    // kOp on a GPU: its entry says that its end will be told
  bool alone = false;       // kOp on a GPU: no other thread counts its group's progress
  std::uint32_t works = 0;  // kOp: asynchronous works made inside
  std::uint32_t graph_place = 0;       // kOp that goes into a graph: CapturedOp
  std::uint32_t graph_generation = 0;  // the same
  std::uint64_t ticks = 0;             // kOp: the counter at entry
  PackedRecord entry;  // filled by whatever begins the frame: clearing it twice costs 10 ns
};

// What the Python hook says of the group that is made next on this thread.
struct PendingGroup {
  const char* name = nullptr;  // null: nothing pending
  const char* description = nullptr;
  const std::uint32_t* members = nullptr;
  std::uint32_t member_count = 0;
  bool members_unknown = false;  // else no members means all ranks of the job
  std::uint32_t made = 0;        // groups constructed since it was announced
};

// The CUDA calls of a thread since its last kDeviceCalls record; see device_calls.h.
struct DeviceThread {
  std::uint32_t inside = 0;     // in a hooked call: what is called now is the library's own doing
  std::uint32_t capturing = 0;  // calls go into a graph
  std::uint32_t to_sample = 1;  // calls until the next one that is timed
  std::uint32_t random = 0;     // state of the generator that draws it
  std::uint32_t calls = 0;      // counted in `sum`, and products of matrices
  std::int64_t since_ns = 0;    // time of the first sample since the last record; 0: none yet
  abi::DeviceCalls sum;
};

// The products of matrices of a thread since its last kProducts record; see products.h.
struct ProductThread {
  std::int64_t begin_ns = 0;  // of its stretch, where count is not 0
  std::int64_t end_ns = 0;
  std::int64_t busy_ns = 0;
  std::uint32_t count = 0;      // in the stretch
  std::uint32_t uncounted = 0;  // DeviceThread::calls that are products
  std::uint32_t tf32 = 0;       // the library was told last that FP32 may be multiplied as TF32
};

struct ThreadState {
  Frame* frame = nullptr;  // innermost
  std::uint32_t epoch = 0;
  std::uint32_t thread_id = 0;
  OpRef last_op;                                 // last collective entered here
  std::uint16_t group_hint = abi::kNoGroupSlot;  // where to look for a group first
  PendingGroup pending;
  ThreadClock clock;
  DeviceThread device;
  ProductThread products;
};

extern constinit thread_local ThreadState thread_state __attribute__((visibility("hidden")));

// Now, CLOCK_MONOTONIC, as this thread's records tell it.
inline Moment Now() { return Now(thread_state.clock); }
inline std::int64_t NowNs() { return Now().ns; }

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_THREAD_STATE_H_
