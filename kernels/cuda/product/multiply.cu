#include "kernels/cuda/product/multiply.h"

#include "kernels/cuda/product/checked_product.h"
#include "kernels/cuda/product/fp32_tile.cuh"
#include "kernels/cuda/product/tensor_tile.cuh"

namespace fathom::kernels {
namespace {

constexpr std::size_t kSideOfProduct = 4096;

template <Format kFormat>
void LaunchTensor(const void* a, const void* b, float* c, cudaStream_t stream) {
  constexpr int kTiles = static_cast<int>(kSideOfProduct) / kTile;
  constexpr auto kKernel = TensorMultiply<kFormat>;
  Check(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kTensorShared),
        "shared memory");
  kKernel<<<kTiles * kTiles, kTensorThreads, kTensorShared, stream>>>(
      static_cast<const std::uint8_t*>(a), static_cast<const std::uint8_t*>(b), c,
      static_cast<int>(kSideOfProduct), kSideOfProduct * BytesOf(kFormat));
  CheckLaunch("multiplying");
}

void LaunchFp32(const void* a, const void* b, float* c, cudaStream_t stream) {
  constexpr int kTiles = static_cast<int>(kSideOfProduct) / kFp32Tile;
  Fp32Multiply<<<dim3(kTiles, kTiles), kFp32Threads, 0, stream>>>(static_cast<const float*>(a),
                                                                  static_cast<const float*>(b), c,
                                                                  static_cast<int>(kSideOfProduct));
  CheckLaunch("multiplying");
}

Multiply MultiplyOf(Format format) {
  switch (format) {
    case Format::kTf32:
      return LaunchTensor<Format::kTf32>;
    case Format::kBf16:
      return LaunchTensor<Format::kBf16>;
    case Format::kFp8:
      return LaunchTensor<Format::kFp8>;
    case Format::kFp32:
      break;
  }
  return LaunchFp32;
}

}  // namespace

int LeastCapabilityOf(Format format) {
  if (format == Format::kFp32) return 0;
  return format == Format::kFp8 ? 89 : 80;
}

ProbeResult GpuMultiply(const GpuBounds& bounds, Format format) {
  const ProductTask task(format, kSideOfProduct);
  const Multiply multiply = MultiplyOf(format);
  return RunOnGpus(bounds, Order::kAtOnce, [&](const Gpu& gpu) {
    if (10 * gpu.major + gpu.minor < LeastCapabilityOf(format)) {
      throw CannotRun(std::string(gpu.name) + " has no " + NameOf(format));
    }
    return MakeAndCheck(bounds, task, std::string("gpu_gemm_") + NameOf(format), multiply);
  });
}

}  // namespace fathom::kernels
