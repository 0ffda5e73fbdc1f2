// The hash of a word at its place: the same on the host and on the GPU, so that one is the other's
// reference.
//
// Used by cuda/device/digest, cuda/link/host_transfer and tests. Thread-safety: pure functions.
#ifndef FATHOM_KERNELS_CUDA_DEVICE_WORD_HASH_H_
#define FATHOM_KERNELS_CUDA_DEVICE_WORD_HASH_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/measure/host_and_gpu.h"

namespace fathom::kernels {

// Each step is a bijection of the 64 bits (place, word).
FATHOM_HOST_AND_GPU inline std::uint64_t WordHash(std::uint32_t word, std::uint64_t place) {
  std::uint64_t state = (place << 32 | word) * 0x9fb21c651e98df25u;
  state ^= state >> 29;
  state *= 0xbf58476d1ce4e5b9u;
  return state ^ state >> 32;
}

inline std::uint64_t HostDigestOf(std::span<const std::uint32_t> words) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words.size(); ++i) sum += WordHash(words[i], i);
  return sum;
}

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_DEVICE_WORD_HASH_H_
