// The shared-memory region of one training process: header, control, groups, members, ring.
//
// One file per process, `<pid>-<generation>.ring` in FATHOM_SHM_DIR, created and written by
// daemon/tracer, read by daemon/agent (which owns the folder, writes only ControlBlock, and
// unlinks the file when the process is gone). docs/formats/ring.md draws it and tells why.
//
//   offset 0        4096            8192                +64 KiB          +64 KiB
//   +--------------+---------------+-------------------+----------------+---------------------+
//   | RegionHeader | ControlBlock  | GroupSlot[256]    | member arena   | EventRecord[2^k]    |
//   | written once | agent+counters| written at group  | append only    | overwritten oldest  |
//   +--------------+---------------+ construction      +----------------+ first               |
//                                  +-------------------+                +---------------------+
//                                                        behind them:   | TransferSlot[1024]  |
//                                                                       +---------------------+
//
// Commit protocol (many writers, no lock; any number of readers):
//   1. ticket = head.fetch_add(1)                       slot = ticket & (capacity - 1)
//   2. slot.commit: compare-and-swap to 0, release fence a reader sees "being written"
//      A writer that finds 0 (on a later lap) or a newer ticket gives its record up: another
//      writer, a whole lap away, is in the slot, and two must never mix their bytes.
//   3. write the other 56 bytes                          (relaxed)
//   4. slot.commit.store(ticket + 1, release)            complete
//   A reader that wants ticket t loads commit (acquire): t + 1 → copy, acquire fence, load commit
//   again, equal → valid. Larger → overwritten (lost). Smaller with head far ahead → a writer died
//   or sleeps in the middle of its record: skipped after a while and counted as torn.
//
// Full ring: the writer never waits and never looks at the reader; the oldest record is lost and
// the reader counts it. (A flight recorder: the newest is what matters, also to an agent that
// comes late.) Rejected alternatives and the measurement: docs/design/0001-ring.md.
//
// Zero-filled memory is an empty, valid ring without groups. All integers are little-endian.
// Version: major changes break; minor ones only use reserved bytes.
// Cost: a record is one relaxed fetch_add and one cache line written.
#ifndef FATHOM_DAEMON_ABI_RING_LAYOUT_H_
#define FATHOM_DAEMON_ABI_RING_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "daemon/abi/detail_window.h"
#include "daemon/abi/event_record.h"
#include "daemon/abi/source_switch.h"
#include "daemon/abi/transfer_slot.h"

namespace fathom::abi {

inline constexpr std::uint64_t kMagic = 0x31474e524d485446;  // "FTHMRNG1" in memory
inline constexpr std::uint16_t kVersionMajor = 1;
inline constexpr std::uint16_t kVersionMinor = 8;

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::uint32_t kGroupSlots = 256;
inline constexpr std::uint32_t kMemberArenaBytes = 64 * 1024;
inline constexpr std::uint32_t kMinRecords = 1024;           //   64 KiB
inline constexpr std::uint32_t kMaxRecords = 1024 * 1024;    //   64 MiB
inline constexpr std::uint32_t kDefaultRecords = 16 * 1024;  //    1 MiB (FATHOM_RING_KIB=1024)

inline constexpr std::size_t kNameBytes = 64;
inline constexpr std::size_t kBusIdBytes = 20;
inline constexpr std::uint32_t kFunctionNames = 32;
inline constexpr std::size_t kFunctionNameBytes = 96;

// Why the tracer did less than it could. Counters in ControlBlock::drops; never renumbered.
enum class DropReason : std::uint8_t {
  kReentrant = 0,          // a hook was entered from inside a hook
  kGroupTableFull = 1,     // more than kGroupSlots groups
  kMemberArenaFull = 2,    // members of a group not stored; size and name are
  kSymbolMissing = 3,      // the real function could not be found; that hook is off
  kBadSetting = 4,         // an environment variable with a bad value; its feature is off
  kAfterFork = 5,          // events of a forked child that has no ring of its own
  kSequenceMismatch = 6,   // the framework's tag and our own count disagree
  kInternal = 7,           // anything that should not happen
  kPluginUnmatched = 8,    // an event of the NCCL profiler whose op is not known, or given up
  kTransferTableFull = 9,  // a transfer of an op without a free TransferSlot
  kGraphTableFull = 10,    // a captured graph whose ops are not told, or one of its ops
};
inline constexpr std::size_t kDropReasons = 16;

// Sources: those in place (RegionHeader::sources), those silenced (ControlBlock::sources_disabled).
enum SourceBit : std::uint32_t {
  kSourceGloo = 1,
  kSourcePython = 2,
  kSourceNccl = 4,
  kSourceCuda = 8,
  kSourceNcclPlugin = 16,
  kSourceCupti = 32,
  kSourceNcclTransfers = 64,  // of the profiler plugin: TransferSlot
  kSourceProducts = 128,      // of matrices, by the BLAS of the CPU and by cuBLAS
};
// Those that may be switched while a job runs (source_switch.h tells why the others may not).
inline constexpr std::uint32_t kSwitchableSources = kSourcePython | kSourceCuda |
                                                    kSourceNcclPlugin | kSourceCupti |
                                                    kSourceNcclTransfers | kSourceProducts;

// Written by the tracer before `ready` is set, then never again.
struct RegionHeader {
  std::uint64_t magic;
  std::uint16_t version_major;
  std::uint16_t version_minor;
  std::uint32_t header_bytes;  // sizeof(RegionHeader), for additive growth
  std::uint64_t region_bytes;  // the whole file
  std::uint32_t record_bytes;  // sizeof(EventRecord)
  std::uint32_t record_count;  // a power of two
  std::uint64_t control_offset;
  std::uint64_t groups_offset;
  std::uint32_t group_slots;
  std::uint32_t group_bytes;  // sizeof(GroupSlot)
  std::uint64_t arena_offset;
  std::uint64_t arena_bytes;
  std::uint64_t records_offset;

