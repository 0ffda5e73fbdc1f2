// A GPU that does nothing but take time: streams and events on the host's clock.
//
// Used by driver.cc (libcuda.so.1 of the fakes). It knows nothing of the tracer.
//
// Model: a stream is a queue that is busy until a moment; a kernel of n blocks keeps it busy for
// n µs, times FAKE_CUDA_THROTTLE (a clock that was turned down: 1 is full speed). Work begins when
// the stream is free and what it was made to wait for is over. Nothing runs: waiting for a stream
// is sleeping until its moment. At most kQueueDepth kernels may be ahead of the host; a launch
// beyond that blocks, as on a real GPU. Units: CLOCK_MONOTONIC ns. Thread-safety: streams are for
// one thread at a time, counters for all.
#ifndef FATHOM_TESTS_FAKES_CUDA_VIRTUAL_GPU_H_
#define FATHOM_TESTS_FAKES_CUDA_VIRTUAL_GPU_H_

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace fake_cuda {

inline constexpr std::uint32_t kQueueDepth = 1024;
inline constexpr int kGpus = 16;  // of the machine

// Which of the machine's GPUs the process sees as `device`; -1: none.
int VisibleGpu(int device);

inline std::int64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline void SleepUntil(std::int64_t moment_ns) {
  const timespec at = {moment_ns / 1'000'000'000, moment_ns % 1'000'000'000};
  if (moment_ns > NowNs()) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

inline double Throttle() {
  static const char* const text = std::getenv("FAKE_CUDA_THROTTLE");
  static const double factor = text == nullptr ? 1.0 : std::atof(text);
  return factor;
}

// Told of all work as it is launched, and of the end of each call: the fake CUPTI.
struct Work {
  enum Kind { kKernel, kCopy, kMemset, kSync } kind;  // kSync: the host waited for the stream
  std::int64_t start_ns;
  std::int64_t end_ns;
  const void* stream;
  const char* name = "fake_kernel";
};
using Observer = void (*)(const Work& work);

// Runs the kernels of streams that are not ours: another simulator, whose streams are threads.
// There a function handle is the kernel's name.
struct Executor {
  using Done = void (*)(void* kernel, void* stream, std::int64_t start_ns, std::int64_t end_ns);
  void (*run)(void* stream, std::int64_t busy_ns, void* kernel, Done done);
  void (*synchronize)(void* stream);
  void (*record)(void* stream, void* event);
  void (*wait)(void* stream, void* event);
};

struct Event {
  std::int64_t over_ns = 0;
};

struct Stream {
  std::int64_t free_ns = 0;
  std::int64_t ends[kQueueDepth] = {};  // of the newest kernels, a ring
  std::uint64_t launched = 0;
  bool spoilt = false;  // its capture, by a call that it does not allow

  // Returns when the work starts.
  std::int64_t Run(std::int64_t busy_ns) {
    std::int64_t& oldest = ends[launched++ % kQueueDepth];
    if (oldest != 0) SleepUntil(oldest);
    const auto lasts = static_cast<std::int64_t>(static_cast<double>(busy_ns) * Throttle());
    oldest = free_ns = std::max(free_ns, NowNs()) + lasts;
    return free_ns - lasts;
  }
  void Wait(const Event& event) { free_ns = std::max(free_ns, event.over_ns); }
  void Synchronize() const { SleepUntil(free_ns); }
};

}  // namespace fake_cuda

#endif  // FATHOM_TESTS_FAKES_CUDA_VIRTUAL_GPU_H_
