// Stand-ins for libcublas.so and libcublasLt.so, compiled against the real headers, so that their
// signatures are the real ones. They compute nothing: each counts its calls and answers that it
// did.
#include <cublasLt.h>
#include <cublas_v2.h>

#define FAKE_EXPORT __attribute__((visibility("default")))

#ifndef FAKE_CUBLAS_WITHOUT_GETTERS
// As an attribute of type T, of which the caller must have the size right.
template <typename T>
static cublasStatus_t Give(unsigned long long word, void* value, size_t bytes) {
  if (bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  *static_cast<T*>(value) = static_cast<T>(word);
  return CUBLAS_STATUS_SUCCESS;
}
#endif

extern "C" {

// Calls that came through, of all functions.
FAKE_EXPORT unsigned long long fake_cublas_calls = 0;
// What every function answers.
FAKE_EXPORT cublasStatus_t fake_cublas_answer = CUBLAS_STATUS_SUCCESS;

#define FAKE_GEMM(name, ...)                     \
  FAKE_EXPORT cublasStatus_t name(__VA_ARGS__) { \
    ++fake_cublas_calls;                         \
    return fake_cublas_answer;                   \
  }

FAKE_GEMM(cublasSgemm_v2, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
          const float*, const float*, int, const float*, int, const float*, float*, int)
FAKE_GEMM(cublasDgemm_v2, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
          const double*, const double*, int, const double*, int, const double*, double*, int)
FAKE_GEMM(cublasSgemmStridedBatched, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
          int, const float*, const float*, int, long long, const float*, int, long long,
          const float*, float*, int, long long, int)
FAKE_GEMM(cublasDgemmStridedBatched, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
          int, const double*, const double*, int, long long, const double*, int, long long,
          const double*, double*, int, long long, int)
FAKE_GEMM(cublasGemmEx, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
          const void*, const void*, cudaDataType, int, const void*, cudaDataType, int, const void*,
          void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t)
FAKE_GEMM(cublasGemmStridedBatchedEx, cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
          int, int, const void*, const void*, cudaDataType, int, long long, const void*,
          cudaDataType, int, long long, const void*, void*, cudaDataType, int, long long, int,
          cublasComputeType_t, cublasGemmAlgo_t)
FAKE_GEMM(cublasGemmBatchedEx, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
          const void*, const void* const[], cudaDataType, int, const void* const[], cudaDataType,
          int, const void*, void* const[], cudaDataType, int, int, cublasComputeType_t,
          cublasGemmAlgo_t)
FAKE_GEMM(cublasSetMathMode, cublasHandle_t, cublasMath_t)

FAKE_GEMM(cublasLtMatmul, cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*,
          cublasLtMatrixLayout_t, const void*, cublasLtMatrixLayout_t, const void*, const void*,
          cublasLtMatrixLayout_t, void*, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*, void*,
          size_t, cudaStream_t)

#ifndef FAKE_CUBLAS_WITHOUT_GETTERS
// A layout is four numbers, as victim.cc lays them: type, rows, columns, batch.
FAKE_EXPORT cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                            cublasLtMatrixLayoutAttribute_t which,
                                                            void* value, size_t bytes,
                                                            size_t* written) {
  const auto* words = reinterpret_cast<const unsigned long long*>(layout);
  *written = bytes;
  switch (which) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return Give<unsigned>(words[0], value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return Give<unsigned long long>(words[1], value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return Give<unsigned long long>(words[2], value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return Give<int>(words[3], value, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

// A description is one number: its compute type.
FAKE_EXPORT cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t description,
                                                          cublasLtMatmulDescAttributes_t which,
                                                          void* value, size_t bytes,
                                                          size_t* written) {
  if (which != CUBLASLT_MATMUL_DESC_COMPUTE_TYPE || bytes != 4) return CUBLAS_STATUS_INVALID_VALUE;
  *static_cast<int*>(value) = *reinterpret_cast<const int*>(description);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
#endif

}  // extern "C"
