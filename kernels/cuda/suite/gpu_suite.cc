#include "kernels/cuda/suite/gpu_suite.h"

#include "kernels/cuda/clock/gpu_clock.h"
#include "kernels/cuda/link/transfer.h"
#include "kernels/cuda/memory/gpu_memory.h"
#include "kernels/cuda/product/blas.h"
#include "kernels/cuda/product/multiply.h"

namespace fathom::kernels {
namespace {

GpuProbeKind OwnProduct(const char* name, const char* measures, Format format) {
  return {name, measures, 1, 10,
          [format](const GpuBounds& bounds) { return GpuMultiply(bounds, format); }};
}

GpuProbeKind BlasProduct(const char* name, const char* measures, Format format) {
  return {name, measures, 1, 10,
          [format](const GpuBounds& bounds) { return GpuBlas(bounds, format); }};
}

}  // namespace

const std::vector<GpuProbeKind>& GpuProbes() {
  static const std::vector<GpuProbeKind> probes = {
      {"gpu_clock", "clock of the processors under load, whether it holds", 4, 30, GpuClock},
      OwnProduct("gpu_gemm_fp32", "matrix multiplication, every bit checked", Format::kFp32),
      OwnProduct("gpu_gemm_tf32", "the same on tensor cores, TF32", Format::kTf32),
      OwnProduct("gpu_gemm_bf16", "the same in BF16", Format::kBf16),
      OwnProduct("gpu_gemm_fp8", "the same in FP8", Format::kFp8),
      BlasProduct("gpu_blas_fp32", "the same by cuBLASLt, where it is", Format::kFp32),
      BlasProduct("gpu_blas_tf32", "the same in TF32", Format::kTf32),
      BlasProduct("gpu_blas_bf16", "the same in BF16", Format::kBf16),
      BlasProduct("gpu_blas_fp8", "the same in FP8", Format::kFp8),
      {"gpu_memory_bandwidth", "read, write and copy of the GPU's memory", 1.5, 10,
       GpuMemoryBandwidth},
      {"gpu_memory_latency", "one access after the other, memory and L2", 1, 6, GpuMemoryLatency},
      {"gpu_memory_pattern", "whether its memory keeps what is written", 1.5, 20, GpuMemoryPattern},
      {"gpu_host", "copies from and to the host, and how long it waits", 2, 10, GpuHostTransfer},
      {"gpu_peers", "copies from each GPU to each other", 2, 20, GpuPeers},
  };
  return probes;
}

}  // namespace fathom::kernels
