// The same products by cuBLASLt, where the node has it: the peak of the GPU, at the load of real
// jobs.
//
// Used by cuda/suite. Model: the library is opened by name (FATHOM_CUBLASLT, else
// libcublasLt.so.13, .12, .11), its public C interface is declared here, and the best algorithm of
// its heuristic is taken. Its bits depend on its version, so only the checks of whole numbers are
// compared (cuda/product/checked_product), and its version is told as a figure.
//
// Figures: gpu_blas_fp32, _tf32, _bf16, _fp8 (flop/s), products_checked, cublaslt_version.
// Errors: skipped where the library is not found or does not have the format. Cost: 0.8 GiB of the
// GPU.
#ifndef FATHOM_KERNELS_CUDA_PRODUCT_BLAS_H_
#define FATHOM_KERNELS_CUDA_PRODUCT_BLAS_H_

#include "kernels/cuda/device/run_on_gpus.h"
#include "kernels/cuda/product/whole_product.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

ProbeResult GpuBlas(const GpuBounds& bounds, Format format);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_PRODUCT_BLAS_H_
