#include "kernels/cuda/product/blas.h"

#include <memory>

#include "kernels/cuda/product/blas_library.h"
#include "kernels/cuda/product/checked_product.h"

namespace fathom::kernels {
namespace {

constexpr std::size_t kSideOfProduct = 8192;
constexpr std::size_t kWorkspace = std::size_t{64} << 20;

// cublasLt.h, cublas_api.h and library_types.h.
constexpr int kTransposeA = 3;
constexpr int kMostWorkspace = 1;
constexpr int kTranspose = 1;
constexpr int kCompute32F = 68;
constexpr int kComputeFastTf32 = 77;
constexpr int kFloat32 = CUDA_R_32F;

int TypeOf(Format format) {
  if (format == Format::kFp8) return CUDA_R_8F_E4M3;
  return format == Format::kBf16 ? CUDA_R_16BF : CUDA_R_32F;
}

void CheckBlas(int status, const char* what) {
  if (status == 0) return;
  throw CannotRun(std::string("cuBLASLt does not do it: ") + what + ", status " +
                  std::to_string(status));
}

// Row by row as cuBLAS sees it is turned: its first operand is our B, its second our A.
class BlasProduct {
 public:
  BlasProduct(const BlasLibrary& blas, Format format) : blas_(blas), workspace_(kWorkspace) {
    const int compute = format == Format::kTf32 ? kComputeFastTf32 : kCompute32F;
    CheckBlas(blas.create(&handle_), "its handle");
    CheckBlas(blas.desc_create(&desc_, compute, kFloat32), "its description");
    CheckBlas(blas.desc_set(desc_, kTransposeA, &kTranspose, sizeof kTranspose), "transposing");
    CheckBlas(blas.layout_create(&operand_, TypeOf(format), kSideOfProduct, kSideOfProduct,
                                 kSideOfProduct),
              "its operands");
    CheckBlas(
        blas.layout_create(&result_, kFloat32, kSideOfProduct, kSideOfProduct, kSideOfProduct),
        "its result");
    CheckBlas(blas.preference_create(&preference_), "its preferences");
    CheckBlas(blas.preference_set(preference_, kMostWorkspace, &kWorkspace, sizeof kWorkspace),
              "its workspace");
    int found = 0;
    CheckBlas(blas.heuristic(handle_, desc_, operand_, operand_, result_, result_, preference_, 1,
                             &choice_, &found),
              "choosing an algorithm");
    if (found == 0) throw CannotRun("cuBLASLt has no algorithm for it");
  }
  ~BlasProduct() {
    blas_.preference_destroy(preference_);
    blas_.layout_destroy(result_);
    blas_.layout_destroy(operand_);
    blas_.desc_destroy(desc_);
    blas_.destroy(handle_);
  }
  BlasProduct(const BlasProduct&) = delete;
  BlasProduct& operator=(const BlasProduct&) = delete;

  void Put(const void* a, const void* b, float* c, cudaStream_t stream) {
    const float one = 1;
    const float zero = 0;
    CheckBlas(blas_.matmul(handle_, desc_, &one, b, operand_, a, operand_, &zero, c, result_, c,
                           result_, choice_.algorithm, workspace_.Data(), kWorkspace, stream),
              "multiplying");
  }

 private:
  const BlasLibrary& blas_;
  DeviceBuffer<std::uint8_t> workspace_;
  void* handle_ = nullptr;
  void* desc_ = nullptr;
  void* operand_ = nullptr;
  void* result_ = nullptr;
  void* preference_ = nullptr;
  BlasChoice choice_{};
};

}  // namespace

ProbeResult GpuBlas(const GpuBounds& bounds, Format format) {
  std::string why;
  const BlasLibrary* blas = BlasLibrary::Get(why);
  if (blas == nullptr) return {.outcome = Outcome::kSkipped, .reason = why};
  const ProductTask task(format, kSideOfProduct);
  ProbeResult result = RunOnGpus(bounds, Order::kAtOnce, [&](const Gpu&) {
    BlasProduct product(*blas, format);
    return MakeAndCheck(bounds, task, std::string("gpu_blas_") + NameOf(format),
                        [&](const void* a, const void* b, float* c, cudaStream_t stream) {
                          product.Put(a, b, c, stream);
                        });
  });
  if (result.outcome != Outcome::kSkipped) {
    result.figures.push_back(
        {.name = "cublaslt_version", .value = static_cast<double>(blas->version()), .unit = "1"});
  }
  return result;
}

}  // namespace fathom::kernels
