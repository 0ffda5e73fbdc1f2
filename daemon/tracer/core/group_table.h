// The communicators of the process: their slots in the region, and the way from an address to one.
//
// Written where the framework makes and destroys a group; read at every hook.
//
// Model: slots are handed out in order of construction and never again. Name, description and
// members come from the Python hook where there is one (ThreadState::pending); without it the slot
// holds order, size and own rank, and the agent matches groups by these.
// Thread-safety: thread-safe. A slot is claimed by a fetch_add and published by its `state`.
// Errors: kGroupTableFull (the group's ops carry no slot), kMemberArenaFull (members unknown).
// Cost: Find is hot (one load where the thread stays with a group, else a scan of the slots used).
#ifndef FATHOM_DAEMON_TRACER_CORE_GROUP_TABLE_H_
#define FATHOM_DAEMON_TRACER_CORE_GROUP_TABLE_H_

#include <cstdint>

#include "daemon/tracer/core/tracer_state.h"

namespace fathom::tracer {

// Makes a slot for the group at `address`, with `my_rank` of `size` members, and returns its index,
// or kNoGroupSlot.
std::uint16_t AddGroup(TracerState& state, abi::SourceBit backend, std::uint64_t address,
                       std::uint32_t my_rank, std::uint32_t size, PendingGroup& pending);

// Marks the group at `address` as gone. Nothing happens if there is none.
void RemoveGroup(TracerState& state, std::uint64_t address);

// What the group at `address` had in flight has been stopped now, by a call that has returned:
// of the one that went, whose address may be another's by now, or of the live one.
enum class Standing : std::uint8_t { kGone, kLive };
void NoteStopped(const TracerState& state, std::uint64_t address, Standing standing);

// The slot of the live group at `address`, looking at `hint` first; kNoGroupSlot if there is none.
inline std::uint16_t FindGroup(const TracerState& state, std::uint64_t address,
                               std::uint16_t hint) {
  if (hint < abi::kGroupSlots &&
      state.group_address[hint].load(std::memory_order_relaxed) == address) {
    return hint;
  }
  std::uint32_t used = state.region.control->group_count.load(std::memory_order_acquire);
  if (used > abi::kGroupSlots) used = abi::kGroupSlots;
  for (std::uint32_t slot = 0; slot < used; ++slot) {
    if (state.group_address[slot].load(std::memory_order_relaxed) == address) {
      return static_cast<std::uint16_t>(slot);
    }
  }
  return abi::kNoGroupSlot;
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_GROUP_TABLE_H_
