#include "kernels/cuda/device/cuda_call.h"
#include "kernels/cuda/device/digest.h"

namespace fathom::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 1024;

__global__ void SumHashes(const std::uint32_t* words, std::size_t count, unsigned long long* sum) {
  unsigned long long mine = 0;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    mine += WordHash(words[i], i);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_down_sync(0xffffffffu, mine, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

__global__ void Flip(std::uint32_t* words, std::size_t word, int bit) { words[word] ^= 1u << bit; }

}  // namespace

std::uint64_t GpuDigestOf(const void* data, std::size_t words, cudaStream_t stream) {
  DeviceBuffer<unsigned long long> sum(1);
  Check(cudaMemsetAsync(sum.Data(), 0, sum.Bytes(), stream), "a digest");
  SumHashes<<<kBlocks, kThreads, 0, stream>>>(static_cast<const std::uint32_t*>(data), words,
                                              sum.Data());
  CheckLaunch("a digest");
  Check(cudaStreamSynchronize(stream), "a digest");
  std::uint64_t result = 0;
  sum.Get(&result);
  return result;
}

void FlipBit(void* data, std::size_t word, int bit, cudaStream_t stream) {
  Flip<<<1, 1, 0, stream>>>(static_cast<std::uint32_t*>(data), word, bit);
  CheckLaunch("flipping a bit");
}

}  // namespace fathom::kernels
