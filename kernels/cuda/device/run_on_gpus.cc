#include "kernels/cuda/device/run_on_gpus.h"

#include <thread>

#include "kernels/cuda/device/cuda_call.h"

namespace fathom::kernels {
namespace {

struct Told {
  GpuReading reading;
  Outcome outcome = Outcome::kDone;
  std::string reason;
};

// Of a machine that lacks something; every other error of CUDA is a GPU that does wrong.
bool IsLack(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorNotSupported:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidValue:
      return true;
    default:
      return false;
  }
}

Told Ask(const Gpu& gpu, const std::function<GpuReading(const Gpu&)>& probe) {
  Told told;
  try {
    Check(cudaSetDevice(gpu.index), "opening the GPU");
    told.reading = probe(gpu);
    for (Figure& figure : told.reading.figures) {
      if (figure.where.empty()) figure.where = "gpu" + std::to_string(gpu.index);
    }
  } catch (const CudaError& error) {
    told.outcome = IsLack(error.Code()) ? Outcome::kSkipped : Outcome::kFaulty;
    told.reason = error.what();
  } catch (const WrongResult& error) {
    told.outcome = Outcome::kFaulty;
    told.reason = error.what();
  } catch (const std::exception& error) {
    told.outcome = Outcome::kSkipped;
    told.reason = error.what();
  }
  return told;
}

void Add(ProbeResult& result, const Gpu& gpu, const Told& told) {
  for (const Figure& figure : told.reading.figures) result.figures.push_back(figure);
  if (result.digest.empty()) result.digest = told.reading.digest;
  if (!told.reason.empty()) {
    result.reason +=
        (result.reason.empty() ? "gpu" : "; gpu") + std::to_string(gpu.index) + ": " + told.reason;
  }
  if (told.outcome == Outcome::kFaulty) result.outcome = Outcome::kFaulty;
  if (told.reading.digest.empty() || told.reading.digest == result.digest) return;
  result.outcome = Outcome::kFaulty;
  result.reason += (result.reason.empty() ? "gpu" : "; gpu") + std::to_string(gpu.index) +
                   " computes other bits than the first GPU";
}

}  // namespace

ProbeResult RunOnGpus(const GpuBounds& bounds, Order order,
                      const std::function<GpuReading(const Gpu&)>& probe) {
  std::vector<Told> told(bounds.gpus.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < told.size(); ++i) {
    threads.emplace_back([&, i] { told[i] = Ask(bounds.gpus[i], probe); });
    if (order == Order::kInTurn) threads.back().join();
  }
  for (std::thread& thread : threads) {
    if (thread.joinable()) thread.join();
  }
  ProbeResult result;
  for (std::size_t i = 0; i < told.size(); ++i) Add(result, bounds.gpus[i], told[i]);
  if (result.outcome == Outcome::kDone && result.figures.empty()) {
    result.outcome = bounds.Stopped() ? Outcome::kStopped : Outcome::kSkipped;
    if (result.reason.empty()) result.reason = "no GPU that it can run on";
  }
  return result;
}

}  // namespace fathom::kernels
