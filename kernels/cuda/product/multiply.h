// How fast a GPU multiplies matrices, in FP32 and on its tensor cores, and whether every bit is
// right.
//
// Used by cuda/suite. Model: kernels of ours (cuda/product/fp32_tile, cuda/product/tensor_tile), so
// that two nodes run the same instructions whatever libraries they have; the check is that of
// cuda/product/checked_product.
//
// Figures: gpu_gemm_fp32, _tf32, _bf16, _fp8 (flop/s), products_checked. Digest: of the product;
// whole numbers, so it is the same on all GPUs. Errors: faulty with the place; skipped where the
// GPU lacks the format. Cost: at most 200 MiB of the GPU.
#ifndef FATHOM_KERNELS_CUDA_PRODUCT_MULTIPLY_H_
#define FATHOM_KERNELS_CUDA_PRODUCT_MULTIPLY_H_

#include "kernels/cuda/device/run_on_gpus.h"
#include "kernels/cuda/product/whole_product.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

ProbeResult GpuMultiply(const GpuBounds& bounds, Format format);

// The least compute capability that has the format, as 10 · major + minor.
int LeastCapabilityOf(Format format);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_PRODUCT_MULTIPLY_H_