  std::uint32_t pid;               // in the process's own pid namespace
  std::uint32_t generation;        // 0 for the first region of a pid, +1 after each exec or fork
  std::uint64_t start_time_ticks;  // field 22 of /proc/self/stat: with pid, names the process
  std::int64_t created_mono_ns;    // CLOCK_MONOTONIC and
  std::int64_t created_wall_ns;    // CLOCK_REALTIME, read together
  std::uint32_t rank;              // global rank; kNoPeer when unknown
  std::uint32_t world_size;        // 0 when unknown
  std::uint32_t local_rank;        // kNoPeer when unknown
  std::uint32_t restart_count;     // torchrun's TORCHELASTIC_RESTART_COUNT, else 0
  std::uint32_t sources;           // SourceBit: hooks in place
  std::uint32_t identity_source;   // IdentitySource
  char job[kNameBytes];            // FATHOM_JOB, or made from the launcher's variables; NUL-ended
  char run_id[kNameBytes];         // TORCHELASTIC_RUN_ID, SLURM_JOB_ID …; may be empty
  char tracer_version[16];
  std::atomic<std::uint32_t> ready;  // 1 once all of this is written (release)
  std::uint32_t reserved;

  // From minor version 3 on; `region_bytes` ends before it. 0: there is none.
  std::uint64_t transfers_offset;
  std::uint32_t transfer_slots;
  std::uint32_t transfer_bytes;  // sizeof(TransferSlot)
};
// What a header of an earlier minor version holds.
inline constexpr std::size_t kFirstHeaderBytes = offsetof(RegionHeader, transfers_offset);

enum class IdentitySource : std::uint32_t { kNone = 0, kTorchrun = 1, kSlurm = 2, kMpi = 3 };

// The only page both sides write. Agent's words and tracer's words lie on different cache lines,
// but for the two that an order changes.
struct ControlBlock {
  // Agent → tracer; the first two the tracer writes where an order takes hold.
  alignas(64) std::atomic<std::uint32_t> sources_disabled;  // SourceBit; read relaxed at each hook
  std::atomic<std::uint32_t> plugin_mask;                   // kPluginMaskSet | events; 0: default
  std::atomic<std::uint64_t> agent_heartbeat_ns;  // CLOCK_MONOTONIC of the agent's last look
  SwitchOrder switch_order;                       // from minor version 4 on

  // Tracer → agent. head is alone on its line: every writer adds to it.
  alignas(64) std::atomic<std::uint64_t> head;          // tickets handed out
  alignas(64) std::atomic<std::uint64_t> next_op_id;    // last number of a pair of marks
  alignas(64) std::atomic<std::uint64_t> heartbeat_ns;  // time of the last API entry
  std::atomic<std::uint32_t> group_count;               // slots used, ≤ kGroupSlots
  std::atomic<std::uint32_t> arena_used;                // bytes of the member arena used
  std::atomic<std::uint32_t> exiting;                   // 1: orderly exit began
  std::uint32_t tracer_reserved0;
  SwitchState switch_state;
  alignas(64) std::atomic<std::uint64_t> drops[kDropReasons];

  alignas(64) WindowRequest window_request;  // agent → tracer
  alignas(64) WindowState window_state;      // tracer → agent

