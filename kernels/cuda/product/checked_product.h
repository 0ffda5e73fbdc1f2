// A product that is made again and again on one GPU, timed, and checked each time.
//
// Used by cuda/product/multiply (kernels of ours) and cuda/product/blas (those of cuBLAS). Model:
// the first product is checked whole against the sums that the host knows
// (cuda/product/whole_product) and gives the digest; then slices of about 10 ms are timed by
// events, and the digest of each slice's last product is held against the first. A faulty product
// ends it and is looked at whole, for the place.
//
// Errors: WrongResult. Cost: 3 · side² elements of the GPU, and half a second of one core.
#ifndef FATHOM_KERNELS_CUDA_PRODUCT_CHECKED_PRODUCT_H_
#define FATHOM_KERNELS_CUDA_PRODUCT_CHECKED_PRODUCT_H_

#include <functional>
#include <string>

#include "kernels/cuda/device/cuda_call.h"
#include "kernels/cuda/device/run_on_gpus.h"
#include "kernels/cuda/product/whole_product.h"

namespace fathom::kernels {

// What the host prepared once for all GPUs.
struct ProductTask {
  ProductTask(Format of, std::size_t wide);
  double Flop() const { return 2.0 * static_cast<double>(side) * side * side; }

  Format format;
  std::size_t side;
  std::vector<std::uint8_t> a;
  std::vector<std::uint8_t> b;
  ProductSums sums;
};

// Puts one product into the stream.
using Multiply = std::function<void(const void* a, const void* b, float* c, cudaStream_t stream)>;

// Figures: `name` (flop/s), products_checked.
GpuReading MakeAndCheck(const GpuBounds& bounds, const ProductTask& task, const std::string& name,
                        const Multiply& multiply);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_PRODUCT_CHECKED_PRODUCT_H_
