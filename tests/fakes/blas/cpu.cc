// A BLAS of the CPU by its Fortran names, and MKL's batches, which compute nothing: each counts its
// calls and what it was handed, and takes some time.
#include <cstddef>

#define FAKE_EXPORT __attribute__((visibility("default")))

extern "C" {

FAKE_EXPORT unsigned long long fake_blas_calls = 0;
FAKE_EXPORT unsigned long long fake_blas_sum = 0;  // of m, n, k and ldc, as they came through

FAKE_EXPORT void sgemm_(const char*, const char*, const int* m, const int* n, const int* k,
                        const float*, const float*, const int*, const float*, const int*,
                        const float*, float* c, const int* ldc) {
  ++fake_blas_calls;
  fake_blas_sum += static_cast<unsigned long long>(*m + *n + *k + *ldc);
  for (int i = 0; c != nullptr && i < 20'000; ++i) *static_cast<volatile float*>(c) = 1;
}

FAKE_EXPORT void dgemm_(const char*, const char*, const int* m, const int* n, const int* k,
                        const double*, const double*, const int*, const double*, const int*,
                        const double*, double*, const int* ldc) {
  ++fake_blas_calls;
  fake_blas_sum += static_cast<unsigned long long>(*m + *n + *k + *ldc);
}

FAKE_EXPORT void cblas_sgemm_batch(int, const int*, const int*, const int* m, const int*,
                                   const int*, const float*, const float* const*, const int*,
                                   const float* const*, const int*, const float*, float* const*,
                                   const int*, int groups, const int* sizes) {
  ++fake_blas_calls;
  fake_blas_sum += static_cast<unsigned long long>(*m + groups + sizes[groups - 1]);
}

FAKE_EXPORT void cblas_gemm_bf16bf16f32(int, int, int, int m, int n, int k, float alpha,
                                        const unsigned short*, int, const unsigned short*, int,
                                        float beta, float*, int ldc) {
  ++fake_blas_calls;
  fake_blas_sum +=
      static_cast<unsigned long long>(m + n + k + ldc + static_cast<int>(alpha + beta));
}

}  // extern "C"
