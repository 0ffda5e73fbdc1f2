// What a hooked CUDA function says of graphs: captures, what is made of them, and launches.
//
// Used by traced_call.h, around the real function, for the outermost call only (the runtime enters
// the driver). What becomes of it: core/graph_ops.h.
//
// Model: told as long as the settings allow both sources, CUDA's calls and NCCL's, whatever is
// switched off while the job runs: after a launch that was not seen, the events of a graph's ops
// would be told of the launch after theirs, for good. Words are the first two arguments of the
// call, as hook_list.h has them. Thread-safety: thread-safe. Errors: a call that fails changes
// nothing. Cost: see graph_ops.h; no other call is concerned.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_GRAPH_CALLS_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_GRAPH_CALLS_H_

#include <cstdint>

#include "daemon/tracer/core/device_calls.h"

namespace fathom::tracer {

constexpr bool ConcernsGraphs(DeviceCall call) {
  return call == DeviceCall::kGraphLaunch || call == DeviceCall::kInstantiate ||
         call == DeviceCall::kUpdateGraph || call == DeviceCall::kDestroy ||
         call == DeviceCall::kDestroyGraph || call == DeviceCall::kBeginCapture ||
         call == DeviceCall::kEndCapture;
}

struct GraphWords {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};
template <typename T>
std::uint64_t WordOf(T* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}
inline std::uint64_t WordOf(int number) { return static_cast<std::uint64_t>(number); }

// Before the real call; what is returned is for AfterGraphCall.
std::uint64_t BeforeGraphCall(DeviceCall call, GraphWords words);
void AfterGraphCall(DeviceCall call, GraphWords words, std::uint64_t before, int result);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_GRAPH_CALLS_H_
