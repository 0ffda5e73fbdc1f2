#include "daemon/tracer/core/group_table.h"

#include <string.h>

#include "daemon/tracer/core/host/clock.h"
#include "daemon/tracer/core/host/text.h"

namespace fathom::tracer {
namespace {

enum SlotState : std::uint32_t { kBeingWritten = 1, kReady = 2, kGone = 3 };

void SetStrided(abi::GroupSlot* slot, std::uint32_t first, std::uint32_t stride,
                std::uint32_t count) {
  slot->member_form = static_cast<std::uint32_t>(abi::MemberForm::kStrided);
  slot->member_first = first;
  slot->member_stride = stride;
  slot->member_count = count;
}

bool IsStrided(const std::uint32_t* members, std::uint32_t count) {
  for (std::uint32_t i = 2; i < count; ++i) {
    if (members[i] - members[i - 1] != members[1] - members[0]) return false;
  }
  return count < 2 || members[1] > members[0];
}

void SetListed(const Region& region, abi::GroupSlot* slot, const PendingGroup& pending) {
  const std::uint32_t bytes = pending.member_count * 4;
  const bool fits_at_all = pending.member_count <= abi::kMemberArenaBytes / 4;
  std::atomic<std::uint32_t>& used = region.control->arena_used;
  std::uint32_t at = used.load(std::memory_order_relaxed);
  do {
    if (!fits_at_all || at > abi::kMemberArenaBytes - bytes) {
      CountDrop(region, abi::DropReason::kMemberArenaFull);
      return;
    }
  } while (!used.compare_exchange_weak(at, at + bytes, std::memory_order_relaxed));
  memcpy(region.arena + at, pending.members, bytes);
  slot->member_form = static_cast<std::uint32_t>(abi::MemberForm::kListed);
  slot->member_offset = at;
  slot->member_count = pending.member_count;
}

// The default group is announced without members: it has all ranks of the job.
void SetMembers(const Region& region, abi::GroupSlot* slot, const PendingGroup& pending) {
  if (pending.members_unknown) return;
  if (pending.member_count == 0) {
    SetStrided(slot, 0, 1, slot->size);
  } else if (pending.member_count != slot->size) {
    CountDrop(region, abi::DropReason::kInternal);
  } else if (IsStrided(pending.members, pending.member_count)) {
    const std::uint32_t stride =
        pending.member_count < 2 ? 1 : pending.members[1] - pending.members[0];
    SetStrided(slot, pending.members[0], stride, pending.member_count);
  } else {
    SetListed(region, slot, pending);
  }
}

// A second group made for one announcement (a debug wrapper's own) gets a name of its own.
void SetNames(abi::GroupSlot* slot, const PendingGroup& pending) {
  CopyText(slot->name, sizeof(slot->name), pending.name);
  CopyText(slot->description, sizeof(slot->description), pending.description);
  if (pending.made > 0) {
    AppendText(slot->name, sizeof(slot->name), "/");
    AppendNumber(slot->name, sizeof(slot->name), pending.made);
  }
}

}  // namespace

std::uint16_t AddGroup(TracerState& state, abi::SourceBit backend, std::uint64_t address,
                       std::uint32_t my_rank, std::uint32_t size, PendingGroup& pending) {
  const Region& region = state.region;
  std::atomic<std::uint32_t>& count = region.control->group_count;
  std::uint32_t index = count.load(std::memory_order_relaxed);
  do {
    if (index >= abi::kGroupSlots) {
      CountDrop(region, abi::DropReason::kGroupTableFull);
      return abi::kNoGroupSlot;
    }
  } while (!count.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel));

  abi::GroupSlot* slot = &region.groups[index];
  slot->state.store(kBeingWritten, std::memory_order_relaxed);
  slot->ordinal = index;
  slot->size = size;
  slot->my_rank = my_rank;
  slot->backend = backend;
  slot->address = address;
  if (pending.name != nullptr) {
    SetNames(slot, pending);
    SetMembers(region, slot, pending);
    ++pending.made;
  }
  slot->state.store(kReady, std::memory_order_release);
  state.group_address[index].store(address, std::memory_order_release);
  return static_cast<std::uint16_t>(index);
}

void RemoveGroup(TracerState& state, std::uint64_t address) {
  const std::uint16_t slot = FindGroup(state, address, abi::kNoGroupSlot);
  if (slot == abi::kNoGroupSlot) return;
  state.group_address[slot].store(0, std::memory_order_relaxed);
  state.region.groups[slot].state.store(kGone, std::memory_order_release);
}

void NoteStopped(const TracerState& state, std::uint64_t address, Standing standing) {
  const std::uint32_t wanted = standing == Standing::kGone ? kGone : kReady;
  std::uint32_t used = state.region.control->group_count.load(std::memory_order_acquire);
  if (used > abi::kGroupSlots) used = abi::kGroupSlots;
  for (std::uint32_t i = used; i-- > 0;) {  // the newest: an address is used again
    abi::GroupSlot& slot = state.region.groups[i];
    if (slot.state.load(std::memory_order_acquire) != wanted || slot.address != address) continue;
    slot.stopped_ns.store(static_cast<std::uint64_t>(MonotonicNs()), std::memory_order_release);
    return;
  }
}

}  // namespace fathom::tracer
