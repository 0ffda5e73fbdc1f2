#include <algorithm>

#include "kernels/cuda/device/cuda_call.h"
#include "kernels/cuda/device/digest.h"
#include "kernels/cuda/memory/gpu_memory.h"
#include "kernels/measure/digest.h"
#include "kernels/measure/workers.h"
#include "kernels/memory/pattern_word.h"

namespace fathom::kernels {
namespace {

constexpr int kThreads = 512;
constexpr std::size_t kMostBytes = std::size_t{32} << 30;
constexpr int kFlippedBit = 5;

struct Found {
  unsigned long long wrong;    // words
  unsigned long long first;    // place of the first of them
  unsigned long long flipped;  // bits
};

__global__ void Fill(unsigned long long* words, std::size_t count, std::uint32_t pattern,
                     std::uint64_t round) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    __stcs(words + i, static_cast<unsigned long long>(PatternWord(pattern, i, round)));
  }
}

__global__ void Compare(const unsigned long long* words, std::size_t count, std::uint32_t pattern,
                        std::uint64_t round, Found* found) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const unsigned long long flipped = __ldcs(words + i) ^ PatternWord(pattern, i, round);
    if (flipped == 0) continue;
    atomicAdd(&found->wrong, 1ull);
    atomicMin(&found->first, static_cast<unsigned long long>(i));
    atomicOr(&found->flipped, flipped);
  }
}

void Refuse(const Found& found) {
  if (found.wrong == 0) return;
  throw WrongResult(std::to_string(found.wrong) + " words of its memory changed, first at byte " +
                    std::to_string(found.first * sizeof(std::uint64_t)) + ", bits " +
                    HexOf(found.flipped));
}

GpuReading CheckMemory(const GpuBounds& bounds, const Gpu& gpu) {
  const std::size_t count = std::min(kMostBytes, bounds.bytes) / sizeof(std::uint64_t);
  DeviceBuffer<unsigned long long> words(count);
  DeviceBuffer<Found> found(1);
  const Found none{.wrong = 0, .first = ~0ull, .flipped = 0};
  const int blocks = gpu.processors * (2048 / kThreads);
  double checked = 0;
  const double end = WallSeconds() + bounds.seconds;
  std::uint64_t turn = 0;
  do {
    const auto pattern = static_cast<std::uint32_t>(turn % kMemoryPatterns);
    found.Put(&none);
    Fill<<<blocks, kThreads>>>(words.Data(), count, pattern, turn);
    if (bounds.flip) FlipBit(words.Data(), count, kFlippedBit, nullptr);
    Compare<<<blocks, kThreads>>>(words.Data(), count, pattern, turn, found.Data());
    CheckLaunch("comparing memory");
    Check(cudaDeviceSynchronize(), "comparing memory");
    Found now{};
    found.Get(&now);
    Refuse(now);
    checked += static_cast<double>(words.Bytes());
    ++turn;
  } while (turn < kMemoryPatterns || (WallSeconds() < end && !bounds.Stopped()));
  GpuReading reading;
  reading.figures.push_back({.name = "gpu_memory_checked", .value = checked, .unit = "B"});
  return reading;
}

}  // namespace

ProbeResult GpuMemoryPattern(const GpuBounds& bounds) {
  return RunOnGpus(bounds, Order::kAtOnce,
                   [&](const Gpu& gpu) { return CheckMemory(bounds, gpu); });
}

}  // namespace fathom::kernels
