#include <cstring>
#include <functional>

#include "kernels/cuda/device/cuda_call.h"
#include "kernels/cuda/device/digest.h"
#include "kernels/cuda/device/word_hash.h"
#include "kernels/cuda/link/transfer.h"
#include "kernels/measure/samples.h"
#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

constexpr std::size_t kBytes = std::size_t{128} << 20;
constexpr std::size_t kWords = kBytes / sizeof(std::uint32_t);

__global__ void Nothing() {}

class HostLink {
 public:
  explicit HostLink(const GpuBounds& bounds)
      : bounds_(bounds), out_(kBytes), in_(kBytes), gpu_(kWords), other_(kWords) {
    auto* words = static_cast<std::uint32_t*>(out_.Data());
    for (std::size_t i = 0; i < kWords; ++i) words[i] = static_cast<std::uint32_t>(i) * 2654435761u;
    std::memset(in_.Data(), 0, kBytes);
  }

  void PutDown() { Copy(gpu_.Data(), out_.Data(), cudaMemcpyHostToDevice, down_); }
  void FetchUp() { Copy(in_.Data(), gpu_.Data(), cudaMemcpyDeviceToHost, up_); }
  void FetchOther() { Copy(in_.Data(), other_.Data(), cudaMemcpyDeviceToHost, up_); }
  void Wait() {
    Check(cudaStreamSynchronize(down_.Get()), "copying");
    Check(cudaStreamSynchronize(up_.Get()), "copying");
  }

  // What `slice` moves, by the host's clock from its start until all has arrived.
  std::vector<double> Rates(double seconds, double bytes, const std::function<void()>& slice) {
    std::vector<double> rates;
    slice();
    Wait();
    const double end = WallSeconds() + seconds;
    do {
      const double begin = WallSeconds();
      slice();
      Wait();
      rates.push_back(bytes / (WallSeconds() - begin));
    } while (WallSeconds() < end && !bounds_.Stopped());
    return rates;
  }

  std::vector<double> Waits(double seconds, const std::function<void(cudaStream_t)>& put) {
    std::vector<double> times;
    const double end = WallSeconds() + seconds;
    do {
      const double begin = WallSeconds();
      put(down_.Get());
      Check(cudaStreamSynchronize(down_.Get()), "waiting for the GPU");
      times.push_back(WallSeconds() - begin);
    } while (WallSeconds() < end && !bounds_.Stopped());
    return times;
  }

  void CopyOneWord(cudaStream_t stream) {
    Check(cudaMemcpyAsync(other_.Data(), out_.Data(), 4, cudaMemcpyHostToDevice, stream),
          "copying");
  }

  void CheckRoundTrip() {
    PutDown();
    Wait();
    if (bounds_.flip) FlipBit(gpu_.Data(), kWords / 5, 7, down_.Get());
    Wait();
    FetchUp();
    Wait();
    const auto* sent = static_cast<const std::uint32_t*>(out_.Data());
    const auto* back = static_cast<const std::uint32_t*>(in_.Data());
    for (std::size_t i = 0; i < kWords; ++i) {
      if (sent[i] == back[i]) continue;
      throw WrongResult("what was sent to it came back changed, first at byte " +
                        std::to_string(4 * i));
    }
  }

 private:
  void Copy(void* to, const void* from, cudaMemcpyKind kind, const Stream& stream) {
    Check(cudaMemcpyAsync(to, from, kBytes, kind, stream.Get()), "copying");
  }

  const GpuBounds& bounds_;
  PinnedBuffer out_;
  PinnedBuffer in_;
  DeviceBuffer<std::uint32_t> gpu_;
  DeviceBuffer<std::uint32_t> other_;
  Stream down_;
  Stream up_;
};

Figure Latency(const char* name, const std::vector<double>& times) {
  Figure figure = MedianFigure(name, "", times, "s");
  figure.less_is_better = true;
  return figure;
}

GpuReading MeasureLink(const GpuBounds& bounds) {
  HostLink link(bounds);
  link.CheckRoundTrip();
  const double part = bounds.seconds / 4;
  constexpr auto kSize = static_cast<double>(kBytes);
  GpuReading reading;
  const auto rate = [&](const char* name, double bytes, const std::function<void()>& slice) {
    reading.figures.push_back(MedianFigure(name, "", link.Rates(part, bytes, slice), "B/s"));
  };
  rate("gpu_from_host", kSize, [&] { link.PutDown(); });
  rate("gpu_to_host", kSize, [&] { link.FetchUp(); });
  rate("gpu_both_ways", 2 * kSize, [&] {
    link.PutDown();
    link.FetchOther();
  });
  reading.figures.push_back(
      Latency("gpu_copy_latency",
              link.Waits(part / 2, [&](cudaStream_t stream) { link.CopyOneWord(stream); })));
  reading.figures.push_back(
      Latency("gpu_launch_latency", link.Waits(part / 2, [](cudaStream_t stream) {
        Nothing<<<1, 1, 0, stream>>>();
        CheckLaunch("an empty kernel");
      })));
  link.CheckRoundTrip();
  return reading;
}

}  // namespace

ProbeResult GpuHostTransfer(const GpuBounds& bounds) {
  return RunOnGpus(bounds, Order::kInTurn, [&](const Gpu&) { return MeasureLink(bounds); });
}

}  // namespace fathom::kernels
