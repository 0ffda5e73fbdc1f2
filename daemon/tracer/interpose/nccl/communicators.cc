#include "daemon/tracer/interpose/nccl/communicators.h"

#include <errno.h>
#include <string.h>

#include "daemon/tracer/core/host/text.h"
#include "daemon/tracer/interpose/caller_binding.h"
#include "daemon/tracer/interpose/nccl/device.h"
#include "daemon/tracer/nccl_plugin/contexts.h"

namespace fathom::tracer::nccl {
namespace {

enum Standing : std::uint32_t { kWaits = 0, kAnnounced = 1, kRefused = 2 };

struct Entry {
  std::atomic<std::uint64_t> address;  // 0: free
  std::atomic<std::uint32_t> standing;
  std::atomic<std::uint32_t> children;
  std::atomic<bool> device_due;  // announced before it could be asked for its device
  std::uint64_t identity;
  void* library;  // null: not known
  std::uint32_t size;
  std::uint32_t rank;
  char user_name[abi::kNameBytes];
};

// Outside the mapping that a fork empties: `table_epoch` tells a child that it is its parent's.
constinit Entry table[kMaxCommunicators];
constinit std::atomic<std::uint32_t> table_epoch{0};
constinit std::atomic<bool> some_device_due{false};  // ever

constinit CallerBinding count_binding;
constinit CallerBinding rank_binding;

void ForgetParents(const TracerState& state) {
  std::uint32_t epoch = table_epoch.load(std::memory_order_acquire);
  if (epoch == state.epoch) return;
  if (!table_epoch.compare_exchange_strong(epoch, state.epoch, std::memory_order_acq_rel)) return;
  for (Entry& entry : table) entry.address.store(0, std::memory_order_release);
}

Entry* Find(const TracerState& state, Comm comm) {
  ForgetParents(state);
  for (Entry& entry : table) {
    if (entry.address.load(std::memory_order_acquire) == reinterpret_cast<std::uint64_t>(comm)) {
      return &entry;
    }
  }
  return nullptr;
}

Entry* Claim(const TracerState& state, Comm comm) {
  if (Entry* entry = Find(state, comm); entry != nullptr) return entry;
  for (Entry& entry : table) {
    std::uint64_t free = 0;
    if (entry.address.compare_exchange_strong(free, reinterpret_cast<std::uint64_t>(comm),
                                              std::memory_order_acq_rel)) {
      return &entry;
    }
  }
  return nullptr;
}

bool Ask(CallerBinding* binding, const char* name, const Entry& entry, Comm comm,
         std::uint32_t* out) {
  void* real = entry.library != nullptr
                   ? BoundFor(binding, name, entry.library, FirstScope::kCallers)
                   : BoundFor(binding, name, __builtin_return_address(0), FirstScope::kGlobal);
  int value = -1;
  if (real == nullptr || reinterpret_cast<int (*)(Comm, int*)>(real)(comm, &value) != kSuccess) {
    return false;
  }
  *out = static_cast<std::uint32_t>(value);
  return value >= 0;
}

bool AskSize(Entry* entry, Comm comm) {
  if (entry->size != 0) return true;
  const int saved = errno;
  std::uint32_t size = 0;
  const bool told = Ask(&count_binding, "ncclCommCount", *entry, comm, &size) &&
                    Ask(&rank_binding, "ncclCommUserRank", *entry, comm, &entry->rank);
  errno = saved;
  if (told) entry->size = size;
  return told && size != 0;
}

void NameOfIdentity(char (&name)[abi::kNameBytes], std::uint64_t identity) {
  CopyText(name, sizeof(name), "nccl-");
  char digits[17] = {};
  for (int i = 15; i >= 0; --i, identity >>= 4) digits[i] = "0123456789abcdef"[identity & 15];
  AppendText(name, sizeof(name), digits);
}

// Of a communicator that is taken to be ready now: another thread's group may still make it.
void TellDeviceDue(const TracerState& state, Entry& entry, Comm comm) {
  if (!entry.device_due.exchange(false, std::memory_order_acq_rel)) return;
  const std::uint16_t slot =
      FindGroup(state, reinterpret_cast<std::uint64_t>(comm), abi::kNoGroupSlot);
  if (slot == abi::kNoGroupSlot) return;
  if (!TellDevice(comm, entry.library, &state.region.groups[slot])) entry.device_due.store(true);
}

// What Python announced on this thread, if it is of this communicator's size.
bool IsAnnounced(const TracerState& state, std::uint32_t size) {
  const PendingGroup& pending = thread_state.pending;
  if (pending.name == nullptr) return false;
  return pending.member_count == 0 ? size == state.region.header->world_size
                                   : size == pending.member_count;
}

std::uint16_t AddSlot(TracerState& state, Entry* entry, Comm comm) {
  const auto address = reinterpret_cast<std::uint64_t>(comm);
  std::uint16_t slot = abi::kNoGroupSlot;
  if (IsAnnounced(state, entry->size)) {
    slot =
        AddGroup(state, abi::kSourceNccl, address, entry->rank, entry->size, thread_state.pending);
  } else {
    char name[abi::kNameBytes] = {};
    PendingGroup own;
    if (entry->identity != 0) NameOfIdentity(name, entry->identity);
    own.name = name;
    own.description = entry->user_name;
    own.members_unknown = true;
    slot = AddGroup(state, abi::kSourceNccl, address, entry->rank, entry->size, own);
  }
  const bool added = slot != abi::kNoGroupSlot;
  entry->standing.store(added ? kAnnounced : kRefused, std::memory_order_release);
  if (!added) return slot;
  nccl_plugin::BindNewest(state, slot);
  if (!entry->device_due.load(std::memory_order_acquire)) {
    TellDevice(comm, entry->library, &state.region.groups[slot]);
  }
  return slot;
}

}  // namespace

IdentityHash& IdentityHash::Add(const void* bytes, std::size_t count) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ at[i]) * 0x100000001b3;
  return *this;
}

