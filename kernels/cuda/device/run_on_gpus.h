// Runs a probe on each GPU that it may use, and makes one result of it.
//
// Used by every probe of kernels/cuda. Model: a thread a GPU, all at once, or one after the other
// where they would share what is measured (the host's memory, a switch). A figure's `where` is
// "gpu0", by the index of cuda/device/gpu.
//
// Errors: a GPU on which the probe cannot run (too old, no memory) makes no figures; none can:
// skipped with the reason. One whose driver tells of a fault (uncorrectable memory, a kernel that
// was aborted) makes the result faulty and is named. Thread-safety: blocks its caller.
#ifndef FATHOM_KERNELS_CUDA_DEVICE_RUN_ON_GPUS_H_
#define FATHOM_KERNELS_CUDA_DEVICE_RUN_ON_GPUS_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/device/gpu.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

struct GpuBounds {
  double seconds = 1;
  std::size_t bytes = std::size_t{2} << 30;  // of a GPU's memory
  std::vector<Gpu> gpus = {};                // those that may be used
  bool flip = false;  // flip one bit of each result before it is checked: a test of the check
  const std::atomic<bool>* stop = nullptr;

  bool Stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
};

// Thrown by a probe that cannot run on a GPU.
class CannotRun : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Thrown by a probe that found wrong results.
class WrongResult : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Order { kAtOnce, kInTurn };

// What one GPU told; `where` of its figures is filled in for it.
struct GpuReading {
  std::vector<Figure> figures = {};
  std::string digest = {};
};

ProbeResult RunOnGpus(const GpuBounds& bounds, Order order,
                      const std::function<GpuReading(const Gpu&)>& probe);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_DEVICE_RUN_ON_GPUS_H_
