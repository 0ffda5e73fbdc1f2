#include <vector>

#include "kernels/cuda/device/cuda_call.h"
#include "kernels/cuda/device/digest.h"
#include "kernels/cuda/link/transfer.h"
#include "kernels/measure/samples.h"
#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

constexpr std::size_t kBytes = std::size_t{128} << 20;
constexpr std::size_t kWords = kBytes / sizeof(std::uint32_t);
constexpr std::size_t kLeastSlices = 5;

__global__ void FillWords(std::uint32_t* words, std::size_t count, std::uint32_t salt) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    words[i] = (static_cast<std::uint32_t>(i) + salt) * 2654435761u;
  }
}

bool Reaches(int from, int to) {
  int can = 0;
  Check(cudaDeviceCanAccessPeer(&can, from, to), "asking for a peer");
  if (can == 0) return false;
  const cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
    return true;
  }
  Check(error, "reaching a peer");
  return true;
}

std::vector<double> Times(const GpuBounds& bounds, double seconds, Stream& stream,
                          const std::function<void()>& copy) {
  EventTimer timer(stream.Get());
  std::vector<double> times;
  copy();
  const double end = WallSeconds() + seconds;
  while (times.size() < kLeastSlices || (WallSeconds() < end && !bounds.Stopped())) {
    timer.Begin();
    copy();
    times.push_back(timer.Seconds());
  }
  return times;
}

// Copies from the current GPU to its peer.
void MeasurePair(const GpuBounds& bounds, double seconds, int from, int to, GpuReading& reading) {
  if (!Reaches(from, to)) return;
  DeviceBuffer<std::uint32_t> source(kWords);
  FillWords<<<1024, 256>>>(source.Data(), kWords, static_cast<std::uint32_t>(from));
  CheckLaunch("filling memory");
  const std::uint64_t sent = GpuDigestOf(source.Data(), kWords, nullptr);
  Check(cudaSetDevice(to), "opening a peer");
  DeviceBuffer<std::uint32_t> target(kWords);
  Check(cudaSetDevice(from), "opening the GPU");
  Stream stream;
  const auto copy = [&](std::size_t bytes) {
    Check(cudaMemcpyPeerAsync(target.Data(), to, source.Data(), from, bytes, stream.Get()),
          "copying to a peer");
  };
  std::vector<double> rates;
  for (const double time : Times(bounds, seconds / 2, stream, [&] { copy(kBytes); })) {
    rates.push_back(static_cast<double>(kBytes) / time);
  }
  const std::vector<double> waits = Times(bounds, seconds / 2, stream, [&] { copy(4); });
  const std::string where = "gpu" + std::to_string(from) + "-gpu" + std::to_string(to);
  Check(cudaSetDevice(to), "opening a peer");
  if (bounds.flip) FlipBit(target.Data(), kWords / 5, 7, nullptr);
  const std::uint64_t arrived = GpuDigestOf(target.Data(), kWords, nullptr);
  Check(cudaSetDevice(from), "opening the GPU");
  if (arrived != sent) throw WrongResult("what it sent over " + where + " arrived changed");
  reading.figures.push_back(MedianFigure("gpu_peer", where, rates, "B/s"));
  reading.figures.push_back(MedianFigure("gpu_peer_latency", where, waits, "s"));
  reading.figures.back().less_is_better = true;
}

}  // namespace

ProbeResult GpuPeers(const GpuBounds& bounds) {
  const std::size_t gpus = bounds.gpus.size();
  if (gpus < 2) return {.outcome = Outcome::kSkipped, .reason = "one GPU has no peer"};
  const double each = bounds.seconds / static_cast<double>(gpus * (gpus - 1));
  return RunOnGpus(bounds, Order::kInTurn, [&](const Gpu& gpu) {
    GpuReading reading;
    for (const Gpu& peer : bounds.gpus) {
      if (peer.index != gpu.index) MeasurePair(bounds, each, gpu.index, peer.index, reading);
    }
    if (reading.figures.empty()) throw CannotRun("it reaches no other GPU's memory");
    return reading;
  });
}

}  // namespace fathom::kernels
