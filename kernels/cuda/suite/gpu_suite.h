// The probes of a node's GPUs, by name, and how long each takes in the fast and in the full set.
//
// Used by cuda/suite/main and tests. The fast set takes under 30 s with a context a probe.
// Thread-safety: constant. Units: seconds.
#ifndef FATHOM_KERNELS_CUDA_SUITE_GPU_SUITE_H_
#define FATHOM_KERNELS_CUDA_SUITE_GPU_SUITE_H_

#include <functional>
#include <string>
#include <vector>

#include "kernels/cuda/device/run_on_gpus.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

struct GpuProbeKind {
  std::string name;
  std::string measures;
  double fast_s = 1;
  double full_s = 10;
  std::function<ProbeResult(const GpuBounds&)> run;
};

const std::vector<GpuProbeKind>& GpuProbes();

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_SUITE_GPU_SUITE_H_
