#include <algorithm>
#include <functional>

#include "kernels/cuda/device/cuda_call.h"
#include "kernels/cuda/memory/gpu_memory.h"
#include "kernels/measure/samples.h"
#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

constexpr int kThreads = 512;
constexpr int kUnrolled = 4;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kLeastOfL2 = 8;  // times the L2, or it measures the L2
constexpr int kPassesOfSlice = 4;

// Each block goes through pieces of kUnrolled · blockDim vectors, all loads before their use.
template <typename Body>
__device__ inline void ForEachPiece(std::size_t vectors, const Body& body) {
  const std::size_t piece = static_cast<std::size_t>(kUnrolled) * blockDim.x;
  for (std::size_t at = blockIdx.x * piece; at < vectors; at += gridDim.x * piece) {
    body(at + threadIdx.x);
  }
}

__global__ void Read(const uint4* from, std::size_t vectors, std::uint32_t* never) {
  std::uint32_t mixed = 0;
  ForEachPiece(vectors, [&](std::size_t at) {
    uint4 got[kUnrolled];
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) got[i] = __ldcs(from + at + i * blockDim.x);
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) mixed ^= got[i].x ^ got[i].y ^ got[i].z ^ got[i].w;
  });
  if (mixed == 0x5a17c0deu) *never = mixed;  // so that the loads are not left out
}

__global__ void Write(uint4* to, std::size_t vectors, std::uint32_t word) {
  ForEachPiece(vectors, [&](std::size_t at) {
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i)
      __stcs(to + at + i * blockDim.x, make_uint4(word, word, word, word));
  });
}

__global__ void Copy(uint4* to, const uint4* from, std::size_t vectors) {
  ForEachPiece(vectors, [&](std::size_t at) {
    uint4 got[kUnrolled];
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) got[i] = __ldcs(from + at + i * blockDim.x);
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) __stcs(to + at + i * blockDim.x, got[i]);
  });
}

// Bytes a second of `pass`, which goes through `bytes`.
std::vector<double> Rates(const GpuBounds& bounds, double seconds, EventTimer& timer, double bytes,
                          const std::function<void()>& pass) {
  std::vector<double> rates;
  pass();
  const double end = WallSeconds() + seconds;
  do {
    timer.Begin();
    for (int i = 0; i < kPassesOfSlice; ++i) pass();
    CheckLaunch("going through memory");
    rates.push_back(kPassesOfSlice * bytes / timer.Seconds());
  } while (WallSeconds() < end && !bounds.Stopped());
  return rates;
}

GpuReading ReadWriteCopy(const GpuBounds& bounds, const Gpu& gpu) {
  const std::size_t piece = sizeof(uint4) * kUnrolled * kThreads;
  const std::size_t bytes = std::min(kMostBytes, bounds.bytes / 2) / piece * piece;
  if (bytes < kLeastOfL2 * gpu.l2_bytes) {
    throw CannotRun("the memory that it may take is too small to tell memory from the L2");
  }
  DeviceBuffer<std::uint8_t> from(bytes);
  DeviceBuffer<std::uint8_t> to(bytes);
  DeviceBuffer<std::uint32_t> never(1);
  Stream stream;
  EventTimer timer(stream.Get());
  const std::size_t vectors = bytes / sizeof(uint4);
  const int blocks = gpu.processors * (2048 / kThreads);
  auto* source = reinterpret_cast<uint4*>(from.Data());
  auto* target = reinterpret_cast<uint4*>(to.Data());
  const double third = bounds.seconds / 3;
  const auto size = static_cast<double>(bytes);
  GpuReading reading;
  const auto add = [&](const char* name, const std::function<void()>& pass) {
    reading.figures.push_back(
        MedianFigure(name, "", Rates(bounds, third, timer, size, pass), "B/s"));
  };
  add("gpu_memory_write",
      [&] { Write<<<blocks, kThreads, 0, stream.Get()>>>(source, vectors, 0x12345678u); });
  add("gpu_memory_read",
      [&] { Read<<<blocks, kThreads, 0, stream.Get()>>>(source, vectors, never.Data()); });
  add("gpu_memory_copy",
      [&] { Copy<<<blocks, kThreads, 0, stream.Get()>>>(target, source, vectors); });
  return reading;
}

}  // namespace

ProbeResult GpuMemoryBandwidth(const GpuBounds& bounds) {
  return RunOnGpus(bounds, Order::kAtOnce,
                   [&](const Gpu& gpu) { return ReadWriteCopy(bounds, gpu); });
}

}  // namespace fathom::kernels
