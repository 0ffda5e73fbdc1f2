// What ties NCCL's profiler events to the communicators and ops that the API hooks know.
//
// Used by plugin.cc (NCCL's side) and by daemon/tracer/interpose/nccl (the job's side).
//
// Model: NCCL makes a context for each communicator it initialises, but never says which. A context
// is bound to a group slot
//   - when it was made inside the hooked call that makes the communicator, on the same thread;
//   - else by the first event that NCCL raises inside a hooked call on that communicator.
// Where NCCL is linked statically no call is hooked: then a context makes a slot of its own.
// Versions 3 and 4 do not say which call an event belongs to: calls that wait for their event stand
// in a short queue of the context, and an event takes the oldest of its kind and size. (NCCL sorts
// the calls of a group by size, so their order says nothing; calls of one kind and size in one
// group run in one kernel.)
//
// Whether the end of an op will be told (EndFollows) must not be promised wrongly: an op that never
// ends looks like a hang. It is not promised without a bound context, with the kernel events off,
// for a group of one (NCCL skips it), or while the last kSilentCalls calls of the group, or groups
// of calls, brought no event (symmetric-memory kernels and copy engines have none). A call outside
// of a group shows as it returns whether it brought one; with blocking = 0, or in a group, it may
// come after.
//
// Thread-safety: thread-safe; words are atomic. A communicator's calls are the host's to serialise.
// After a fork all is forgotten. Errors: more than kMaxContexts: no events of those. Cost: hot
// path, a few loads; no allocation, lock or system call.
#ifndef FATHOM_DAEMON_TRACER_NCCL_PLUGIN_CONTEXTS_H_
#define FATHOM_DAEMON_TRACER_NCCL_PLUGIN_CONTEXTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "daemon/tracer/core/tracer_state.h"
#include "proto/types/collective_kind.h"

