// A digest of memory: equal bits give equal digests, and one flipped bit another.
//
// Used by the probes that compare results bit by bit. No cryptography: it guards against faults,
// not against people. Each step is a bijection of the state, so a single changed word cannot leave
// the digest as it was. Thread-safety: pure functions. Cost: about 1 ns a word.
#ifndef FATHOM_KERNELS_MEASURE_DIGEST_H_
#define FATHOM_KERNELS_MEASURE_DIGEST_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace fathom::kernels {

// Bytes beyond the last whole word are left out.
inline std::uint64_t DigestOf(const void* data, std::size_t bytes, std::uint64_t state = 0) {
  const auto* at = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i + sizeof(std::uint64_t) <= bytes; i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, at + i, sizeof word);
    state = (state ^ word) * 0x9fb21c651e98df25u;
    state ^= state >> 32;
  }
  return state;
}

inline std::string HexOf(std::uint64_t digest) {
  std::string text(16, '0');
  for (std::size_t i = 0; i < 16; ++i) text[i] = "0123456789abcdef"[(digest >> (60 - 4 * i)) & 15];
  return text;
}

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_MEASURE_DIGEST_H_
