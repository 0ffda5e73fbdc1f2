#include <cublasLt.h>
#include <cublas_v2.h>

#include "tests/daemon/tracer/blas/victim.h"

extern "C" unsigned long long fake_cublas_calls;

namespace {

constexpr int kM = 8, kN = 16, kK = 32;
constexpr auto kPlain = CUBLAS_OP_N;

void Half() {
  cublasGemmEx(nullptr, kPlain, kPlain, kM, kN, kK, nullptr, nullptr, CUDA_R_16BF, kM, nullptr,
               CUDA_R_16BF, kK, nullptr, nullptr, CUDA_R_16BF, kM, CUBLAS_COMPUTE_32F,
               CUBLAS_GEMM_DEFAULT);
}

void Single(int times) {
  for (int i = 0; i < times; ++i) Half();
}

void Lt(cudaDataType type, cublasComputeType_t compute) {
  unsigned long long a[] = {static_cast<unsigned long long>(type), kK, kM, 2};
  unsigned long long d[] = {static_cast<unsigned long long>(type), kM, kN, 2};
  int description = compute;
  cublasLtMatmul(nullptr, reinterpret_cast<cublasLtMatmulDesc_t>(&description), nullptr, nullptr,
                 reinterpret_cast<cublasLtMatrixLayout_t>(a), nullptr, nullptr, nullptr, nullptr,
                 nullptr, nullptr, reinterpret_cast<cublasLtMatrixLayout_t>(d), nullptr, nullptr, 0,
                 nullptr);
}

// FLOP of one product: 2 · 8 · 16 · 32 = 8,192.
void All() {
  cublasSetMathMode(nullptr, CUBLAS_DEFAULT_MATH);
  cublasSgemm_v2(nullptr, kPlain, kPlain, kM, kN, kK, nullptr, nullptr, kM, nullptr, kK, nullptr,
                 nullptr, kM);
  cublasSetMathMode(nullptr, CUBLAS_TF32_TENSOR_OP_MATH);
  cublasSgemmStridedBatched(nullptr, kPlain, kPlain, kM, kN, kK, nullptr, nullptr, kM, 1, nullptr,
                            kK, 1, nullptr, nullptr, kM, 1, 5);
  cublasDgemm_v2(nullptr, kPlain, kPlain, kM, kN, kK, nullptr, nullptr, kM, nullptr, kK, nullptr,
                 nullptr, kM);
  cublasDgemmStridedBatched(nullptr, kPlain, kPlain, kM, kN, kK, nullptr, nullptr, kM, 1, nullptr,
                            kK, 1, nullptr, nullptr, kM, 1, 3);
  Half();
  cublasGemmStridedBatchedEx(nullptr, kPlain, kPlain, kM, kN, kK, nullptr, nullptr, CUDA_R_16F, kM,
                             1, nullptr, CUDA_R_16F, kK, 1, nullptr, nullptr, CUDA_R_16F, kM, 1, 7,
                             CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  cublasGemmBatchedEx(nullptr, kPlain, kPlain, kM, kN, kK, nullptr, nullptr, CUDA_R_8I, kM, nullptr,
                      CUDA_R_8I, kK, nullptr, nullptr, CUDA_R_32I, kM, 2, CUBLAS_COMPUTE_32I,
                      CUBLAS_GEMM_DEFAULT);
  Lt(CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F);
  Lt(CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
  Lt(CUDA_R_32F, CUBLAS_COMPUTE_32F);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const ProductsJob products_job = {
    All, Single, [] { return fake_cublas_calls; }, [] { return 0ULL; }};
