// Numbers of cuBLAS's public headers, spelt out so that none is needed; checked against them by
// tests/daemon/tracer/blas.
//
// Used by cublas_shims.cc. Model: what a product is rated by is the type of its factors, and of
// FP32 whether they may be multiplied as TF32. A type that is not known counts as FP32.
// Thread-safety: constants. Errors: none.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_BLAS_CUBLAS_ABI_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_BLAS_CUBLAS_ABI_H_

#include <cstdint>

#include "proto/types/flop_class.h"

namespace fathom::tracer::cublas {

inline constexpr int kNotInitialised = 1;  // CUBLAS_STATUS_NOT_INITIALIZED
inline constexpr int kTf32Math = 3;        // CUBLAS_TF32_TENSOR_OP_MATH
inline constexpr int kComputeTf32 = 77;    // CUBLAS_COMPUTE_32F_FAST_TF32

// cudaDataType_t.
constexpr FlopClass ClassOfType(int type) {
  switch (type) {
    case 1:  // CUDA_R_64F
      return FlopClass::kFp64;
    case 2:   // CUDA_R_16F
    case 14:  // CUDA_R_16BF
      return FlopClass::kFp16;
    case 3:   // CUDA_R_8I
    case 8:   // CUDA_R_8U
    case 28:  // CUDA_R_8F_E4M3
    case 29:  // CUDA_R_8F_E5M2
      return FlopClass::kFp8;
    case 33:  // CUDA_R_4F_E2M1
      return FlopClass::kFp4;
    default:
      return FlopClass::kFp32;
  }
}

// Attributes of cublasLt's descriptors.
inline constexpr int kLayoutType = 0;   // CUBLASLT_MATRIX_LAYOUT_TYPE
inline constexpr int kLayoutRows = 2;   // CUBLASLT_MATRIX_LAYOUT_ROWS
inline constexpr int kLayoutCols = 3;   // CUBLASLT_MATRIX_LAYOUT_COLS
inline constexpr int kLayoutBatch = 5;  // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT
inline constexpr int kDescCompute = 0;  // CUBLASLT_MATMUL_DESC_COMPUTE_TYPE

}  // namespace fathom::tracer::cublas

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_BLAS_CUBLAS_ABI_H_
