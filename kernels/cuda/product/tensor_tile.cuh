// Matrix multiplication on tensor cores: TF32, BF16 and FP8 (E4M3) into FP32, one kernel for all.
//
// Used by cuda/product/multiply. C[m][n] = Σ_k A[m][k]·B[n][k], k side by side in memory.
//
// Model: seen in bytes, the fragments of mma.m16n8 are the same for every format: 32 bytes of k a
// step. A block of 4 warps makes 128 × 128 elements, each warp 64 × 64 in registers; 128 bytes of k
// of each row come by cp.async into one of three stages of shared memory, whose 16-byte pieces are
// exchanged by row so that ldmatrix meets no bank twice. Needs sm_80 (cp.async, BF16, TF32), FP8
// sm_89. It reaches what mma.sync can; cuda/product/blas shows the rest of a Hopper (wgmma).
//
// Requires: side a multiple of 128, rows of a multiple of 128 bytes. Cost: 96 KiB of shared memory.
#ifndef FATHOM_KERNELS_CUDA_PRODUCT_TENSOR_TILE_CUH_
#define FATHOM_KERNELS_CUDA_PRODUCT_TENSOR_TILE_CUH_

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/product/whole_product.h"

namespace fathom::kernels {

inline constexpr int kTile = 128;
inline constexpr int kTensorThreads = 128;
inline constexpr int kStages = 3;
inline constexpr int kStepBytes = 128;  // of k, a stage
inline constexpr int kStageBytes = 2 * kTile * kStepBytes;
inline constexpr int kTensorShared = kStages * kStageBytes;

// 32 bytes of k: four registers of A, two of B, four sums.
template <Format kFormat>
__device__ inline void MultiplyFragment(float (&sum)[4], const std::uint32_t (&a)[4],
                                        std::uint32_t b0, std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kFormat == Format::kBf16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else if constexpr (kFormat == Format::kTf32) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
#if __CUDA_ARCH__ >= 890
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
  }
#endif
}

__device__ inline std::uint32_t PlaceInStage(int row, int piece) {
  return static_cast<std::uint32_t>(row * kStepBytes + ((piece ^ (row & 7)) << 4));
}

__device__ inline void LoadMatrices(std::uint32_t (&to)[4], std::uint32_t address) {
#if __CUDA_ARCH__ >= 800
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
#endif
}

// 128 rows of kStepBytes each, by all threads of the block.
__device__ inline void FetchRows(std::uint32_t to, const std::uint8_t* from,
                                 std::size_t row_bytes) {
#if __CUDA_ARCH__ >= 800
  const int piece = threadIdx.x % 8;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = static_cast<int>(threadIdx.x) / 8 + 16 * i;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(to + PlaceInStage(row, piece)), "l"(from + row * row_bytes + 16 * piece));
  }
#endif
}

template <Format kFormat>
__device__ inline void MultiplyStage(float (&sum)[4][8][4], std::uint32_t stage, int warp_row,
                                     int warp_column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int step = 0; step < kStepBytes / 32; ++step) {
    std::uint32_t a[4][4];
    std::uint32_t b[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = warp_row + 16 * i + lane % 16;
      LoadMatrices(a[i], stage + PlaceInStage(row, 2 * step + lane / 16));
      const int column = warp_column + 16 * i + lane / 16 * 8 + lane % 8;
      LoadMatrices(b[i],
                   stage + kTile * kStepBytes + PlaceInStage(column, 2 * step + lane / 8 % 2));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        MultiplyFragment<kFormat>(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    }
  }
}

// Which tile this block makes: eight rows of tiles go together, so that they find B in the L2.
__device__ inline int2 TileOfBlock(int tiles) {
  constexpr int kTogether = 8;
  const int group = static_cast<int>(blockIdx.x) / (kTogether * tiles);
  const int first = group * kTogether;
  const int rows = min(kTogether, tiles - first);
  const int inside = static_cast<int>(blockIdx.x) % (kTogether * tiles);
  return make_int2(first + inside % rows, inside / rows);
}

template <Format kFormat>
__global__ void __launch_bounds__(kTensorThreads, 2)
    TensorMultiply(const std::uint8_t* a, const std::uint8_t* b, float* c, int side,
                   std::size_t row_bytes) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) std::uint8_t shared[];
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  const int2 tile = TileOfBlock(side / kTile);
  const std::uint8_t* rows = a + static_cast<std::size_t>(tile.x) * kTile * row_bytes;
  const std::uint8_t* columns = b + static_cast<std::size_t>(tile.y) * kTile * row_bytes;
  const int steps = static_cast<int>(row_bytes / kStepBytes);
  const auto fetch = [&](int step) {
    if (step < steps) {
      const std::uint32_t stage = base + step % kStages * kStageBytes;
      FetchRows(stage, rows + static_cast<std::size_t>(step) * kStepBytes, row_bytes);
      FetchRows(stage + kTile * kStepBytes, columns + static_cast<std::size_t>(step) * kStepBytes,
                row_bytes);
    }
    asm volatile("cp.async.commit_group;");
  };
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp / 2 * 64;
  const int warp_column = warp % 2 * 64;
  float sum[4][8][4] = {};
  for (int step = 0; step < kStages - 1; ++step) fetch(step);
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" : : "n"(kStages - 2));
    __syncthreads();
    fetch(step + kStages - 1);
    MultiplyStage<kFormat>(sum, base + step % kStages * kStageBytes, warp_row, warp_column);
  }
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float* out = c + static_cast<std::size_t>(tile.x * kTile + warp_row + lane / 4) * side +
               tile.y * kTile + warp_column + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float* at = out + static_cast<std::size_t>(16 * i) * side + 8 * j;
      *reinterpret_cast<float2*>(at) = make_float2(sum[i][j][0], sum[i][j][1]);
      *reinterpret_cast<float2*>(at + 8 * static_cast<std::size_t>(side)) =
          make_float2(sum[i][j][2], sum[i][j][3]);
    }
  }
#endif
}

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_PRODUCT_TENSOR_TILE_CUH_
