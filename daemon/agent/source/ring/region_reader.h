// Reads one shared-memory region (daemon/abi/ring_layout.h) of a process that may be dying, hostile
// or half written.
//
// Used by ring_consumer, group_table, rank_session and window_watch. Opened by ring_directory.
//
// Model: nothing is mapped. Every access is a pread (pwrite for the agent's own words), so a file
// that is truncated or filled with garbage under us is an error value, never a SIGBUS. Sizes and
// offsets come from the fixed layout of our own version; the header's copies are only compared with
// it. A pread has no order inside itself; callers that need "commit, then payload" read twice, as
// ring_consumer explains.
//
// Thread-safety: thread-compatible; all const members may run concurrently.
// Ownership: owns the file descriptor. Move-only.
// Errors: Open: NotFound (vanished), Unavailable (tracer has not finished the header: try again),
//   InvalidArgument (refused; the message names the field). Reads: DataLoss where the file has
//   become too short, Internal for other errno.
// Cost: one system call a read, about 0.3 µs plus the copy (measured: tests/bench).
#ifndef FATHOM_DAEMON_AGENT_SOURCE_RING_REGION_READER_H_
#define FATHOM_DAEMON_AGENT_SOURCE_RING_REGION_READER_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/abi/event_record.h"
#include "daemon/abi/ring_layout.h"

namespace fathom::agent {

// Who wrote the region, as its header says. Strings are cut at NUL and hold printable bytes only.
struct RegionIdentity {
  std::uint32_t pid = 0;
  std::uint32_t generation = 0;
  std::uint64_t start_time_ticks = 0;
  std::int64_t created_mono_ns = 0;
  std::int64_t created_wall_ns = 0;
  std::uint32_t rank = abi::kNoPeer;
  std::uint32_t world_size = 0;
  std::uint32_t local_rank = abi::kNoPeer;
  std::uint32_t restart_count = 0;
  std::uint32_t sources = 0;
  std::string job;
  std::string run_id;
  std::string tracer_version;
};

// The control block at one moment. Words are read one system call apart from the records.
struct ControlSnapshot {
  std::uint64_t head = 0;
  std::uint64_t heartbeat_ns = 0;
  std::uint32_t group_count = 0;  // clamped to abi::kGroupSlots
  std::uint32_t arena_used = 0;   // clamped to abi::kMemberArenaBytes
  bool exiting = false;
  std::array<std::uint64_t, abi::kDropReasons> drops{};
  std::uint32_t sources_disabled = 0;  // SourceBit
  std::uint32_t plugin_mask = 0;
  std::uint32_t switch_asked = 0;  // ticket of the newest order
  std::uint32_t switched = 0;      // of the newest that took hold
  std::uint64_t switched_at = 0;   // sequence of the op at which it did
};

// abi::SwitchOrder without its ticket, as values.
struct SwitchWords {
  std::uint32_t group_slot = 0;
  std::uint64_t at_sequence = 0;
  std::uint32_t sources_disabled = 0;
  std::uint32_t plugin_mask = 0;
};

// abi::WindowRequest without its ticket, and abi::WindowState without `lost`, as values.
struct WindowOrder {
  std::uint32_t group_slot = 0;
  std::uint64_t open_sequence = 0;
  std::uint64_t close_sequence = 0;
  std::int64_t deadline_ns = 0;
  std::uint32_t sources = 0;
};
struct WindowSnapshot {
  std::uint32_t asked_ticket = 0;  // of the newest request, taken up or not
  std::uint32_t ticket = 0;
  abi::WindowPhase phase = abi::WindowPhase::kNone;
  abi::WindowReason reason = abi::WindowReason::kNone;
  std::uint64_t opened_sequence = 0;
  std::uint64_t closed_sequence = 0;
  std::int64_t opened_ns = 0;
  std::int64_t closed_ns = 0;
  std::uint64_t records = 0;
};

// An abi::TransferSlot in use, as values. `place` and `turn` name the transfer.
struct TransferSeen {
  std::uint32_t place = 0;
  std::uint32_t turn = 0;
  std::uint64_t op_id = 0;
  std::uint16_t group_slot = abi::kNoGroupSlot;
  std::uint32_t peer = 0;
  std::uint8_t channel = 0;
  bool sends = false;
  std::uint32_t steps = 0;
  std::array<std::uint32_t, 4> counts{};  // posted, gpu, moved, done
};

class RegionReader {
 public:
  static absl::StatusOr<RegionReader> Open(const std::string& path);

  RegionReader(RegionReader&& other) noexcept;
  RegionReader& operator=(RegionReader&& other) noexcept;
  ~RegionReader();

  const RegionIdentity& identity() const { return identity_; }
  uid_t owner() const { return owner_; }                        // of the file
  std::uint32_t record_count() const { return record_count_; }  // a power of two

  absl::StatusOr<ControlSnapshot> ReadControl() const;
  absl::StatusOr<std::uint64_t> ReadHead() const;

  // Fills `out` with the slots from `first`. Requires: first + out.size() <= record_count().
  absl::Status ReadRecords(std::uint32_t first, std::span<abi::EventRecord> out) const;

  // Raw bytes of `count` group slots from slot 0. Requires: count <= abi::kGroupSlots.
  absl::Status ReadGroupSlots(std::uint32_t count, std::vector<unsigned char>& out) const;

  // The transfers in flight. Empty where the tracer has no table of them. What was written while it
  // was read is left out.
  absl::StatusOr<std::vector<TransferSeen>> ReadTransfers() const;

  // Requires: offset + out.size() <= abi::kMemberArenaBytes.
  absl::Status ReadArena(std::uint32_t offset, std::span<unsigned char> out) const;

  // Tells the tracer that somebody reads. Never makes the file longer.
  absl::Status WriteHeartbeat(std::int64_t mono_ns) const;

  // Names of the functions that marks speak of, by number.
  absl::StatusOr<std::vector<std::string>> ReadFunctionNames() const;

  // Phase kNone where ticket or phase changed while it was read. Two system calls.
  absl::StatusOr<WindowSnapshot> ReadWindow() const;
  // Asks for a window under `ticket`: the fields first, the ticket last. Never makes the file
  // longer.
  absl::Status WriteWindowOrder(std::uint32_t ticket, const WindowOrder& order) const;

  // Whether the tracer knows of SwitchOrder.
  bool switchable() const { return version_minor_ >= 4; }
  // Orders `words` under `ticket`, ready to be taken up when this returns.
  absl::Status WriteSwitchOrder(std::uint32_t ticket, const SwitchWords& words) const;

 private:
  explicit RegionReader(int fd) : fd_(fd) {}
  absl::Status ReadHeader();
  absl::Status ReadAt(std::uint64_t offset, void* to, std::size_t bytes) const;
  // Requires: inside the control block.
  absl::Status WriteControl(std::size_t offset, const void* from, std::size_t bytes) const;

  int fd_ = -1;
  std::uint32_t record_count_ = 0;
  std::uint16_t version_minor_ = 0;
  std::uint64_t transfers_offset_ = 0;  // 0: there are none
  uid_t owner_ = 0;
  RegionIdentity identity_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_RING_REGION_READER_H_
