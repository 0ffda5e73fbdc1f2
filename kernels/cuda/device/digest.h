// A digest of memory of the GPU, made there: equal bits give equal digests, and one flipped bit
// another.
//
// Used by cuda/product/checked_product, cuda/link and cuda/memory/pattern. Model: the sum of each
// word's hash with its place, whatever the order; a hash is a bijection of the word, so one changed
// word changes the sum. The same on the host (tests). Requires: fewer than 2^32 words.
#ifndef FATHOM_KERNELS_CUDA_DEVICE_DIGEST_H_
#define FATHOM_KERNELS_CUDA_DEVICE_DIGEST_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/word_hash.h"

namespace fathom::kernels {

// Of `words` words, on the current device; waits for what was put into `stream` before.
std::uint64_t GpuDigestOf(const void* data, std::size_t words, cudaStream_t stream);

// Turns one bit of a word over, as a fault would.
void FlipBit(void* data, std::size_t word, int bit, cudaStream_t stream);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_DEVICE_DIGEST_H_
