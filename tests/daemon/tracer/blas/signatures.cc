// Compares every function of cuBLAS that the tracer takes the place of with the real headers: same
// parameters, as far as the calling convention can tell them apart. Compiled only; a difference
// does not build.
#include <cublasLt.h>
#include <cublas_api.h>

#include "daemon/tracer/interpose/blas/cublas_abi.h"
#include "daemon/tracer/interpose/blas/functions.h"
#include "tests/daemon/tracer/nccl/alike.h"

namespace fathom::tracer {
namespace {

using tracer_test::kSame;

// The header overloads some names in C++: the one with the compute type is the exported function.
using Ex = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const void*, const void*, cudaDataType, int, const void*,
                              cudaDataType, int, const void*, void*, cudaDataType, int,
                              cublasComputeType_t, cublasGemmAlgo_t);
using StridedEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                     int, const void*, const void*, cudaDataType, int, long long,
                                     const void*, cudaDataType, int, long long, const void*, void*,
                                     cudaDataType, int, long long, int, cublasComputeType_t,
                                     cublasGemmAlgo_t);
using BatchedEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                     int, const void*, const void* const*, cudaDataType, int,
                                     const void* const*, cudaDataType, int, const void*,
                                     void* const*, cudaDataType, int, int, cublasComputeType_t,
                                     cublasGemmAlgo_t);
[[maybe_unused]] constexpr Ex kEx = &cublasGemmEx;
[[maybe_unused]] constexpr StridedEx kStridedEx = &cublasGemmStridedBatchedEx;
[[maybe_unused]] constexpr BatchedEx kBatchedEx = &cublasGemmBatchedEx;

// By the name that the list has.
struct Real {
  using cublasSgemm_v2 = decltype(&::cublasSgemm_v2);
  using cublasDgemm_v2 = decltype(&::cublasDgemm_v2);
  using cublasSgemmStridedBatched = decltype(&::cublasSgemmStridedBatched);
  using cublasDgemmStridedBatched = decltype(&::cublasDgemmStridedBatched);
  using cublasGemmEx = Ex;
  using cublasGemmStridedBatchedEx = StridedEx;
  using cublasGemmBatchedEx = BatchedEx;
};

#define FATHOM_SAME(name, parameters) \
  static_assert(kSame<decltype(&::name), int(*) parameters>, #name);
#define FATHOM_LISTED(name, parameters, ...) \
  static_assert(kSame<Real::name, int(*) parameters>, #name);
FATHOM_CUBLAS_GEMM(FATHOM_LISTED)
FATHOM_SAME(cublasSetMathMode, FATHOM_CUBLAS_SET_MATH_MODE)
FATHOM_SAME(cublasLtMatmul, FATHOM_CUBLAS_LT_MATMUL)
FATHOM_SAME(cublasLtMatrixLayoutGetAttribute, (const void*, int, void*, std::size_t, std::size_t*))
FATHOM_SAME(cublasLtMatmulDescGetAttribute, (const void*, int, void*, std::size_t, std::size_t*))

static_assert(cublas::kNotInitialised == CUBLAS_STATUS_NOT_INITIALIZED);
static_assert(cublas::kTf32Math == CUBLAS_TF32_TENSOR_OP_MATH);
static_assert(cublas::kComputeTf32 == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(cublas::kLayoutType == CUBLASLT_MATRIX_LAYOUT_TYPE);
static_assert(cublas::kLayoutRows == CUBLASLT_MATRIX_LAYOUT_ROWS);
static_assert(cublas::kLayoutCols == CUBLASLT_MATRIX_LAYOUT_COLS);
static_assert(cublas::kLayoutBatch == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(cublas::kDescCompute == CUBLASLT_MATMUL_DESC_COMPUTE_TYPE);
static_assert(cublas::ClassOfType(CUDA_R_64F) == FlopClass::kFp64);
static_assert(cublas::ClassOfType(CUDA_R_32F) == FlopClass::kFp32);
static_assert(cublas::ClassOfType(CUDA_R_16F) == FlopClass::kFp16);
static_assert(cublas::ClassOfType(CUDA_R_16BF) == FlopClass::kFp16);
static_assert(cublas::ClassOfType(CUDA_R_8I) == FlopClass::kFp8);
static_assert(cublas::ClassOfType(CUDA_R_8U) == FlopClass::kFp8);
static_assert(cublas::ClassOfType(CUDA_R_8F_E4M3) == FlopClass::kFp8);
static_assert(cublas::ClassOfType(CUDA_R_8F_E5M2) == FlopClass::kFp8);
static_assert(cublas::ClassOfType(CUDA_R_4F_E2M1) == FlopClass::kFp4);

}  // namespace
}  // namespace fathom::tracer
