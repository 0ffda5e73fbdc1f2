// One event of a training process, as it lies in shared memory: 64 bytes, one cache line.
//
// Written by daemon/tracer, read by daemon/agent/source/ring. Drawn in docs/formats/ring.md.
//
//   byte  0        8        16    20 21 22 23 24   26   28    32       40        48      56     64
//        +--------+--------+-----+--+--+--+--+----+----+-----+--------+---------+-------+------+
//        |commit  |time_ns |tid  |rk|ck|dt|fl|grp |rd,r|peer |op_id   |sequence |bytes  |extra |
//        +--------+--------+-----+--+--+--+--+----+----+-----+--------+---------+-------+------+
//
// Model: an op is told by several records that share `op_id`. The thread that calls the API writes
// kOpEnter before the real call, and kOpReturn after it where that says something: the op is done
// or failed, the records before lack its number or its work, the call took long. The worker that
// carries it out writes kExecStart and kExecEnd; whoever blocks on it writes kWaitStart and
// kWaitEnd. Worker and waiter know the op by the address of its work object, which kOpReturn ties
// to `op_id`; they may come before it. Where they carry an op_id it is exact. An op that never ends
// simply has no later records. An op may be carried out in parts: then it has several
// kExecStart/kExecEnd pairs.
//
// Order: tickets follow the order of writing. One thread's records have rising time_ns, except a
// kMark begin or a kSyncStart that is written together with its end, with the earlier time.
//
// Units: time_ns and extra times in CLOCK_MONOTONIC ns of the node; bytes of the caller's buffer.
// Thread-safety and the commit protocol: ring_layout.h.
// Errors: the reader trusts no field; see daemon/agent/source/ring/record_validator.h.
// Compatibility: fields are only added, in `reserved` bytes or new RecordKinds, with a new minor.
#ifndef FATHOM_DAEMON_ABI_EVENT_RECORD_H_
#define FATHOM_DAEMON_ABI_EVENT_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace fathom::abi {

// What a record tells. `work` is the address of the framework's work object (an opaque key).
//
//   kind         thread   sequence        bytes           peer         extra
//   kOpEnter     caller   of the group    of the buffer   root / peer  thread CPU ns at entry
//   kOpReturn    caller   of the group    of the buffer   root / peer  work
//   kExecStart   worker   kNone           0               none         work
//   kExecEnd     worker   kNone           0               none         work
//   kWaitStart   waiter   kNone           0               none         work
//   kWaitEnd     waiter   kNone           0               none         work
//   kWire        worker   tag's sequence  on the wire     none         duration ns of the transport
//   kMark        any      kNone           value           none         MarkKind
//   kGpuStart    any      kNone           0               none         GPU clock ns, 0 = not told
//   kGpuEnd      any      kNone           GPU clock start none         GPU clock ns, 0 = not told
//   kDeviceCalls caller   counts          counts          launches     ns; see device_calls.h
//   kSyncStart   caller   kNone           0               none         SyncKind
//   kSyncEnd     caller   kNone           0               none         SyncKind
//   kProducts    caller   busy, products  FLOP            none         times; see products.h
//
// kOpEnter.extra is 0 where the CPU clock cannot be read without a system call (then the agent
// fills it in from /proc). kExec*, kWait* and kWire carry op_id where the tracer knows it, else 0.
// Of a point-to-point op kExecStart is on the calling thread, when the buffer is handed to the
// transport, kExecEnd on whatever thread sees the last byte go or come; their `work` may be 0.
// kOpEnter.sequence is the one that is due; kOpReturn.sequence the one the framework gave.
// kOpReturn without kFlagAsync: the op is done, and has no kExec* of its own.
// With kFlagDevice `extra` of kOpEnter and kOpReturn is the stream (an opaque key).
// kGpuStart, kGpuEnd: time_ns is when the host heard of it. An op in parts has several kGpuEnd.
// kSync*: a host thread blocks on its GPU. A thread is in one at a time, so the pair needs no
// op_id.
enum class RecordKind : std::uint8_t {
  kNone = 0,
  kOpEnter = 1,
  kOpReturn = 2,
  kExecStart = 3,
  kExecEnd = 4,
  kWaitStart = 5,
  kWaitEnd = 6,
  kWire = 7,
  kMark = 8,
  kGpuStart = 9,
  kGpuEnd = 10,
  // 11 to 15: free for communication.
  kDeviceCalls = 16,
  kSyncStart = 17,
  kSyncEnd = 18,
  kProducts = 19,
};
inline constexpr std::uint8_t kRecordKindCount = 20;

