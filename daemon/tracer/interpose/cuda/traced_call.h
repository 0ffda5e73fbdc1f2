// What every hooked CUDA function does around the real one.
//
// Used by runtime_shims.cc and driver_shims.cc.
//
// Model: graphs are told of first (graph_calls.h). A call from the job is counted
// (core/device_calls.h); a call the CUDA runtime makes into the driver while it carries one out is
// not: `inside` is set for its duration. Only calls that succeed count. CUDA functions throw
// nothing; a thread that is cancelled inside one never comes back. Cost: 5 ns a call that is not
// timed.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_TRACED_CALL_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_TRACED_CALL_H_

#include "daemon/tracer/core/device_calls.h"
#include "daemon/tracer/core/tracer_state.h"
#include "daemon/tracer/interpose/cuda/graph_calls.h"

namespace fathom::tracer {

// cudaErrorSymbolNotFound and CUDA_ERROR_NOT_FOUND: what a wrapper answers that has nothing behind
// it, as the program would have seen from the loader.
inline constexpr int kCudaNotFound = 500;

// One copy a hook: what is seldom run is kept small.
template <DeviceCall call, typename Real>
[[gnu::noinline, gnu::cold]] int TimedCall(TracerState& state, Real& real) {
  const std::int64_t begin_ns = NowNs();
  const int result = real();
  if (state.epoch == thread_state.epoch) NoteSample(state, begin_ns);
  return result;
}

template <DeviceCall call, typename Real>
[[gnu::noinline, gnu::cold]] int BlockingCall(TracerState& state, Real& real) {
  BeginSync(state, call);
  const int result = real();
  EndSync(state, call);
  // CUDA refuses it while any stream of the context is capturing: a capture that this thread began
  // has ended on another one.
  if (call == DeviceCall::kSyncDevice && result == 0) thread_state.device.capturing = 0;
  return result;
}

template <DeviceCall call, typename Real>
inline int CountedCall(Real real) {
  DeviceThread& device = thread_state.device;
  // A capture that was invalidated is over too, though its end is refused; and one that began
  // before the source was switched off.
  if constexpr (call == DeviceCall::kEndCapture) device.capturing = 0;
  if (device.inside != 0) return real();
  TracerState* state = ActiveState(abi::kSourceCuda, AfterFork::kIgnore);
  if (state == nullptr) return real();
  device.inside = 1;
  int result;
  if constexpr (Blocks(call)) {
    result = BlockingCall<call>(*state, real);
  } else if (--device.to_sample == 0) [[unlikely]] {
    result = TimedCall<call>(*state, real);
  } else {
    result = real();
  }
  device.inside = 0;
  if constexpr (!Blocks(call) || call == DeviceCall::kBlockingCopy) {
    if (result == 0) CountDeviceCall<call>(*state);
  }
  return result;
}

template <DeviceCall call, typename Real>
[[gnu::noinline]] int GraphCall(Real real, GraphWords words) {
  const std::uint64_t before = BeforeGraphCall(call, words);
  // Also where calls are not counted the driver's function below is not another call.
  auto inside = [&real] {
    DeviceThread& device = thread_state.device;
    const std::uint32_t outer = device.inside;
    device.inside = 1;
    const int result = real();
    device.inside = outer;
    return result;
  };
  const int result = CountedCall<call>(inside);
  AfterGraphCall(call, words, before, result);
  return result;
}

// The first two words of a call's arguments.
inline GraphWords FirstWords() { return {}; }
template <typename First>
GraphWords FirstWords(First first) {
  return {WordOf(first), 0};
}
template <typename First, typename Second, typename... More>
GraphWords FirstWords(First first, Second second, More...) {
  return {WordOf(first), WordOf(second)};
}

// A comma and the arguments of a line of hook_list.h; nothing where it has none.
#define FATHOM_AND(...) __VA_OPT__(, ) __VA_ARGS__

// Requires: real() calls the real function with `arguments` and returns its result, 0 for success.
template <DeviceCall call, typename Real, typename... Arguments>
[[gnu::always_inline]] inline int TracedCall(Real real, const Arguments&... arguments) {
  if constexpr (ConcernsGraphs(call)) {
    if (thread_state.device.inside == 0) return GraphCall<call>(real, FirstWords(arguments...));
  }
  return CountedCall<call>(real);
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_TRACED_CALL_H_
