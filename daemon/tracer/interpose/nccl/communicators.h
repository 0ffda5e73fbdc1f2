// NCCL's communicators of this process: their identity, equal on all members, and their group
// slots.
//
// Used by the shims of daemon/tracer/interpose/nccl.
//
// Model: identity is a hash of what all members share when they make it:
//   init        the bytes of the unique id
//   split       parent's identity, how many children the parent had, colour
//   shrink      the same with the excluded ranks in place of the colour
// A communicator made by ncclCommGrow has none: no value is known to its old and its new members
// alike. Neither has one that was made before the tracer came. They are named by nothing, and the
// agent matches them by order and size.
// A split does not tell its rank and size, and inside a group or with blocking = 0 it cannot be
// asked yet: such a communicator waits here and gets its slot when its first op, the end of the
// group or ncclCommGetAsyncError finds it ready.
// Asked is the copy of NCCL that made it, of several in a process.
// Where the device of a communicator is not known yet (device.h), it is asked for at these moments
// too.
// Where Python announced the group that is being made on this thread, its name and members count.
//
// Thread-safety: thread-safe; an entry is claimed by compare-and-swap. Calls on one communicator
// are the host's to serialise, as NCCL asks. After a fork the table starts anew.
// Errors: more than kMax live ones: no identity for those. Cost: cold, but SlotOf (one load).
// Source of the hash: FNV-1a 64 (Fowler, Noll, Vo); it must be the same on all nodes.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_COMMUNICATORS_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_COMMUNICATORS_H_

#include <cstddef>
#include <cstdint>

#include "daemon/tracer/core/group_table.h"
#include "daemon/tracer/interpose/nccl/abi.h"

namespace fathom::tracer::nccl {

inline constexpr std::size_t kMaxCommunicators = 512;

// FNV-1a over whatever all members know.
class IdentityHash {
 public:
  IdentityHash& Add(const void* bytes, std::size_t count);
  IdentityHash& Add(std::uint64_t value) { return Add(&value, sizeof(value)); }
  std::uint64_t value() const { return value_ == 0 ? 1 : value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

// How a communicator came to be. size 0: must be asked for.
struct Birth {
  std::uint64_t identity = 0;  // 0: none
  std::uint32_t size = 0;
  std::uint32_t rank = 0;
  const char* user_name = nullptr;
  void* library = nullptr;  // a function of the copy of NCCL that makes it
};

// A communicator was made. Gives it a slot if it can already be asked (`ready`) or tells all.
void NoteMade(TracerState& state, Comm comm, const Birth& birth, bool ready);
void NoteGone(TracerState& state, Comm comm);
// It carries no more ops; its identity is still known to its children.
void NoteRevoked(TracerState& state, Comm comm);

// The identity of `comm`, 0 if it has none.
std::uint64_t IdentityOf(const TracerState& state, Comm comm);
// How many children `comm` had before this one.
std::uint32_t DrawChild(const TracerState& state, Comm comm);

// Whether `comm` has told less than it could once it is ready: it has no slot, or no device.
bool WaitsToBeAsked(const TracerState& state, Comm comm);

// Asks all that wait for it whether they are ready. `comm` null: all of them.
void AnnounceReady(TracerState& state, Comm comm);

// Makes a slot for a communicator without one if it can be asked; kNoGroupSlot if not.
std::uint16_t Announce(TracerState& state, Comm comm);

// The slot of `comm`, and this thread's hint to it.
inline std::uint16_t SlotOf(TracerState& state, Comm comm) {
  const auto address = reinterpret_cast<std::uint64_t>(comm);
  std::uint16_t slot = FindGroup(state, address, thread_state.group_hint);
  if (slot == abi::kNoGroupSlot) [[unlikely]]
    slot = Announce(state, comm);
  thread_state.group_hint = slot;
  return slot;
}

}  // namespace fathom::tracer::nccl

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_COMMUNICATORS_H_
