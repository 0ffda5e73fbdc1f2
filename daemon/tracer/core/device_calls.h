// Counts a thread's CUDA calls, times some of them, and tells when a thread blocks on its GPU.
//
// Called by daemon/tracer/interpose/cuda with plain values; knows no CUDA. op_recorder.cc calls
// FlushDeviceCalls before each kOpEnter, so that a record covers the stretch of work before an op.
//
// Model: a training step launches thousands of kernels, so a launch costs a count in thread-local
// memory and nothing else; one call in 16, at random distances (a layer's kernels repeat, a fixed
// distance would always time the same ones), is timed. The sum becomes one kDeviceCalls record
// before the thread's next op or wait, after 4096 calls, or at a sample 100 ms after the first one.
// A timed call that took 1 ms blocked: it is told as a wait of kind kLaunch. Why these numbers:
// docs/design/0007-device-calls.md.
// Units: CLOCK_MONOTONIC ns. Thread-safety: each function works on its own thread's state.
// Errors: none. What a thread counted and has not written when it ends is lost (under 4096 calls).
// Cost: 2 ns a call, a record 50 ns, a timed call two clock reads.
#ifndef FATHOM_DAEMON_TRACER_CORE_DEVICE_CALLS_H_
#define FATHOM_DAEMON_TRACER_CORE_DEVICE_CALLS_H_

#include <cstdint>

#include "daemon/tracer/core/tracer_state.h"

namespace fathom::tracer {

enum class DeviceCall : std::uint8_t {
  kLaunch,
  kCopy,
  kMemset,
  kGraphLaunch,
  kEvent,
  kStreamWait,
  kCreate,
  kInstantiate,   // a graph is made executable: counts as kCreate
  kUpdateGraph,   // it runs what another graph holds from now on: not counted
  kDestroy,       // of an executable graph: not counted
  kDestroyGraph,  // not counted
  kBeginCapture,
  kEndCapture,
  kSyncDevice,
  kSyncStream,
  kSyncEvent,
  kBlockingCopy,
};

constexpr bool Blocks(DeviceCall call) { return call >= DeviceCall::kSyncDevice; }

inline constexpr std::uint32_t kFlushCalls = 4096;
inline constexpr std::uint32_t kSampleMask = 31;  // the next sample is 1 to 32 calls away
inline constexpr std::int64_t kFlushNs = 100'000'000;

// Writes what this thread has counted. Requires: it has counted something.
void WriteDeviceCalls(const TracerState& state, std::int64_t now_ns);
void WriteDeviceCallsNow(const TracerState& state);

inline void FlushDeviceCalls(const TracerState& state, std::int64_t now_ns) {
  if (thread_state.device.calls != 0) WriteDeviceCalls(state, now_ns);
}

// A call that was timed, from `begin_ns` to now; draws the next one.
void NoteSample(const TracerState& state, std::int64_t begin_ns);

// A call that blocks on the GPU begins; ends. Requires: Blocks(call).
void BeginSync(const TracerState& state, DeviceCall call);
void EndSync(const TracerState& state, DeviceCall call);

// Counts a call that succeeded. The sum is written when it is large.
template <DeviceCall call>
inline void CountDeviceCall(const TracerState& state) {
  DeviceThread& device = thread_state.device;
  abi::DeviceCalls& sum = device.sum;
  if constexpr (call == DeviceCall::kBeginCapture) {
    device.capturing = 1;
    return;
  } else if constexpr (call == DeviceCall::kEndCapture || call == DeviceCall::kUpdateGraph ||
                       call == DeviceCall::kDestroy || call == DeviceCall::kDestroyGraph) {
    return;
  } else if constexpr (call == DeviceCall::kCreate || call == DeviceCall::kInstantiate) {
    ++sum.created;
  } else if (device.capturing != 0) {
    ++sum.captured;
  } else if constexpr (call == DeviceCall::kLaunch) {
    ++sum.launches;
  } else if constexpr (call == DeviceCall::kCopy || call == DeviceCall::kBlockingCopy) {
    ++sum.copies;
  } else if constexpr (call == DeviceCall::kMemset) {
    ++sum.memsets;
  } else if constexpr (call == DeviceCall::kGraphLaunch) {
    ++sum.graphs;
  } else if constexpr (call == DeviceCall::kEvent) {
    ++sum.events;
  } else {
    static_assert(call == DeviceCall::kStreamWait);
    ++sum.waits;
  }
  if (++device.calls >= kFlushCalls) [[unlikely]]
    WriteDeviceCallsNow(state);
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_DEVICE_CALLS_H_
