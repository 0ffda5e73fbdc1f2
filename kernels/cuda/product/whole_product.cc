#include "kernels/cuda/product/whole_product.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace fathom::kernels {
namespace {

constexpr int kLargest = 127;
constexpr int kLargestFp8 = 4;

std::vector<std::int8_t> WholeNumbers(std::size_t count, int largest, std::uint64_t state) {
  std::vector<std::int8_t> numbers(count);
  const auto values = static_cast<std::uint32_t>(2 * largest + 1);
  for (std::int8_t& number : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto high = static_cast<std::uint32_t>(state >> 40);
    number = static_cast<std::int8_t>(static_cast<int>(high % values) - largest);
  }
  return numbers;
}

std::uint32_t Fp32Bits(std::int8_t number) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(number));
}

// Sign, 4 bits of exponent with a bias of 7, 3 of mantissa. Requires: |number| ≤ 15.
std::uint8_t Fp8Bits(std::int8_t number) {
  const int size = std::abs(static_cast<int>(number));
  if (size == 0) return 0;
  const int exponent = std::bit_width(static_cast<unsigned>(size)) - 1;
  const int mantissa = (size << 3 >> exponent) & 7;
  return static_cast<std::uint8_t>((number < 0 ? 0x80 : 0) | (exponent + 7) << 3 | mantissa);
}

void Append(std::vector<std::uint8_t>& bytes, std::size_t place, const void* from, std::size_t n) {
  std::memcpy(bytes.data() + place * n, from, n);
}

// Σ_row matrix[row][k], for each k.
std::vector<std::int64_t> SumOverRows(const std::vector<std::int8_t>& matrix, std::size_t side) {
  std::vector<std::int64_t> sums(side);
  for (std::size_t row = 0; row < side; ++row) {
    for (std::size_t k = 0; k < side; ++k) sums[k] += matrix[row * side + k];
  }
  return sums;
}

std::vector<std::int64_t> Times(const std::vector<std::int8_t>& matrix,
                                const std::vector<std::int64_t>& vector) {
  const std::size_t side = vector.size();
  std::vector<std::int64_t> product(side);
  for (std::size_t row = 0; row < side; ++row) {
    for (std::size_t k = 0; k < side; ++k) product[row] += matrix[row * side + k] * vector[k];
  }
  return product;
}

struct Wrong {
  std::size_t count = 0;
  std::size_t first = 0;
  void Add(std::size_t place) {
    if (count++ == 0) first = place;
  }
};

}  // namespace

const char* NameOf(Format format) {
  switch (format) {
    case Format::kFp32:
      return "fp32";
    case Format::kTf32:
      return "tf32";
    case Format::kBf16:
      return "bf16";
    case Format::kFp8:
      break;
  }
  return "fp8";
}

std::size_t BytesOf(Format format) {
  if (format == Format::kFp8) return 1;
  return format == Format::kBf16 ? 2 : 4;
}

WholePair WholePairOf(Format format, std::size_t side) {
  const int largest = format == Format::kFp8 ? kLargestFp8 : kLargest;
  return {.side = side,
          .a = WholeNumbers(side * side, largest, 1),
          .b = WholeNumbers(side * side, largest, 2)};
}

std::vector<std::uint8_t> Encoded(std::span<const std::int8_t> numbers, Format format) {
  std::vector<std::uint8_t> bytes(numbers.size() * BytesOf(format));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint32_t whole = Fp32Bits(numbers[i]);
    const auto upper = static_cast<std::uint16_t>(whole >> 16);  // BF16: the upper half of FP32
    if (format == Format::kFp8) bytes[i] = Fp8Bits(numbers[i]);
    if (format == Format::kBf16) Append(bytes, i, &upper, sizeof upper);
    if (BytesOf(format) == sizeof whole) Append(bytes, i, &whole, sizeof whole);
  }
  return bytes;
}

std::int64_t ReferenceElement(const WholePair& pair, std::size_t row, std::size_t column) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < pair.side; ++k) {
    sum += static_cast<std::int64_t>(pair.a[row * pair.side + k]) * pair.b[column * pair.side + k];
  }
  return sum;
}

ProductSums SumsOf(const WholePair& pair) {
  return {.rows = Times(pair.a, SumOverRows(pair.b, pair.side)),
          .columns = Times(pair.b, SumOverRows(pair.a, pair.side))};
}

std::string WhatIsWrong(const ProductSums& sums, std::span<const float> product) {
  const std::size_t side = sums.rows.size();
  std::vector<double> columns(side);
  Wrong rows_wrong, columns_wrong, fractions;
  for (std::size_t row = 0; row < side; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < side; ++column) {
      const float element = product[row * side + column];
      sum += element;
      columns[column] += element;
      if (element != std::rint(element)) fractions.Add(row * side + column);
    }
    if (sum != static_cast<double>(sums.rows[row])) rows_wrong.Add(row);
  }
  for (std::size_t column = 0; column < side; ++column) {
    if (columns[column] != static_cast<double>(sums.columns[column])) columns_wrong.Add(column);
  }
  if (rows_wrong.count + columns_wrong.count + fractions.count == 0) return "";
  return std::to_string(rows_wrong.count) + " rows and " + std::to_string(columns_wrong.count) +
         " columns of a product have a wrong sum, the first at row " +
         std::to_string(rows_wrong.first) + ", column " + std::to_string(columns_wrong.first);
}

}  // namespace fathom::kernels