void NoteMade(TracerState& state, Comm comm, const Birth& birth, bool ready) {
  Entry* entry = comm == nullptr ? nullptr : Claim(state, comm);
  if (entry == nullptr) return;
  entry->standing.store(kWaits, std::memory_order_relaxed);
  entry->children.store(0, std::memory_order_relaxed);
  entry->identity = birth.identity;
  entry->library = birth.library;
  entry->size = birth.size;
  entry->rank = birth.rank;
  CopyText(entry->user_name, sizeof(entry->user_name), birth.user_name);
  const bool device_due = birth.size != 0 && !ready;
  entry->device_due.store(device_due, std::memory_order_release);
  if (device_due) some_device_due.store(true, std::memory_order_relaxed);
  if (birth.size != 0 || ready) Announce(state, comm);
}

void NoteGone(TracerState& state, Comm comm) {
  RemoveGroup(state, reinterpret_cast<std::uint64_t>(comm));
  if (Entry* entry = Find(state, comm); entry != nullptr) entry->address.store(0);
}

void NoteRevoked(TracerState& state, Comm comm) {
  Entry* entry = Find(state, comm);
  if (entry != nullptr) entry->standing.store(kRefused, std::memory_order_release);
  RemoveGroup(state, reinterpret_cast<std::uint64_t>(comm));
}

std::uint64_t IdentityOf(const TracerState& state, Comm comm) {
  const Entry* entry = Find(state, comm);
  return entry == nullptr ? 0 : entry->identity;
}

std::uint32_t DrawChild(const TracerState& state, Comm comm) {
  Entry* entry = Find(state, comm);
  return entry == nullptr ? 0 : entry->children.fetch_add(1, std::memory_order_relaxed);
}

bool WaitsToBeAsked(const TracerState& state, Comm comm) {
  const std::uint16_t slot =
      FindGroup(state, reinterpret_cast<std::uint64_t>(comm), abi::kNoGroupSlot);
  if (slot == abi::kNoGroupSlot) return true;
  return some_device_due.load(std::memory_order_relaxed) &&
         state.region.groups[slot].device.load(std::memory_order_relaxed) == 0;
}

void AnnounceReady(TracerState& state, Comm comm) {
  ForgetParents(state);
  for (Entry& entry : table) {
    const std::uint64_t address = entry.address.load(std::memory_order_acquire);
    const bool meant = comm == nullptr || address == reinterpret_cast<std::uint64_t>(comm);
    if (address == 0 || !meant) continue;
    const auto ready = reinterpret_cast<Comm>(address);
    if (entry.standing.load() == kWaits) Announce(state, ready);
    TellDeviceDue(state, entry, ready);
  }
}

std::uint16_t Announce(TracerState& state, Comm comm) {
  Entry* entry = Find(state, comm);
  if (entry == nullptr) {  // made before the tracer came, or by a function that is not known
    entry = Claim(state, comm);
    if (entry == nullptr) return abi::kNoGroupSlot;
    entry->identity = 0;
    entry->library = nullptr;
    entry->size = 0;
    entry->user_name[0] = '\0';
    entry->device_due.store(false, std::memory_order_relaxed);
    entry->standing.store(kWaits, std::memory_order_relaxed);
  }
  if (entry->standing.load(std::memory_order_acquire) != kWaits) return abi::kNoGroupSlot;
  if (!AskSize(entry, comm)) return abi::kNoGroupSlot;
  return AddSlot(state, entry, comm);
}

}  // namespace fathom::tracer::nccl
