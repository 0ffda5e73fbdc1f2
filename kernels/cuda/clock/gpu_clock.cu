#include "kernels/cuda/clock/gpu_clock.h"

#include "kernels/cuda/device/cuda_call.h"
#include "kernels/cuda/product/tensor_tile.cuh"
#include "kernels/measure/samples.h"
#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

constexpr int kThreads = 512;
constexpr double kLaunchSeconds = 0.5;
constexpr double kLeastSeconds = 1;
constexpr std::uint64_t kLookEveryNs = 20'000'000;
constexpr std::size_t kLooks = 64;
constexpr int kChains = 8;

__device__ inline std::uint64_t GpuNanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Keeps the units busy for some microseconds.
__device__ inline void Work(float (&sums)[kChains][4], const std::uint32_t (&a)[4],
                            std::uint32_t b0, std::uint32_t b1) {
#pragma unroll 4
  for (int i = 0; i < 64; ++i) {
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) {
#if __CUDA_ARCH__ >= 800
      MultiplyFragment<Format::kBf16>(sums[chain], a, b0, b1);
#else
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        sums[chain][j] = fmaf(__uint_as_float(a[j] & 0x3fffffffu), 0.5f, -sums[chain][j]);
      }
#endif
    }
  }
}

// Bits of BF16 numbers of size 1 to 2 and either sign.
__device__ inline std::uint32_t TwoNumbers(std::uint32_t seed) {
  seed = (seed + 1) * 2654435761u;
  return (seed & 0x807f807fu) | 0x3f803f80u;
}

__global__ void __launch_bounds__(kThreads)
    Load(std::uint64_t nanoseconds, ClockLook* looks, unsigned long long* rounds, float* never) {
  float sums[kChains][4] = {};
  std::uint32_t a[4];
  for (int i = 0; i < 4; ++i) a[i] = TwoNumbers(threadIdx.x * 4 + i);
  const std::uint32_t b0 = TwoNumbers(threadIdx.x + 4096);
  const std::uint32_t b1 = TwoNumbers(threadIdx.x + 8192);
  const std::uint64_t begin = GpuNanoseconds();
  std::uint64_t next = begin;
  std::size_t looked = 0;
  unsigned long long done = 0;
  for (std::uint64_t now = begin; now < begin + nanoseconds; now = GpuNanoseconds(), ++done) {
    if (threadIdx.x == 0 && now >= next && looked < kLooks) {
      looks[blockIdx.x * kLooks + looked++] = {static_cast<std::uint64_t>(clock64()),
                                               GpuNanoseconds()};
      next = now + kLookEveryNs;
    }
    Work(sums, a, b0, b1);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(rounds + blockIdx.x, done);
  float sum = 0;
  for (int chain = 0; chain < kChains; ++chain) {
    for (int j = 0; j < 4; ++j) sum += sums[chain][j];
  }
  if (sum == 1.2345e30f) *never = sum;  // so that the work is not left out
}

class Spinner {
 public:
  explicit Spinner(const Gpu& gpu)
      : processors_(gpu.processors),
        looks_(static_cast<std::size_t>(gpu.processors) * kLooks),
        rounds_(static_cast<std::size_t>(gpu.processors)),
        never_(1) {
    Check(cudaMemset(rounds_.Data(), 0, rounds_.Bytes()), "clearing");
  }

  void Run(std::vector<ClockMoment>& moments) {
    Check(cudaMemset(looks_.Data(), 0, looks_.Bytes()), "clearing");
    Load<<<processors_, kThreads>>>(static_cast<std::uint64_t>(1e9 * kLaunchSeconds), looks_.Data(),
                                    rounds_.Data(), never_.Data());
    CheckLaunch("spinning");
    Check(cudaDeviceSynchronize(), "spinning");
    std::vector<ClockLook> looks(looks_.Count());
    looks_.Get(looks.data());
    if (begin_ns_ == 0) begin_ns_ = looks.front().nanoseconds;
    for (const ClockMoment& moment : ClockOverTime(looks, kLooks, begin_ns_)) {
      moments.push_back(moment);
    }
  }

  double SlowestProcessor() const {
    std::vector<std::uint64_t> rounds(rounds_.Count());
    rounds_.Get(rounds.data());
    std::vector<double> values(rounds.begin(), rounds.end());
    const double median = MedianOf(values);
    return median > 0 ? QuantileOf(values, 0) / median : 0;
  }

 private:
  int processors_;
  DeviceBuffer<ClockLook> looks_;
  DeviceBuffer<unsigned long long> rounds_;
  DeviceBuffer<float> never_;
  std::uint64_t begin_ns_ = 0;
};

GpuReading Spin(const GpuBounds& bounds, const Gpu& gpu) {
  if (bounds.seconds < kLeastSeconds) throw CannotRun("a second at least is needed");
  Spinner spinner(gpu);
  std::vector<ClockMoment> moments;
  const double end = WallSeconds() + bounds.seconds;
  while (WallSeconds() < end && !bounds.Stopped()) spinner.Run(moments);
  GpuReading reading{.figures = ClockFigures(moments)};
  for (Figure& figure : reading.figures) {
    const std::string name = "gpu" + std::to_string(gpu.index);
    figure.where = figure.where.empty() ? name : name + " " + figure.where;
  }
  reading.figures.push_back(
      {.name = "gpu_slowest_processor", .value = spinner.SlowestProcessor(), .unit = "ratio"});
  return reading;
}

}  // namespace

ProbeResult GpuClock(const GpuBounds& bounds) {
  return RunOnGpus(bounds, Order::kAtOnce, [&](const Gpu& gpu) { return Spin(bounds, gpu); });
}

}  // namespace fathom::kernels
