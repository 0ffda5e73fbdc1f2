// The hash of a word at its place and the patterns that memory is filled with: the same on the host
// and on the GPU, so that one is the other's reference.
//
// Used by cuda/device/digest, cuda/memory/pattern and tests. Thread-safety: pure functions.
#ifndef FATHOM_KERNELS_CUDA_DEVICE_WORD_HASH_H_
#define FATHOM_KERNELS_CUDA_DEVICE_WORD_HASH_H_

#include <cstddef>
#include <cstdint>
#include <span>

#ifdef __CUDACC__
#define FATHOM_HOST_AND_GPU __host__ __device__
#else
#define FATHOM_HOST_AND_GPU
#endif

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

inline constexpr std::uint32_t kMemoryPatterns = 6;

// Zeros, ones, alternating bits, each word's place and its complement, random words.
FATHOM_HOST_AND_GPU inline std::uint64_t PatternWord(std::uint32_t pattern, std::uint64_t place,
                                                     std::uint64_t round) {
  switch (pattern) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0};
    case 2:
      return 0x5555555555555555u << (place & 1);
    case 3:
      return place * 8;
    case 4:
      return ~(place * 8);
    default:
      return ((place + round + 1) * 0x9e3779b97f4a7c15u) ^ place >> 3;
  }
}

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_DEVICE_WORD_HASH_H_
