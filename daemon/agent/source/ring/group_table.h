// The communicators of one process, as its region's group table tells them.
//
// Used by pipeline/rank_pipeline (identity, members, progress) through the poll loop.
//
// Model: a slot is believed once `state` was ready (2) or gone (3) in a first copy and its other
// fields are taken from a second one. Members are a stride or a list in the arena; every number is
// checked against the table's own bounds, and members that make no sense leave the group without
// members rather than wrong ones (counted in `members_rejected`). Slots never change once ready,
// except their state, the progress words and the device, which may be told later; known slots are
// not decoded again. A device that makes no sense is none (counted in `devices_rejected`).
//
// Thread-safety: single-threaded, owned by the poll loop.
// Errors: those of RegionReader.
// Cost: one or two system calls a refresh, 256 bytes a group.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_RING_GROUP_TABLE_H_
#define FATHOM_DAEMON_AGENT_SOURCE_RING_GROUP_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/agent/source/ring/region_reader.h"
#include "proto/types/gpu.h"

namespace fathom::agent {

struct GroupFacts {
  bool ready = false;  // false: still being written; nothing else is set
  bool gone = false;
  std::uint32_t ordinal = 0;
  std::uint32_t size = 0;
  std::uint32_t my_rank = 0;
  std::uint32_t backend = 0;
  std::uint64_t address = 0;
  std::string name;
  std::string description;
  std::vector<std::uint32_t> members;  // global ranks in group order; empty when not known
  bool device_told = false;            // whether it made sense or not
  std::optional<Gpu> gpu;              // without its UUID
};

struct GroupProgress {
  std::uint64_t entered = 0;
  std::uint64_t started = 0;
  std::uint64_t completed = 0;
  std::int64_t stopped_ns = 0;  // what was entered before is in flight no more; 0: never
};

class GroupTable {
 public:
  // Largest group whose members are believed; more would not fit the arena.
  static constexpr std::uint32_t kMaxMembers = 1u << 20;

  // Requires: `region` outlives the table.
  explicit GroupTable(const RegionReader& region) : region_(region) {}

  // Takes in slots [0, count) and all progress words.
  absl::Status Refresh(std::uint32_t count);

  // By group slot. Views stay valid until the next Refresh.
  std::span<const GroupFacts> groups() const { return groups_; }
  std::span<const GroupProgress> progress() const { return progress_; }
  std::uint64_t members_rejected() const { return members_rejected_; }
  std::uint64_t devices_rejected() const { return devices_rejected_; }

 private:
  void TakeSlot(std::uint32_t index, std::span<const unsigned char> slot);
  std::optional<std::vector<std::uint32_t>> MembersOf(std::span<const unsigned char> slot);
  bool TellsDevice(std::uint32_t index, std::span<const unsigned char> slot) const;
  void TakeDevice(std::span<const unsigned char> slot, GroupFacts& facts);

  const RegionReader& region_;
  std::vector<unsigned char> first_look_;
  std::vector<unsigned char> second_look_;
  std::vector<GroupFacts> groups_;
  std::vector<GroupProgress> progress_;
  std::uint64_t members_rejected_ = 0;
  std::uint64_t devices_rejected_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_RING_GROUP_TABLE_H_
