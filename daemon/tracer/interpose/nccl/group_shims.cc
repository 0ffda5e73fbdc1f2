// ncclGroupStart, ncclGroupEnd: inside them nothing is launched and no communicator is ready.
#include "daemon/tracer/interpose/nccl/group_depth.h"

#include "daemon/tracer/core/op_recorder.h"
#include "daemon/tracer/interpose/caller_binding.h"
#include "daemon/tracer/interpose/nccl/awaited.h"
#include "daemon/tracer/interpose/nccl/communicators.h"

namespace fathom::tracer::nccl {

constinit thread_local GroupDepth group_depth;

extern "C" __attribute__((visibility("default"))) int ncclGroupStart() {
  static constinit CallerBinding binding;
  void* found =
      BoundFor(&binding, "ncclGroupStart", __builtin_return_address(0), FirstScope::kGlobal);
  if (found == nullptr) return kInternalError;
  const int result = reinterpret_cast<int (*)()>(found)();
  if (result == kSuccess && group_depth.depth++ == 0) ++group_depth.ordinal;
  return result;
}

extern "C" __attribute__((visibility("default"))) int ncclGroupEnd() {
  static constinit CallerBinding binding;
  void* found =
      BoundFor(&binding, "ncclGroupEnd", __builtin_return_address(0), FirstScope::kGlobal);
  if (found == nullptr) return kInternalError;
  (void)InsideStandingOp();  // NCCL may call the plugin, deeper
  const int result = reinterpret_cast<int (*)()>(found)();
  GroupDepth& group = group_depth;
  if (group.depth > 0) --group.depth;
  if (group.depth == 0 && group.made_communicators) [[unlikely]] {
    group.made_communicators = false;
    TracerState* state = OnState();
    if (state == nullptr) return result;
    if (AnyAwaited()) EndAwaitedGroup(*state, result == kSuccess, result == kInProgress);
    if (result == kSuccess) AnnounceReady(*state, nullptr);
  }
  return result;
}

}  // namespace fathom::tracer::nccl
