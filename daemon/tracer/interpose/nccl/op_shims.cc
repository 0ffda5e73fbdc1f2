// The calls that move data: one shim a line of functions.h.
#include "daemon/tracer/core/graph_ops.h"
#include "daemon/tracer/core/op_recorder.h"
#include "daemon/tracer/interpose/caller_binding.h"
#include "daemon/tracer/interpose/cuda/stream_capture.h"
#include "daemon/tracer/interpose/nccl/abi.h"
#include "daemon/tracer/interpose/nccl/communicators.h"
#include "daemon/tracer/interpose/nccl/functions.h"
#include "daemon/tracer/interpose/nccl/group_depth.h"
#include "daemon/tracer/interpose/unwind.h"
#include "daemon/tracer/nccl_plugin/contexts.h"

namespace fathom::tracer::nccl {
namespace {

using Kind = CollectiveKind;

enum Share : std::uint8_t { kOnce, kOfEachMember };

constexpr int kNobody = -1;

// What a shim knows of its call before anything is looked up.
struct Site {
  Kind kind;
  Share share;
  std::uint8_t reduction;
  int peer;
  int type;
  size_t count;
  Comm comm;
  Stream stream;
};

std::uint8_t ReductionOf(int op) {
  return op >= 0 && op < 255 ? static_cast<std::uint8_t>(op + 1) : 0;
}

[[gnu::always_inline]] inline OpCall Describe(const TracerState& state, const Site& site,
                                              ElementType element, std::uint16_t slot) {
  OpCall call;
  call.kind = site.kind;
  call.data_type = element.type;
  call.peer = site.peer < 0 ? abi::kNoPeer : static_cast<std::uint32_t>(site.peer);
  call.bytes = site.count * element.bytes;
  call.bytes_known = element.bytes != 0;
  if (site.share == kOfEachMember) {
    call.bytes_known = call.bytes_known && slot < abi::kGroupSlots;
    call.bytes *= slot < abi::kGroupSlots ? state.region.groups[slot].size : 1;
  }
  return call;
}

// It does not run now, but with its graph.
[[gnu::noinline]] void BeginCaptured(TracerState& state, std::uint64_t capture, const OpCall& call,
                                     DeviceOp device, Frame* frame) {
  device.end_follows = false;
  BeginDeviceOp(state, call, device, frame);
  NoteCaptured();
  const CapturedOp op = AddCapturedOp(state, capture, call, device);
  frame->graph_place = op.place;
  frame->graph_generation = op.generation;
  nccl_plugin::NoteGraph(device.group_slot);
}

// One copy for all shims: what is small stays in the cache.
[[gnu::noinline]] void Begin(TracerState& state, const Site& site, Frame* frame) {
  const std::uint16_t slot = SlotOf(state, site.comm);
  const DeviceOp device = {.group_slot = slot,
                           .stream = reinterpret_cast<std::uint64_t>(site.stream),
                           .reduction = site.reduction,
                           .end_follows = nccl_plugin::EndFollows(state, slot)};
  const ElementType element = ElementTypeOf(site.type);
  const OpCall call = Describe(state, site, element, slot);
  if (const std::uint64_t capture = CaptureOfStream(device.stream)) [[unlikely]]
    return BeginCaptured(state, capture, call, device, frame);
  BeginDeviceOp(state, call, device, frame);
  nccl_plugin::NoteCall(frame->entry, site.count * element.bytes, GroupOfCalls());
}

[[gnu::noinline]] void End(TracerState& state, Frame* frame, int result) {
  if (group_depth.depth == 0 && result != kInProgress) {
    nccl_plugin::NoteReturn(frame);
  } else {
    nccl_plugin::NoteReturnBeforeLaunch(frame);
  }
  frame->alone = !nccl_plugin::IsBound(frame->entry.group_slot());
  const bool failed = result != kSuccess && result != kInProgress;
  if (failed && frame->graph_place != 0) DropCapturedOp({frame->graph_place, 0});
  EndDeviceOp(state, frame, failed);
}

template <typename... Args>
[[gnu::noinline]] int Traced(TracerState& state, const Site& site, void* real, Args... args) {
  FATHOM_ENDS_FRAME_ON_UNWIND();
  Frame frame;
  Begin(state, site, &frame);
  const int result = reinterpret_cast<int (*)(Args...)>(real)(args...);
  End(state, &frame, result);
  return result;
}

template <typename... Args>
[[gnu::always_inline]] inline int Call(CallerBinding* binding, const char* name, void* caller,
                                       const Site& site, Args... args) {
  void* real = BoundFor(binding, name, caller, FirstScope::kGlobal);
  if (real == nullptr) return kInternalError;
  TracerState* state = ActiveState(abi::kSourceNccl);
  if (state == nullptr || InsideStandingOp())
    return reinterpret_cast<int (*)(Args...)>(real)(args...);
  return Traced<Args...>(*state, site, real, args...);
}

}  // namespace

// clang-format off
#define FATHOM_NCCL_SHIM(name, parameters, arguments, kind, share, reduction, peer)           \
  extern "C" __attribute__((visibility("default"))) int nccl##name parameters {               \
    static constinit CallerBinding binding;                                                   \
    const Site site = {kind, share, reduction, peer, type, count, comm, stream};              \
    return Call(&binding, "nccl" #name, __builtin_return_address(0), site,                    \
                FATHOM_NCCL_STRIP arguments);                                                 \
  }
// clang-format on
#define FATHOM_NCCL_STRIP(...) __VA_ARGS__
FATHOM_NCCL_OPS(FATHOM_NCCL_SHIM)

}  // namespace fathom::tracer::nccl
