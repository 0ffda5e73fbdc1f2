// The patterns that memory is filled with.
//
// Used by memory/pattern and cuda/memory/pattern. Thread-safety: pure functions.
#ifndef FATHOM_KERNELS_MEMORY_PATTERN_WORD_H_
#define FATHOM_KERNELS_MEMORY_PATTERN_WORD_H_

#include <cstdint>

#include "kernels/measure/host_and_gpu.h"

namespace fathom::kernels {

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

#endif  // FATHOM_KERNELS_MEMORY_PATTERN_WORD_H_
