// The clock of a GPU's processors under full load for a given time: whether it holds, or is
// throttled.
//
// Used by cuda/suite. Model: one block a processor multiplies in registers, on tensor cores where
// there are any, and nothing else. Its first thread notes the processor's cycle counter beside the
// GPU's nanosecond timer every 20 ms; the clock is one by the other, so it needs neither NVML nor
// rights. The kernels last half a second each, so that the probe can be stopped.
//
// Figures: gpu_clock (Hz as 1/s, the median of the second half), gpu_clock_held (ratio: the last
// quarter's to the best of all moments), gpu_slowest_processor (ratio of the work done to the
// median processor's), gpu_clock_at (Hz, told: where "gpu0 at 1.5 s"). Errors: skipped where the
// time is too short. Cost: all processors and full power for its time.
#ifndef FATHOM_KERNELS_CUDA_CLOCK_GPU_CLOCK_H_
#define FATHOM_KERNELS_CUDA_CLOCK_GPU_CLOCK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/device/run_on_gpus.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

// One look at both clocks of a processor.
struct ClockLook {
  std::uint64_t cycles;
  std::uint64_t nanoseconds;
};

// The clock over time, as all processors together saw it.
struct ClockMoment {
  double at_s = 0;  // since the first look of all
  double hertz = 0;
};

// Requires: `looks` of one processor side by side, `per_processor` each; those after its last are
// 0.
std::vector<ClockMoment> ClockOverTime(std::span<const ClockLook> looks, std::size_t per_processor,
                                       std::uint64_t begin_ns);

// Of moments in the order of time.
std::vector<Figure> ClockFigures(const std::vector<ClockMoment>& moments);

ProbeResult GpuClock(const GpuBounds& bounds);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_CLOCK_GPU_CLOCK_H_
