#include <algorithm>
#include <numeric>

#include "kernels/cuda/device/cuda_call.h"
#include "kernels/cuda/memory/gpu_memory.h"
#include "kernels/measure/samples.h"
#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

constexpr std::size_t kLineBytes = 128;
constexpr std::size_t kWordsOfLine = kLineBytes / sizeof(std::uint32_t);
constexpr std::size_t kMostBytes = std::size_t{512} << 20;
constexpr std::size_t kLeastOfL2 = 4;
constexpr std::size_t kInL2 = std::size_t{2} << 20;
constexpr int kHops = 20000;

__global__ void Follow(const std::uint32_t* ring, std::uint32_t* at, int hops) {
  std::uint32_t place = *at;
  for (int i = 0; i < hops; ++i) place = __ldcg(ring + place);  // past the L1
  *at = place;
}

// One cycle through all lines in random order (Sattolo); the first word of a line names the next.
std::vector<std::uint32_t> RingOf(std::size_t lines) {
  std::vector<std::uint32_t> next(lines);
  std::iota(next.begin(), next.end(), 0u);
  std::uint64_t state = 1;
  for (std::size_t i = lines - 1; i > 0; --i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(next[i], next[(state >> 33) % i]);
  }
  std::vector<std::uint32_t> ring(lines * kWordsOfLine);
  for (std::size_t i = 0; i < lines; ++i) {
    ring[i * kWordsOfLine] = static_cast<std::uint32_t>(next[i] * kWordsOfLine);
  }
  return ring;
}

Figure LatencyOf(const GpuBounds& bounds, double seconds, const char* name, std::size_t bytes) {
  const std::vector<std::uint32_t> words = RingOf(bytes / kLineBytes);
  DeviceBuffer<std::uint32_t> ring(words.size());
  DeviceBuffer<std::uint32_t> at(1);
  ring.Put(words.data());
  Check(cudaMemset(at.Data(), 0, at.Bytes()), "the start of the ring");
  Check(cudaDeviceSynchronize(), "the start of the ring");
  Stream stream;
  EventTimer timer(stream.Get());
  Follow<<<1, 1, 0, stream.Get()>>>(ring.Data(), at.Data(), kHops);
  std::vector<double> times;
  const double end = WallSeconds() + seconds;
  do {
    timer.Begin();
    Follow<<<1, 1, 0, stream.Get()>>>(ring.Data(), at.Data(), kHops);
    CheckLaunch("following a ring");
    times.push_back(timer.Seconds() / kHops);
  } while (WallSeconds() < end && !bounds.Stopped());
  Figure figure = MedianFigure(name, "", times, "s");
  figure.less_is_better = true;
  return figure;
}

}  // namespace

ProbeResult GpuMemoryLatency(const GpuBounds& bounds) {
  return RunOnGpus(bounds, Order::kAtOnce, [&](const Gpu& gpu) {
    const std::size_t bytes = std::min(kMostBytes, bounds.bytes);
    if (bytes < kLeastOfL2 * gpu.l2_bytes) {
      throw CannotRun("the memory that it may take is too small to tell memory from the L2");
    }
    GpuReading reading;
    const double half = bounds.seconds / 2;
    reading.figures.push_back(LatencyOf(bounds, half, "gpu_memory_latency", bytes));
    if (gpu.l2_bytes >= 2 * kInL2) {
      reading.figures.push_back(LatencyOf(bounds, half, "gpu_l2_latency", kInL2));
    }
    return reading;
  });
}

}  // namespace fathom::kernels
