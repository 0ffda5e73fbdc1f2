// libfathom.so as NCCL's profiler plugin: the exported tables ncclProfiler_v3 to _v6.
#include <string.h>

#include "daemon/tracer/core/activation.h"
#include "daemon/tracer/core/graph_ops.h"
#include "daemon/tracer/core/group_table.h"
#include "daemon/tracer/core/host/text.h"
#include "daemon/tracer/interpose/real_symbol.h"
#include "daemon/tracer/nccl_plugin/contexts.h"
#include "daemon/tracer/nccl_plugin/names.h"
#include "daemon/tracer/nccl_plugin/profiler_abi.h"
#include "daemon/tracer/nccl_plugin/tasks.h"
#include "daemon/tracer/nccl_plugin/transfer_events.h"
#include "daemon/tracer/nccl_plugin/transfers.h"

namespace fathom::tracer::nccl_plugin {
namespace {

// An event of a launched op, whatever the version.
struct Launched {
  CollectiveKind kind;
  ElementName element;
  std::uint64_t count;
  std::uint32_t peer;
  std::uint8_t channels;
};

// Also while it is switched off: then the mask keeps new events away, and what began is told to its
// end.
TracerState* State() { return AllowedState(abi::kSourceNcclPlugin, AfterFork::kIgnore); }

// All that may be asked for; the centre does not know what NCCL speaks.
std::uint32_t EventsAtMost(const TracerState& state, std::uint8_t nccl_speaks) {
  const bool transfers = (state.sources & abi::kSourceNcclTransfers) != 0;
  return kDefaultEvents | (transfers ? TransferEvents(nccl_speaks) : 0);
}

// In 2.31 the kernel events cost up to 13 % of small collectives (docs/tracer/nccl_plugin.md).
std::uint32_t UsualEvents(const TracerState& state, std::uint8_t nccl_speaks) {
  static constinit RealSymbol symbol{"ncclGetVersion", nullptr};
  void* real = Real(&symbol, __builtin_return_address(0));
  int version = 0;
  if (real != nullptr) reinterpret_cast<int (*)(int*)>(real)(&version);
  if (version >= 23100 && version < 23200) return 0;
  return EventsAtMost(state, nccl_speaks);
}

// Where no call is hooked the context is the communicator.
void MakeOwnSlot(TracerState& state, Context* context, std::uint64_t id, const char* name) {
  char identity[abi::kNameBytes] = {};
  CopyText(identity, sizeof(identity), "nccl-");
  AppendNumber(identity, sizeof(identity), id);
  PendingGroup group;
  group.name = identity;
  group.description = name;
  group.members_unknown = true;
  const std::uint16_t slot =
      AddGroup(state, abi::kSourceNcclPlugin, reinterpret_cast<std::uint64_t>(context),
               context->rank, context->size, group);
  context->own_slot = slot != abi::kNoGroupSlot;
  Bind(context, slot);
}

// An error would only make NCCL print a warning: without a context there are simply no events.
int Init(std::uint8_t version, void** context, int* events, std::uint64_t id, const char* name,
         int size, int rank) {
  *context = nullptr;
  TracerState* state = Activate() == nullptr ? nullptr : State();
  if (state == nullptr) {  // else the word is in use by other communicators
    __atomic_store_n(events, 0, __ATOMIC_RELAXED);
    return kOk;
  }
  Context* made = MakeContext(*state, version, static_cast<std::uint32_t>(rank),
                              static_cast<std::uint32_t>(size));
  const bool hooked = bindings.api_hooked.load(std::memory_order_relaxed) != 0;
  if (made != nullptr && !hooked && version >= 4) MakeOwnSlot(*state, made, id, name);
  bindings.usual_events.store(UsualEvents(*state, version), std::memory_order_relaxed);
  bindings.events_at_most.store(EventsAtMost(*state, version), std::memory_order_relaxed);
  bindings.mask.store(events, std::memory_order_release);
  ApplyMask(AskedEvents(*state->region.control));
  *context = made;
  return kOk;
}

// Collectives that NCCL carries out as messages: their parts are told, but not counted.
bool IsMadeOfMessages(std::uint8_t kind) {
  return kind == static_cast<std::uint8_t>(CollectiveKind::kAllToAll) ||
         kind == static_cast<std::uint8_t>(CollectiveKind::kGather) ||
         kind == static_cast<std::uint8_t>(CollectiveKind::kScatter);
}

// A call of the user's, raised inside of it: its frame says which.
Handle StartCall(Context* context, bool captured) {
  if (!InsideStandingOp()) return {};
  const PackedRecord& entry = thread_state.frame->entry;
  if (context->slot.load(std::memory_order_relaxed) != entry.group_slot()) {
    Bind(context, entry.group_slot());
  }
  if (IsMadeOfMessages(entry.collective_kind())) thread_state.frame->ended = true;
  if (captured) {
    NoteCaptured();
    const Frame& frame = *thread_state.frame;
    // An event for each message does not tell when the graph ran once.
    const bool one_event = !IsMadeOfMessages(entry.collective_kind());
    return Handle::OfCapturedCall(one_event ? frame.graph_place : 0, frame.graph_generation);
  }
  if (entry.group_slot() < abi::kGroupSlots) NoteEndFollows();
  return Handle::OfCall(entry.op_id);
}

// An op that no hook has seen: NCCL is linked statically. It is told here, from its launch.
OpRef TellUnseen(TracerState& state, Context* context, const Launched& event) {
  OpCall call;
  call.kind = event.kind;
  call.data_type = event.element.type;
  call.bytes_known = event.element.bytes != 0;
  call.peer = event.peer;
  const bool to_each =
      event.kind == CollectiveKind::kReduceScatter || event.kind == CollectiveKind::kAllToAll;
  call.bytes = event.count * event.element.bytes * (to_each ? context->size : 1);
  Frame frame;
  const std::uint16_t slot = context->slot.load(std::memory_order_relaxed);
  BeginDeviceOp(state, call, {.group_slot = slot, .end_follows = true}, &frame);
  EndDeviceOp(state, &frame, false);
  return {frame.entry.op_id, frame.entry.group_slot(), frame.entry.collective_kind()};
}

OpRef OpOf(TracerState& state, Context* context, Handle call, const Launched& event) {
  const std::uint16_t slot = context->slot.load(std::memory_order_relaxed);
  if (call.captured()) {
    return TakeReplay({static_cast<std::uint32_t>(call.place()), call.generation()});
  }
  if (call.tag() == HandleTag::kCall) {
    return {call.op_id(), slot, static_cast<std::uint8_t>(event.kind)};
  }
  if (context->own_slot) return TellUnseen(state, context, event);
  // Version 3 and 4: the first event may come before anything tied the context to its group.
  if (slot == abi::kNoGroupSlot && InsideStandingOp()) {
    const PackedRecord& entry = thread_state.frame->entry;
    Bind(context, entry.group_slot());
    NoteEndFollows();
    return {entry.op_id, entry.group_slot(), entry.collective_kind()};
  }
  return TakeCall(context, event.kind, event.count * event.element.bytes);
}

Handle StartLaunched(TracerState& state, Context* context, const void* parent,
                     const Launched& event) {
  const Handle call = context->version >= 5 ? Handle::From(parent) : Handle{};
  context->silent_calls.store(0, std::memory_order_relaxed);
  if (InsideStandingOp()) ++thread_state.frame->works;
  const OpRef op = OpOf(state, context, call, event);
  if (op.op_id == 0) {
    // Of a graph that runs: nobody waits for it, or (versions 3 and 4) it does not say whose it is.
    const bool of_graph = call.captured() || (context->version < 5 && context->has_graphs.load());
    if (!of_graph) CountDrop(state.region, abi::DropReason::kPluginUnmatched);
    return {};
  }
  return StartTask(op, event.channels);
}

Launched CollOf(const void* body, std::uint8_t version) {
  CollBody coll;
  memcpy(&coll, body, sizeof(coll));
  const CollectiveKind kind = KindOfName(coll.function);
  // Version 3 tells the most it may use, not what it uses.
  return {kind, ElementOfName(coll.data_type), coll.count,
          HasRoot(kind) && coll.root >= 0 ? static_cast<std::uint32_t>(coll.root) : abi::kNoPeer,
          version == 3 ? std::uint8_t{0} : coll.channels};
}

Launched P2pOf(const void* body) {
  P2pBody p2p;
  memcpy(&p2p, body, sizeof(p2p));
  return {KindOfName(p2p.function), ElementOfName(p2p.data_type), p2p.count,
          p2p.peer >= 0 ? static_cast<std::uint32_t>(p2p.peer) : abi::kNoPeer, 0};
}

Handle StartChannelOf(TracerState& state, const EventHead* event, const void* body,
                      std::uint8_t version) {
  const Handle task = Handle::From(event->parent);
  if (task.tag() != HandleTag::kTask) return {};
  KernelChannelBody channel;
  memcpy(&channel, body, sizeof(channel));
  if (StartChannel(state, task, version >= 4 ? channel.gpu_ns : 0)) return task.Channel();
  CountDrop(state.region, abi::DropReason::kPluginUnmatched);
  return {};
}

template <std::uint8_t version>
int Start(void* raw, void** handle, const EventHead* event) {
  *handle = nullptr;
  const std::uint64_t type = version >= 5 ? event->type : event->type & 0xff;
  const unsigned char* body = reinterpret_cast<const unsigned char*>(event) + sizeof(EventHead);
  if (type == kProxyStep) {
    *handle = StartStepOf(event).raw();
    return kOk;
  }
  if (type == kProxyOp) {
    *handle = StartTransferOf(event, body).raw();
    return kOk;
  }
  auto* context = static_cast<Context*>(raw);
  TracerState* state = context == nullptr ? nullptr : State();
  if (state == nullptr) return kOk;
  const unsigned char* task_body = version == 3 ? body + sizeof(NamedComm) : body;
  if (type == kColl) {
    *handle = StartLaunched(*state, context, event->parent, CollOf(task_body, version)).raw();
  } else if (type == kP2p) {
    *handle = StartLaunched(*state, context, event->parent, P2pOf(task_body)).raw();
  } else if (type == kKernelChannel) {
    *handle = StartChannelOf(*state, event, body, version).raw();
  } else if (type == kCollApi && version >= 5) {
    *handle = StartCall(context, reinterpret_cast<const CollApiBody*>(body)->captured).raw();
  } else if (type == kP2pApi && version >= 5) {
    *handle = StartCall(context, reinterpret_cast<const P2pApiBody*>(body)->captured).raw();
  }
  return kOk;
}

int Stop(void* raw) {
  const Handle handle = Handle::From(raw);
  if (IsOfTransfer(handle)) {
    StopOfTransfer(handle);
    return kOk;
  }
  TracerState* state = handle.tag() == HandleTag::kChannel ? State() : nullptr;
  if (state != nullptr && !StopChannel(*state, handle)) {
    CountDrop(state->region, abi::DropReason::kPluginUnmatched);
  }
  return kOk;
}

int RecordState(void* raw, int what, const StateArguments* arguments) {
  const Handle handle = Handle::From(raw);
  if (IsOfTransfer(handle)) {
    RecordOfTransfer(handle, what, arguments);
    return kOk;
  }
  if (handle.tag() == HandleTag::kChannel && what == kKernelChannelStop && arguments != nullptr) {
    NoteChannelEnd(handle, arguments->gpu_ns);
  }
  return kOk;
}

int Finalize(void* raw) {
  auto* context = static_cast<Context*>(raw);
  TracerState* state = State();
  if (context == nullptr) return kOk;
  const std::uint16_t slot = context->slot.load(std::memory_order_relaxed);
  if (state != nullptr && slot != abi::kNoGroupSlot) DropTransfers(*state, slot);
  if (context->own_slot && state != nullptr) {
    RemoveGroup(*state, reinterpret_cast<std::uint64_t>(context));
    NoteStopped(*state, reinterpret_cast<std::uint64_t>(context), Standing::kGone);
  }
  DropContext(context);
  return kOk;
}

int Init3(void** context, int* events) { return Init(3, context, events, 0, nullptr, 0, 0); }

int Init4(void** context, int* events, const char* name, std::uint64_t id, int, int size, int rank,
          Logger) {
  return Init(4, context, events, id, name, size, rank);
}

template <std::uint8_t version>
int Init5(void** context, std::uint64_t id, int* events, const char* name, int, int size, int rank,
          Logger) {
  return Init(version, context, events, id, name, size, rank);
}

constexpr char kName[] = "fathom";

}  // namespace

#define FATHOM_EXPORT extern "C" __attribute__((visibility("default"))) const

FATHOM_EXPORT Profiler<InitV3> ncclProfiler_v3{kName, Init3, Start<3>, Stop, RecordState, Finalize};
FATHOM_EXPORT Profiler<InitV4> ncclProfiler_v4{kName, Init4, Start<4>, Stop, RecordState, Finalize};
FATHOM_EXPORT Profiler<InitV5> ncclProfiler_v5{kName, Init5<5>,    Start<5>,
                                               Stop,  RecordState, Finalize};
FATHOM_EXPORT Profiler<InitV5> ncclProfiler_v6{kName, Init5<6>,    Start<6>,
                                               Stop,  RecordState, Finalize};

}  // namespace fathom::tracer::nccl_plugin
