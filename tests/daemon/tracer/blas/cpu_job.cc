#include <vector>

#include "tests/daemon/tracer/blas/victim.h"

extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*,
            const float*, const int*, const float*, const int*, const float*, float*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*,
            const double*, const int*, const double*, const int*, const double*, double*,
            const int*);
void cblas_sgemm_batch(int, const int*, const int*, const int*, const int*, const int*,
                       const float*, const float* const*, const int*, const float* const*,
                       const int*, const float*, float* const*, const int*, int, const int*);
void cblas_gemm_bf16bf16f32(int, int, int, int, int, int, float, const unsigned short*, int,
                            const unsigned short*, int, float, float*, int);
extern unsigned long long fake_blas_calls, fake_blas_sum;
}

namespace {

const int kM = 8, kN = 16, kK = 32, kLeading = 64;

void Single(int times) {
  float c = 0;
  const float one = 1;
  for (int i = 0; i < times; ++i) {
    sgemm_("n", "t", &kM, &kN, &kK, &one, &one, &kM, &one, &kK, &one, times == 1 ? &c : nullptr,
           &kLeading);
  }
}

void All() {
  Single(1);
  const double twice = 1;
  dgemm_("n", "n", &kM, &kN, &kK, &twice, &twice, &kM, &twice, &kK, &twice, nullptr, &kLeading);
  const int m[] = {8, 2}, n[] = {16, 2}, k[] = {32, 2}, sizes[] = {3, 5}, transposed[] = {111, 111};
  cblas_sgemm_batch(102, transposed, transposed, m, n, k, nullptr, nullptr, m, nullptr, k, nullptr,
                    nullptr, m, 2, sizes);
  cblas_gemm_bf16bf16f32(102, 111, 111, kM, kN, kK, 2.0F, nullptr, kM, nullptr, kK, 3.0F, nullptr,
                         kLeading);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const ProductsJob products_job = {
    All, Single, [] { return fake_blas_calls; }, [] { return fake_blas_sum; }};
