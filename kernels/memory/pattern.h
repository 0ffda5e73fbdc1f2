// Whether memory keeps what is written into it.
//
// Used by suite. Model: every core fills its part with one pattern after the other (zeros, ones,
// alternating bits, each word's own address, random words), goes through it once more in the other
// direction, and compares. What differs is told with its offset and the bits that flipped.
//
// Figures: memory_checked (B, times patterns). Errors: faulty, with the first place and the count.
// Cost: bounds.bytes; ends with the time, after one whole pattern at least.
#ifndef FATHOM_KERNELS_MEMORY_PATTERN_H_
#define FATHOM_KERNELS_MEMORY_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "kernels/measure/bounds.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

// Stands between writing and comparing, in tests.
using DisturbMemory = std::function<void(std::size_t core, std::span<std::uint64_t> words)>;

ProbeResult MemoryPattern(const Bounds& bounds, const DisturbMemory& disturb = nullptr);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_MEMORY_PATTERN_H_
