// Products of matrices of whole numbers, whose every bit is known beforehand, and how they are
// checked.
//
// Used by cuda/product/multiply, cuda/product/blas and tests; host code alone, the reference of
// what the GPU does.
//
// Model: C[m][n] = Σ_k A[m][k]·B[n][k], both with k side by side. The numbers are so small that
// every partial sum is exact in the format's accumulator, whatever the order: 127 at most, and 4 in
// FP8, whose accumulators keep 14 bits on some GPUs. So each row and each column of C has a sum
// that the host knows by O(side²) work; one wrong element breaks one of each, which names it.
//
// Thread-safety: pure functions. Requires: side² elements, all spans.
#ifndef FATHOM_KERNELS_CUDA_PRODUCT_WHOLE_PRODUCT_H_
#define FATHOM_KERNELS_CUDA_PRODUCT_WHOLE_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fathom::kernels {

enum class Format { kFp32, kTf32, kBf16, kFp8 };  // FP8: E4M3

const char* NameOf(Format format);  // "fp32"
std::size_t BytesOf(Format format);

// Two matrices of whole numbers.
struct WholePair {
  std::size_t side = 0;
  std::vector<std::int8_t> a;
  std::vector<std::int8_t> b;
};

WholePair WholePairOf(Format format, std::size_t side);

// As the format writes them; TF32 is written as FP32.
std::vector<std::uint8_t> Encoded(std::span<const std::int8_t> numbers, Format format);

std::int64_t ReferenceElement(const WholePair& pair, std::size_t row, std::size_t column);

// Sums that a product must have.
struct ProductSums {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> columns;
};

ProductSums SumsOf(const WholePair& pair);

// Empty: every row and column has its sum and every element is whole. Otherwise how many rows and
// columns are wrong and which element is the first.
std::string WhatIsWrong(const ProductSums& sums, std::span<const float> product);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_PRODUCT_WHOLE_PRODUCT_H_
