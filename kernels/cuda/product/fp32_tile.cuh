// Matrix multiplication in FP32 by fused multiply-adds, for every GPU.
//
// Used by cuda/product/multiply. C[m][n] = Σ_k A[m][k]·B[n][k], k side by side in memory, k
// ascending in one chain of multiply-adds: std::fma on the host gives the same bits.
//
// Model: 256 threads make 128 × 128 elements, 64 each; 8 of k a step, the next ones on their way
// while these are multiplied. Requires: side a multiple of 128. Cost: 16 KiB of shared memory.
#ifndef FATHOM_KERNELS_CUDA_PRODUCT_FP32_TILE_CUH_
#define FATHOM_KERNELS_CUDA_PRODUCT_FP32_TILE_CUH_

#include <cuda_runtime.h>

namespace fathom::kernels {

inline constexpr int kFp32Tile = 128;
inline constexpr int kFp32Step = 8;
inline constexpr int kFp32Threads = 256;

struct Fp32Stage {
  float a[kFp32Step][kFp32Tile];
  float b[kFp32Step][kFp32Tile];
};

__device__ inline void StoreTurned(float (&to)[kFp32Step][kFp32Tile], int row, int k, float4 four) {
  to[k][row] = four.x;
  to[k + 1][row] = four.y;
  to[k + 2][row] = four.z;
  to[k + 3][row] = four.w;
}

__device__ inline void MultiplyFp32Step(float (&sum)[8][8], const Fp32Stage& stage, int row,
                                        int column) {
#pragma unroll
  for (int k = 0; k < kFp32Step; ++k) {
    float a[8];
    float b[8];
    *reinterpret_cast<float4*>(a) = *reinterpret_cast<const float4*>(&stage.a[k][row]);
    *reinterpret_cast<float4*>(a + 4) = *reinterpret_cast<const float4*>(&stage.a[k][row + 64]);
    *reinterpret_cast<float4*>(b) = *reinterpret_cast<const float4*>(&stage.b[k][column]);
    *reinterpret_cast<float4*>(b + 4) = *reinterpret_cast<const float4*>(&stage.b[k][column + 64]);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
    }
  }
}

__global__ void __launch_bounds__(kFp32Threads, 2)
    Fp32Multiply(const float* a, const float* b, float* c, int side) {
  __shared__ Fp32Stage stages[2];
  const int thread = static_cast<int>(threadIdx.x);
  const int fetch_row = thread / 2;
  const int fetch_k = thread % 2 * 4;
  const std::size_t pitch = static_cast<std::size_t>(side);
  const float* next_a = a + (blockIdx.y * kFp32Tile + fetch_row) * pitch + fetch_k;
  const float* next_b = b + (blockIdx.x * kFp32Tile + fetch_row) * pitch + fetch_k;
  float4 fetched_a = *reinterpret_cast<const float4*>(next_a);
  float4 fetched_b = *reinterpret_cast<const float4*>(next_b);
  StoreTurned(stages[0].a, fetch_row, fetch_k, fetched_a);
  StoreTurned(stages[0].b, fetch_row, fetch_k, fetched_b);
  __syncthreads();
  const int row = thread / 16 * 4;
  const int column = thread % 16 * 4;
  float sum[8][8] = {};
  for (int k = 0; k < side; k += kFp32Step) {
    const int now = k / kFp32Step % 2;
    const bool more = k + kFp32Step < side;
    if (more) {
      fetched_a = *reinterpret_cast<const float4*>(next_a + k + kFp32Step);
      fetched_b = *reinterpret_cast<const float4*>(next_b + k + kFp32Step);
    }
    MultiplyFp32Step(sum, stages[now], row, column);
    if (more) {
      StoreTurned(stages[1 - now].a, fetch_row, fetch_k, fetched_a);
      StoreTurned(stages[1 - now].b, fetch_row, fetch_k, fetched_b);
    }
    __syncthreads();
  }
  float* out = c + (blockIdx.y * kFp32Tile + row) * pitch + blockIdx.x * kFp32Tile + column;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float* line = out + (i / 4 * 64 + i % 4) * pitch;
    *reinterpret_cast<float4*>(line) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    *reinterpret_cast<float4*>(line + 64) = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
  }
}

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_PRODUCT_FP32_TILE_CUH_