namespace fathom::tracer::nccl_plugin {

inline constexpr std::size_t kMaxContexts = abi::kGroupSlots;
inline constexpr std::uint32_t kQueued = 64;
inline constexpr std::uint32_t kSilentCalls = 64;

// Event bits of NCCL's profiler interface.
enum EventBit : std::uint32_t {
  kColl = 2,
  kP2p = 4,
  kProxyOp = 8,
  kProxyStep = 16,
  kKernelChannel = 64,
  kCollApi = 512,
  kP2pApi = 1024,
};
inline constexpr std::uint32_t kDefaultEvents = kColl | kP2p | kKernelChannel;

// Events that tell how far the transfers of ops are. In version 3 a ProxyOp counts its own steps.
constexpr std::uint32_t TransferEvents(std::uint8_t version) {
  return version == 3 ? kProxyOp : kProxyOp | kProxyStep;
}

struct Context {
  std::atomic<std::uint32_t> epoch;  // of the activation it belongs to; 0: free
  std::atomic<std::uint16_t> slot;   // kNoGroupSlot: not bound
  std::uint8_t version;
  bool own_slot;                 // made by this context, because no API call is hooked
  std::atomic<bool> has_graphs;  // calls of it were captured
  std::uint32_t rank;
  std::uint32_t size;                       // 0: not told (version 3)
  std::atomic<std::uint32_t> silent_calls;  // those of one group of calls count once
  std::uint32_t calls_in;                   // the group of calls of the last one; 0: none
  std::atomic<std::uint32_t> queued;        // calls put into `calls` so far
  struct Call {
    std::atomic<std::uint64_t> op_id;  // 0: taken
    std::atomic<std::uint64_t> bytes;  // of `count` elements
    std::atomic<std::uint8_t> kind;
  } calls[kQueued];
};

struct Bindings {
  std::atomic<Context*> of_slot[abi::kGroupSlots];
  std::atomic<int*> mask;                   // NCCL's own word, re-read at each of its calls
  std::atomic<std::uint32_t> asked;         // AskedEvents as last applied
  std::atomic<std::uint32_t> events;        // what `mask` says now
  std::atomic<std::uint32_t> api_hooked;    // 1: this process's NCCL calls come through our hooks
  std::atomic<std::uint32_t> usual_events;  // without the agent's word
  std::atomic<std::uint32_t> events_at_most;
};
extern constinit Bindings bindings __attribute__((visibility("hidden")));

// Null where none is bound.
inline Context* ContextOf(std::uint16_t slot) {
  return slot < abi::kGroupSlots ? bindings.of_slot[slot].load(std::memory_order_acquire) : nullptr;
}

// --- the job's side ---

// This thread begins to make a communicator; BindNewest ties the context made since then, if it is
// of that rank and size, to its slot.
void BeginMaking();
void BindNewest(const TracerState& state, std::uint16_t slot);

// In AskedEvents: but those of transfers.
inline constexpr std::uint32_t kWithoutTransfers = 1u << 30;

// What the centre wants of NCCL now: ControlBlock::plugin_mask, or none, or less.
inline std::uint32_t AskedEvents(const abi::ControlBlock& control) {
  const std::uint32_t off = control.sources_disabled.load(std::memory_order_relaxed);
  const std::uint32_t mask = control.plugin_mask.load(std::memory_order_relaxed);
  if ((off & (abi::kSourceNcclPlugin | abi::kSourceNcclTransfers)) == 0) [[likely]]
    return mask;
  return (off & abi::kSourceNcclPlugin) != 0 ? abi::kPluginMaskSet : mask | kWithoutTransfers;
}

// Writes the events that are asked for, or the usual ones, into NCCL's word.
void ApplyMask(std::uint32_t asked);

inline bool KernelsAreTold() {
  return (bindings.events.load(std::memory_order_relaxed) & kKernelChannel) != 0;
}

inline bool IsSilent(const Context& context) {
  return context.silent_calls.load(std::memory_order_relaxed) >= kSilentCalls;
}

inline bool EndFollows(const TracerState& state, std::uint16_t slot) {
  const std::uint32_t asked = AskedEvents(*state.region.control);
  if (asked != bindings.asked.load(std::memory_order_relaxed)) [[unlikely]]
    ApplyMask(asked);
  const Context* context = ContextOf(slot);
  if (context == nullptr) return false;
  return KernelsAreTold() && !IsSilent(*context) && state.region.groups[slot].size > 1;
}

// Whether NCCL tells of this group's ops, on threads of its own.
inline bool IsBound(std::uint16_t slot) { return ContextOf(slot) != nullptr; }

// NoteCall where a plugin listens.
void QueueCall(Context* context, const PackedRecord& entry, std::uint64_t bytes,
               std::uint32_t calls_in);
// A call begins; its op waits for its event. `bytes` of the call's `count` elements; `calls_in`:
// the group of calls that it is in, 0: none.
inline void NoteCall(const PackedRecord& entry, std::uint64_t bytes, std::uint32_t calls_in) {
  Context* context = ContextOf(entry.group_slot());
  if (context != nullptr) QueueCall(context, entry, bytes, calls_in);
}
// A call of this group was captured.
inline void NoteGraph(std::uint16_t slot) {
  Context* context = ContextOf(slot);
  if (context != nullptr) context->has_graphs.store(true, std::memory_order_relaxed);
}
// The newest call, if it is that one, waits for no event any more (versions 3 and 4, where calls
// are queued).
void ForgetCall(Context* context, std::uint64_t op_id);
// It returned outside of a group. If it raised no event there will be none.
inline void NoteReturn(Frame* frame) {
  if (frame->works == 0) {
    frame->entry.drop_flags(abi::kFlagAsync);
    Context* context = ContextOf(frame->entry.group_slot());
    if (context != nullptr && context->version < 5) ForgetCall(context, frame->entry.op_id);
    return;
  }
  if (frame->end_told) [[likely]]
    return;
  if (KernelsAreTold()) {
    frame->entry.add_flags(abi::kFlagAsync);
  } else {
    frame->entry.drop_flags(abi::kFlagAsync);
  }
}
// It returned before it was launched.
inline void NoteReturnBeforeLaunch(Frame* frame) {
  const Context* context = frame->end_told ? nullptr : ContextOf(frame->entry.group_slot());
  if (context == nullptr) return;
  if (IsSilent(*context) || !KernelsAreTold()) frame->entry.drop_flags(abi::kFlagAsync);
}

// --- NCCL's side ---

Context* MakeContext(const TracerState& state, std::uint8_t version, std::uint32_t rank,
                     std::uint32_t size);
void DropContext(Context* context);
void Bind(Context* context, std::uint16_t slot);
// Takes the call an event of version 3 or 4 belongs to; op_id 0 if there is none.
OpRef TakeCall(Context* context, CollectiveKind kind, std::uint64_t bytes);

}  // namespace fathom::tracer::nccl_plugin

#endif  // FATHOM_DAEMON_TRACER_NCCL_PLUGIN_CONTEXTS_H_