  // Tracer → agent: functions that marks speak of (MarkKind::kFunctionBegin), NUL-ended. Those
  // below function_count are complete (release) and stay.
  alignas(64) std::atomic<std::uint32_t> function_count;
  std::uint32_t reserved1[127];
  char function_names[kFunctionNames][kFunctionNameBytes];
};

// ControlBlock::plugin_mask: the event bits of the NCCL profiler plugin that are wanted now, with
// kPluginMaskSet so that "no event" can be told from "the tracer's default".
inline constexpr std::uint32_t kPluginMaskSet = 1u << 31;

// How the members of a group are stored in the arena.
enum class MemberForm : std::uint32_t {
  kUnknown = 0,  // the tracer could not learn them
  kStrided = 1,  // first, stride in member_first, member_stride; member_count of them
  kListed = 2,   // member_count u32 at arena[member_offset]
};

// One communicator of the process. `state`: 0 empty, 1 being written, 2 ready (release), 3 gone.
// The progress words change all the time; they are the O(1) view of what is in flight.
struct GroupSlot {
  std::atomic<std::uint32_t> state;
  std::uint32_t ordinal;      // order of construction in the process, from 0
  std::uint32_t size;         // members
  std::uint32_t my_rank;      // this process's rank inside the group
  std::uint32_t member_form;  // MemberForm
  std::uint32_t member_count;
  std::uint32_t member_first;
  std::uint32_t member_stride;
  std::uint32_t member_offset;  // bytes into the arena
  std::uint32_t backend;        // SourceBit of the source that made it
  std::uint64_t address;        // of the framework's group object, an opaque key
  char name[kNameBytes];  // the framework's name, equal on all members; NUL-ended, may be empty
  char description[kNameBytes];          // e.g. "default_pg", "TENSOR"; NUL-ended, may be empty
  std::atomic<std::uint64_t> entered;    // collectives entered at the API (count)
  std::atomic<std::uint64_t> started;    // taken up by a worker
  std::atomic<std::uint64_t> completed;  // ended
  // CLOCK_MONOTONIC; 0: never. From minor version 5 on. What was entered before is in flight no
  // more, whether its end was told or not: the call that aborts, destroys, revokes or cuts short
  // the communicator has returned.
  std::atomic<std::uint64_t> stopped_ns;
  // The GPU that carries the communicator's ops, as the process counts its devices, plus 1; 0: not
  // known. From minor version 6 on. Written once, behind bus_id (release), some time after the slot
  // is ready where the communicator could not be asked at once.
  std::atomic<std::uint32_t> device;
  char bus_id[kBusIdBytes];  // as the CUDA driver spells it; NUL-ended, empty where not known
  std::uint64_t reserved[3];
};

static_assert(sizeof(RegionHeader) <= kPageBytes);
static_assert(sizeof(ControlBlock) <= kPageBytes);
static_assert(sizeof(GroupSlot) == 256);
static_assert(offsetof(RegionHeader, pid) == 80);
static_assert(offsetof(RegionHeader, job) == 136);
static_assert(offsetof(RegionHeader, ready) == 280);
static_assert(kFirstHeaderBytes == 288);
static_assert(offsetof(ControlBlock, head) == 64);
static_assert(offsetof(ControlBlock, plugin_mask) == 4);
static_assert(offsetof(ControlBlock, switch_order) == 16);
static_assert(offsetof(ControlBlock, switch_state) == 216);
static_assert(offsetof(ControlBlock, drops) == 256);
static_assert(offsetof(ControlBlock, window_request) == 384);
static_assert(offsetof(ControlBlock, window_state) == 448);
static_assert(offsetof(ControlBlock, function_count) == 512);
static_assert(offsetof(ControlBlock, function_names) == 1024);
static_assert(offsetof(GroupSlot, name) == 48);
static_assert(offsetof(GroupSlot, entered) == 176);
static_assert(offsetof(GroupSlot, stopped_ns) == 200);
static_assert(offsetof(GroupSlot, device) == 208);
static_assert(offsetof(GroupSlot, bus_id) == 212);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

inline constexpr std::size_t kControlOffset = kPageBytes;
inline constexpr std::size_t kGroupsOffset = 2 * kPageBytes;
inline constexpr std::size_t kArenaOffset = kGroupsOffset + kGroupSlots * sizeof(GroupSlot);
inline constexpr std::size_t kRecordsOffset = kArenaOffset + kMemberArenaBytes;
static_assert(kRecordsOffset % 64 == 0);

// Up to the end of `records` records; the transfers follow. Requires: records is a power of two.
constexpr std::size_t RegionBytes(std::uint32_t records) {
  return kRecordsOffset + std::size_t{records} * sizeof(EventRecord);
}
// Of the whole file.
constexpr std::size_t FileBytes(std::uint32_t records) {
  return RegionBytes(records) + kTransferSlots * sizeof(TransferSlot);
}

}  // namespace fathom::abi

#endif  // FATHOM_DAEMON_ABI_RING_LAYOUT_H_