// What a host thread waits for in kSyncStart and kSyncEnd.
enum class SyncKind : std::uint64_t {
  kNone = 0,
  kDevice = 1,  // all work of a device or context
  kStream = 2,
  kEvent = 3,
  kCopy = 4,    // a copy that returns when it is done
  kLaunch = 5,  // a launch that blocked: the queue of the GPU is full, or code is being loaded
};
inline constexpr std::uint64_t kSyncKindCount = 6;

// What a kMark says. `bytes` holds its value, `op_id` pairs a begin with its end.
enum class MarkKind : std::uint64_t {
  kNone = 0,
  kGcBegin = 1,          // Python garbage collection; bytes = generation
  kGcEnd = 2,            // bytes = objects collected
  kDataLoaderBegin = 3,  // the training thread asks its DataLoader for a batch
  kDataLoaderEnd = 4,    // bytes = elements of the batch's largest tensor; 0 = not known
  kFunctionBegin = 5,    // a function that is timed; bytes = its number in function_names
  kFunctionEnd = 6,      // the same
};
inline constexpr std::uint64_t kMarkKindCount = 7;

enum RecordFlag : std::uint8_t {
  kFlagAsync = 1,          // the call returned before the op was done
  kFlagBytesUnknown = 2,   // bytes could not be had at the API; kWire may tell
  kFlagSequenceGuess = 4,  // counted by the tracer, not taken from the framework's tag
  kFlagFailed = 8,         // the real call threw or reported an error
  kFlagWaitAll = 16,       // kWait*: for op_id and all ops this thread entered before it
  kFlagDevice = 32,        // runs on a GPU, in the order of its stream
  kFlagCaptured = 64,      // went into a graph that is being built: it does not run now
};

inline constexpr std::uint16_t kNoGroupSlot = 0xffff;
inline constexpr std::uint32_t kNoPeer = 0xffffffff;
inline constexpr std::uint64_t kNoSequence64 = ~std::uint64_t{0};

struct EventRecord {
  std::uint64_t commit;  // ticket + 1 once complete; see ring_layout.h
  std::int64_t time_ns;
  std::uint32_t thread_id;       // kernel tid, as gettid() gives it
  std::uint8_t record_kind;      // RecordKind
  std::uint8_t collective_kind;  // fathom::CollectiveKind
  std::uint8_t data_type;        // fathom::DataType; of kProducts fathom::FlopClass
  std::uint8_t flags;            // RecordFlag bits
  std::uint16_t group_slot;      // index into the group table, or kNoGroupSlot
  std::uint8_t reduction;        // of kOpEnter and kOpReturn: ncclRedOp_t + 1; 0 = none or not told
  std::uint8_t reserved;         // zero
  std::uint32_t peer;            // rank inside the group (root or other end), or kNoPeer
  std::uint64_t op_id;           // op: ticket of its kOpEnter + 1; mark: its pair; 0 = not known
  std::uint64_t sequence;        // per group, or kNoSequence64
  std::uint64_t bytes;
  std::uint64_t extra;
};

static_assert(sizeof(EventRecord) == 64);
static_assert(alignof(EventRecord) == 8);
static_assert(std::is_trivially_copyable_v<EventRecord> && std::is_standard_layout_v<EventRecord>);
static_assert(offsetof(EventRecord, commit) == 0);
static_assert(offsetof(EventRecord, time_ns) == 8);
static_assert(offsetof(EventRecord, thread_id) == 16);
static_assert(offsetof(EventRecord, record_kind) == 20);
static_assert(offsetof(EventRecord, group_slot) == 24);
static_assert(offsetof(EventRecord, peer) == 28);
static_assert(offsetof(EventRecord, op_id) == 32);
static_assert(offsetof(EventRecord, sequence) == 40);
static_assert(offsetof(EventRecord, bytes) == 48);
static_assert(offsetof(EventRecord, extra) == 56);

}  // namespace fathom::abi

#endif  // FATHOM_DAEMON_ABI_EVENT_RECORD_H_
