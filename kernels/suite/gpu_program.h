// The GPUs' part of a run: fathom-probe-cuda, a program of its own, because it needs CUDA's
// runtime.
//
// Used by suite/main after the probes of the node itself. Model: it lies beside this program and
// writes its lines to the same output; where there is an NVIDIA driver but no such program, or the
// program finds no GPU, a line says so, and where there is no driver, nothing is said.
//
// Requires: the caller has one thread. Units: seconds. Errors: go into the lines. Cost: a process;
// it dies with the caller.
#ifndef FATHOM_KERNELS_SUITE_GPU_PROGRAM_H_
#define FATHOM_KERNELS_SUITE_GPU_PROGRAM_H_

#include <atomic>
#include <string>

namespace fathom::kernels {

struct GpuRequest {
  bool full = false;
  double seconds = 0;  // 0: by the set
  double memory_mib = 2048;
  std::string probes = {};  // "gpu_clock,gpu_host"; empty: all
};

// Of the two sets, with a context a probe.
inline constexpr double kGpuFastSeconds = 40;
inline constexpr double kGpuFullSeconds = 220;

// Whether this node has a driver of NVIDIA. `root`: "" but in tests.
bool HasGpuDriver(const std::string& root = "");

// fathom-probe-cuda beside this program.
std::string GpuProgram();

// Its exit code; 2 where it had to be killed, 77 where there is nothing to run. What it has to say
// goes to standard output.
int RunGpuProgram(const std::string& program, const GpuRequest& request,
                  const std::atomic<bool>& stop);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_SUITE_GPU_PROGRAM_H_
