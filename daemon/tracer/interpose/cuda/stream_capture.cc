#include "daemon/tracer/interpose/cuda/stream_capture.h"

#include <dlfcn.h>

#include "daemon/tracer/interpose/loader.h"

namespace fathom::tracer {
namespace {

constexpr std::uint64_t kLastSpecialStream = 2;  // CU_STREAM_PER_THREAD
constexpr int kCapturing = 1;                    // CU_STREAM_CAPTURE_STATUS_ACTIVE

constinit std::atomic<GetCaptureInfo> get_capture_info{nullptr};

// libcuda is there: one of its streams is being captured.
void FindDriver() {
  if (get_capture_info.load(std::memory_order_acquire) != nullptr) return;
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return;
  get_capture_info.store(
      reinterpret_cast<GetCaptureInfo>(LookUp(driver, "cuStreamGetCaptureInfo_v2")),
      std::memory_order_release);
}

}  // namespace

constinit std::atomic<std::uint32_t> open_captures{0};

void NoteCaptureBegan() {
  FindDriver();
  open_captures.fetch_add(1, std::memory_order_relaxed);
}

void NoteCaptureEnded() {
  std::uint32_t open = open_captures.load(std::memory_order_relaxed);
  while (open != 0 &&
         !open_captures.compare_exchange_weak(open, open - 1, std::memory_order_relaxed)) {
  }
}

std::uint64_t FindCapture(std::uint64_t stream) {
  const GetCaptureInfo ask = get_capture_info.load(std::memory_order_acquire);
  if (ask == nullptr || stream <= kLastSpecialStream) return 0;
  int status = 0;
  std::uint64_t id = 0;
  const int result = ask(reinterpret_cast<void*>(stream), &status, &id, nullptr, nullptr, nullptr);
  return result == 0 && status == kCapturing ? id : 0;
}

}  // namespace fathom::tracer
