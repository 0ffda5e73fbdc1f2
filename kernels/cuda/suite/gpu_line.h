// A node's GPUs as lines of JSON, beside those of suite/result_line.
//
// Used by cuda/suite/main. Thread-safety: pure functions, but RunApart, which forks: its caller has
// one thread.
#ifndef FATHOM_KERNELS_CUDA_SUITE_GPU_LINE_H_
#define FATHOM_KERNELS_CUDA_SUITE_GPU_LINE_H_

#include <functional>
#include <string>

#include "kernels/cuda/device/gpu.h"

namespace fathom::kernels {

std::string LineOf(const Gpu& gpu);
// Why none can be used.
std::string NoGpuLine(const std::string& why);

// The exit code of `work` in a process of its own; 2 where it crashed.
int RunApart(const std::function<int()>& work);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_SUITE_GPU_LINE_H_
