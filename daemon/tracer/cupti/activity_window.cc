// A window of GPU activity through CUPTI: kernels, copies, memsets, synchronisations, and what
// CUPTI and the driver themselves cost meanwhile.
//
//   open   subscribe (so that two profilers never meet), register buffers, enable kinds
//   close  disable, flush into the side file, then leave: at the exit of the process's next CUDA
//          call on any thread cuptiFinalize detaches CUPTI for good, as its documentation asks
//
// Left attached, CUPTI costs 10 to 20 % of a training job; so a version that must not be finalised
// (before CUDA 12.6 it crashed beside graphs) gets no window at all.
#include <sys/mman.h>

#include <atomic>

#include "daemon/tracer/core/host/clock.h"
#include "daemon/tracer/core/window.h"
#include "daemon/tracer/cupti/activity_layout.h"
#include "daemon/tracer/cupti/library.h"
#include "daemon/tracer/cupti/other_profiler.h"
#include "daemon/tracer/cupti/window_file.h"

namespace fathom::tracer {
namespace {

using abi::WindowReason;

constexpr std::uint32_t kSafeToFinalize = 24;  // CUPTI of CUDA 12.6
constexpr int kMultipleSubscribers = 39;       // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
constexpr int kDriverDomain = 1;
constexpr int kRuntimeDomain = 2;
constexpr std::uint32_t kSiteExit = 1;  // CUPTI_API_EXIT
constexpr std::uint32_t kForced = 1;    // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
constexpr int kKinds[] = {kCuptiConcurrentKernel, kCuptiMemcpy, kCuptiMemset,
                          kCuptiSynchronization};
constexpr int kExtraKind = kCuptiOverhead;  // a window is one without it, too
constexpr std::size_t kBufferBytes = 512 * 1024;
constexpr std::size_t kBuffers = 4;

struct Window {
  const CuptiLibrary* cupti = nullptr;
  void* subscriber = nullptr;
  std::uint8_t* buffers = nullptr;  // kBuffers of kBufferBytes, kept from window to window
  std::atomic<bool> taken[kBuffers] = {};
  std::atomic<bool> leaving{false};  // finalise at the next exit of a CUDA call
  WindowFile file;
};
constinit Window window;

// No buffer left: CUPTI drops the records and counts them.
void BufferRequested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = nullptr;
  *bytes = 0;
  *max_records = 0;
  for (std::size_t i = 0; i < kBuffers; ++i) {
    if (window.taken[i].exchange(true, std::memory_order_acquire)) continue;
    *buffer = window.buffers + i * kBufferBytes;
    *bytes = kBufferBytes;
    return;
  }
}

void BufferCompleted(void*, std::uint32_t, std::uint8_t* buffer, std::size_t,
                     std::size_t valid_bytes) {
  void* record = nullptr;
  while (valid_bytes > 0 &&
         window.cupti->cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == 0) {
    window.file.Take(record);
    if (void* details = DetailsOf(record); details != nullptr) window.cupti->free(details);
  }
  const auto offset = static_cast<std::size_t>(buffer - window.buffers);
  if (offset < kBuffers * kBufferBytes) {
    window.taken[offset / kBufferBytes].store(false, std::memory_order_release);
  }
}

// CUpti_CallbackData begins with the site of the callback.
void OnApiCall(void*, int domain, std::uint32_t, const void* data) {
  if (domain != kDriverDomain && domain != kRuntimeDomain) return;
  if (data == nullptr || *static_cast<const std::uint32_t*>(data) != kSiteExit) return;
  if (window.leaving.exchange(false, std::memory_order_acq_rel)) window.cupti->cuptiFinalize();
}

abi::ClockPair ReadClocks(const CuptiLibrary& cupti) {
  abi::ClockPair pair = {};
  std::uint64_t stamp = 0;
  const std::int64_t before = MonotonicNs();
  cupti.cuptiGetTimestamp(&stamp);
  const std::int64_t after = MonotonicNs();
  pair.mono_ns = before + (after - before) / 2;
  pair.cupti_ns = static_cast<std::int64_t>(stamp);
  pair.width_ns = after - before;
  return pair;
}

bool HaveBuffers() {
  if (window.buffers != nullptr) return true;
  void* at = mmap(nullptr, kBuffers * kBufferBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  window.buffers = static_cast<std::uint8_t*>(at);
  return true;
}

bool EnableAll(const CuptiLibrary& cupti) {
  if (cupti.cuptiActivityRegisterCallbacks(BufferRequested, BufferCompleted) != 0) return false;
  bool all = true;
  for (const int kind : kKinds) all = cupti.cuptiActivityEnable(kind) == 0 && all;
  cupti.cuptiActivityEnable(kExtraKind);
  return all;
}

// CUPTI calls the driver; those calls are not the job's.
class Inside {
 public:
  Inside() : before_(thread_state.device.inside) { thread_state.device.inside = 1; }
  ~Inside() { thread_state.device.inside = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const std::uint32_t before_;
};

void StopRecording(const CuptiLibrary& cupti) {
  for (const int kind : kKinds) cupti.cuptiActivityDisable(kind);
  cupti.cuptiActivityDisable(kExtraKind);
  cupti.cuptiActivityFlushAll(kForced);
}

WindowReason OpenWindow(const TracerState& state, std::uint32_t ticket) {
  const Inside inside;
  if (OtherProfilerSeen()) return WindowReason::kOtherProfiler;
  const CuptiLibrary* cupti = FindCupti();
  if (cupti == nullptr) return WindowReason::kNoSource;
  std::uint32_t version = 0;
  if (cupti->cuptiGetVersion(&version) != 0) return WindowReason::kFailed;
  if (version < kSafeToFinalize) return WindowReason::kUnsafe;
  if (window.leaving.load(std::memory_order_acquire)) return WindowReason::kFailed;
  if (!HaveBuffers()) return WindowReason::kNoSpace;
  window.cupti = cupti;
  const int subscribed = cupti->cuptiSubscribe(&window.subscriber, OnApiCall, nullptr);
  if (subscribed == kMultipleSubscribers) return WindowReason::kOtherProfiler;
  if (subscribed != 0) return WindowReason::kFailed;
  const bool opened = window.file.Open(state, ticket, version, ReadClocks(*cupti));
  if (opened && EnableAll(*cupti)) return WindowReason::kNone;
  StopRecording(*cupti);
  window.file.Close(ReadClocks(*cupti));
  cupti->cuptiUnsubscribe(window.subscriber);
  return opened ? WindowReason::kFailed : WindowReason::kNoSpace;
}

// Another profiler that is waiting to come in has CUPTI for itself afterwards: it is not finalised.
WindowCounts CloseWindow(const TracerState&) {
  const Inside inside;
  const CuptiLibrary& cupti = *window.cupti;
  StopRecording(cupti);
  const WindowCounts counts = window.file.Close(ReadClocks(cupti));
  if (OtherProfilerSeen()) {
    cupti.cuptiUnsubscribe(window.subscriber);
    return counts;
  }
  window.leaving.store(true, std::memory_order_release);
  cupti.cuptiEnableDomain(1, window.subscriber, kDriverDomain);
  cupti.cuptiEnableDomain(1, window.subscriber, kRuntimeDomain);
  return counts;
}

}  // namespace

void LeaveCupti() {
  if (window.leaving.exchange(false, std::memory_order_acq_rel)) {
    window.cupti->cuptiUnsubscribe(window.subscriber);
  }
}

const WindowSource* TheWindowSource() {
  static constexpr WindowSource kSource = {abi::kSourceCupti, OpenWindow, CloseWindow};
  return &kSource;
}

}  // namespace fathom::tracer
