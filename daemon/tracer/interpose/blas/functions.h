// The list of functions that compute products of matrices and are interposed: the BLAS of the CPU
// by the names that PyTorch calls, and cuBLAS.
//
// Expanded by cpu_shims.cc and cublas_shims.cc; tests/daemon/tracer/blas compares it with
// exports.map, docs/tracer/products.md and the real cublas_api.h and cublasLt.h.
//
//   CPU:    X(name, class)
//   cuBLAS: X(name, parameters, arguments, class, batch)
//     class   FlopClass of the product; it may look at the parameters
//     batch   products of m × k by k × n in the call
//
// Types are spelt as the machine sees them, so that no header of a library is needed: handles are
// pointers, enums are int. Not in the list: complex numbers, names with 64-bit integers (…_64),
// products of triangular or symmetric matrices, of vectors, and what few call any more
// (cublasHgemm, cublasSgemmBatched, …).
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_BLAS_FUNCTIONS_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_BLAS_FUNCTIONS_H_

// Fortran's, of every BLAS.
#define FATHOM_CPU_GEMM(X)    \
  X(sgemm_, FlopClass::kFp32) \
  X(dgemm_, FlopClass::kFp64)

// Intel MKL's, with a list of groups of products.
#define FATHOM_CPU_GEMM_BATCH(X)         \
  X(cblas_sgemm_batch, FlopClass::kFp32) \
  X(cblas_dgemm_batch, FlopClass::kFp64)

// Intel MKL's, of 16-bit factors.
#define FATHOM_CPU_GEMM_HALF(X)               \
  X(cblas_gemm_bf16bf16f32, FlopClass::kFp16) \
  X(cblas_gemm_f16f16f32, FlopClass::kFp16)

// clang-format off
#define FATHOM_CUBLAS_HEAD void *handle, int ta, int tb, int m, int n, int k, const void *alpha
#define FATHOM_CUBLAS_PLAIN                                                                    \
  (FATHOM_CUBLAS_HEAD, const void *a, int lda, const void *b, int ldb, const void *beta,        \
   void *c, int ldc),                                                                          \
  (handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
#define FATHOM_CUBLAS_STRIDED                                                                  \
  (FATHOM_CUBLAS_HEAD, const void *a, int lda, long long sa, const void *b, int ldb,            \
   long long sb, const void *beta, void *c, int ldc, long long sc, int batch),                 \
  (handle, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch)

#define FATHOM_CUBLAS_GEMM(X)                                                                  \
  FATHOM_CUBLAS_LINE(X, cublasSgemm_v2, FATHOM_CUBLAS_PLAIN, Single(), 1)                      \
  FATHOM_CUBLAS_LINE(X, cublasDgemm_v2, FATHOM_CUBLAS_PLAIN, FlopClass::kFp64, 1)              \
  FATHOM_CUBLAS_LINE(X, cublasSgemmStridedBatched, FATHOM_CUBLAS_STRIDED, Single(), batch)     \
  FATHOM_CUBLAS_LINE(X, cublasDgemmStridedBatched, FATHOM_CUBLAS_STRIDED, FlopClass::kFp64,    \
                     batch)                                                                    \
  X(cublasGemmEx,                                                                              \
    (FATHOM_CUBLAS_HEAD, const void *a, int at, int lda, const void *b, int bt, int ldb,        \
     const void *beta, void *c, int ct, int ldc, int compute, int algo),                       \
    (handle, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, compute, algo), \
    ClassOf(at, compute), 1)                                                                   \
  X(cublasGemmStridedBatchedEx,                                                                \
    (FATHOM_CUBLAS_HEAD, const void *a, int at, int lda, long long sa, const void *b, int bt,   \
     int ldb, long long sb, const void *beta, void *c, int ct, int ldc, long long sc, int batch, \
     int compute, int algo),                                                                   \
    (handle, ta, tb, m, n, k, alpha, a, at, lda, sa, b, bt, ldb, sb, beta, c, ct, ldc, sc,     \
     batch, compute, algo),                                                                    \
    ClassOf(at, compute), batch)                                                               \
  X(cublasGemmBatchedEx,                                                                       \
    (FATHOM_CUBLAS_HEAD, const void *const *a, int at, int lda, const void *const *b, int bt,   \
     int ldb, const void *beta, void *const *c, int ct, int ldc, int batch, int compute,       \
     int algo),                                                                                \
    (handle, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, batch, compute, \
     algo),                                                                                    \
    ClassOf(at, compute), batch)
#define FATHOM_CUBLAS_LINE(X, ...) FATHOM_CUBLAS_LINE_(X, __VA_ARGS__)
#define FATHOM_CUBLAS_LINE_(X, ...) X(__VA_ARGS__)

#define FATHOM_CUBLAS_SET_MATH_MODE (void *handle, int mode)
#define FATHOM_CUBLAS_LT_MATMUL                                                                \
  (void *handle, const void *compute, const void *alpha, const void *a, const void *a_layout,  \
   const void *b, const void *b_layout, const void *beta, const void *c, const void *c_layout, \
   void *d, const void *d_layout, const void *algo, void *workspace,                           \
   std::size_t workspace_bytes, void *stream)
// clang-format on

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_BLAS_FUNCTIONS_H_
