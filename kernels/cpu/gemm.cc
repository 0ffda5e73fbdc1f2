#include "kernels/cpu/gemm.h"

#include <type_traits>

namespace fathom::kernels {
namespace {

#if defined(__x86_64__) && !defined(__clang__)
#define FATHOM_VARIANTS 1
#else
#define FATHOM_VARIANTS 0
#endif

enum class Variant { kBaseline, kAvx2, kAvx512 };

Variant ThisVariant() {
#if FATHOM_VARIANTS
  if (__builtin_cpu_supports("avx512f")) return Variant::kAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Variant::kAvx2;
#endif
  return Variant::kBaseline;
}

// A tile of kRows × 2 vectors of kBytes stays in registers through the whole of k.
template <typename T, std::size_t kBytes, std::size_t kRows>
struct Tile {
  static constexpr std::size_t kLanes = kBytes / sizeof(T);
  static constexpr std::size_t kColumns = 2 * kLanes;
  static_assert(kSide % kRows == 0 && kSide % kColumns == 0);
};

template <typename T, std::size_t kBytes, std::size_t kRows>
[[gnu::always_inline]] inline void MultiplyTile(const T* a, const T* b, T* c) {
  typedef T Vector __attribute__((vector_size(kBytes), aligned(sizeof(T)), may_alias));
  using Shape = Tile<T, kBytes, kRows>;
  Vector sum[kRows][2] = {};
  for (std::size_t k = 0; k < kSide; ++k) {
    const Vector left = *reinterpret_cast<const Vector*>(b + k * Shape::kColumns);
    const Vector right = *reinterpret_cast<const Vector*>(b + k * Shape::kColumns + Shape::kLanes);
#pragma GCC unroll 16
    for (std::size_t row = 0; row < kRows; ++row) {
      const T factor = a[k * kRows + row];
      sum[row][0] += factor * left;
      sum[row][1] += factor * right;
    }
  }
#pragma GCC unroll 16
  for (std::size_t row = 0; row < kRows; ++row) {
    *reinterpret_cast<Vector*>(c + row * kSide) = sum[row][0];
    *reinterpret_cast<Vector*>(c + row * kSide + Shape::kLanes) = sum[row][1];
  }
}

template <typename T, std::size_t kBytes, std::size_t kRows>
[[gnu::always_inline]] inline void MultiplyAll(const T* a, const T* b, T* c) {
  constexpr std::size_t kColumns = Tile<T, kBytes, kRows>::kColumns;
  for (std::size_t column = 0; column < kSide; column += kColumns) {
    for (std::size_t row = 0; row < kSide; row += kRows) {
      MultiplyTile<T, kBytes, kRows>(a + row * kSide, b + column * kSide, c + row * kSide + column);
    }
  }
}

template <typename T>
void MultiplyBaseline(const T* a, const T* b, T* c) {
  MultiplyAll<T, 16, 6>(a, b, c);
}

#if FATHOM_VARIANTS
template <typename T>
[[gnu::target("avx2,fma")]] void MultiplyAvx2(const T* a, const T* b, T* c) {
  MultiplyAll<T, 32, 6>(a, b, c);
}

template <typename T>
[[gnu::target("avx512f")]] void MultiplyAvx512(const T* a, const T* b, T* c) {
  MultiplyAll<T, 64, 12>(a, b, c);
}
#endif

struct Shape {
  std::size_t rows;
  std::size_t columns;
};

template <typename T>
Shape ShapeOf(Variant variant) {
  switch (variant) {
    case Variant::kAvx512:
      return {12, 2 * 64 / sizeof(T)};
    case Variant::kAvx2:
      return {6, 2 * 32 / sizeof(T)};
    case Variant::kBaseline:
      break;
  }
  return {6, 2 * 16 / sizeof(T)};
}

std::uint64_t Next(std::uint64_t& state) {  // splitmix64
  state += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

const char* VariantName() {
  switch (ThisVariant()) {
    case Variant::kAvx512:
      return "avx512";
    case Variant::kAvx2:
      return "avx2";
    case Variant::kBaseline:
      break;
  }
  return "baseline";
}

template <typename T>
Gemm<T>::Gemm(const std::vector<T>& a, const std::vector<T>& b)
    : a_(kSide * kSide), b_(kSide * kSide), c_(kSide * kSide) {
  const Shape shape = ShapeOf<T>(ThisVariant());
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t k = 0; k < kSide; ++k) {
      const std::size_t panel = i / shape.rows * shape.rows;
      a_[panel * kSide + k * shape.rows + i % shape.rows] = a[i * kSide + k];
      const std::size_t block = i / shape.columns * shape.columns;
      b_[block * kSide + k * shape.columns + i % shape.columns] = b[k * kSide + i];
    }
  }
}

template <typename T>
std::vector<T>& Gemm<T>::Run() {
  switch (ThisVariant()) {
#if FATHOM_VARIANTS
    case Variant::kAvx512:
      MultiplyAvx512<T>(a_.data(), b_.data(), c_.data());
      break;
    case Variant::kAvx2:
      MultiplyAvx2<T>(a_.data(), b_.data(), c_.data());
      break;
#endif
    default:
      MultiplyBaseline<T>(a_.data(), b_.data(), c_.data());
  }
  return c_;
}

template <typename T>
std::vector<T> ReferenceGemm(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> c(kSide * kSide);
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t k = 0; k < kSide; ++k) {
      for (std::size_t j = 0; j < kSide; ++j)
        c[i * kSide + j] += a[i * kSide + k] * b[k * kSide + j];
    }
  }
  return c;
}

template <typename T>
std::vector<T> WholeMatrix(std::uint64_t seed) {
  std::vector<T> matrix(kSide * kSide);
  for (T& element : matrix) element = static_cast<T>(static_cast<int>(Next(seed) % 255) - 127);
  return matrix;
}

template <typename T>
std::vector<T> RoughMatrix(std::uint64_t seed) {
  constexpr int kBits = std::is_same_v<T, float> ? 24 : 53;
  constexpr T kScale = T(2) / static_cast<T>(std::uint64_t{1} << kBits);
  std::vector<T> matrix(kSide * kSide);
  for (T& element : matrix) element = static_cast<T>(Next(seed) >> (64 - kBits)) * kScale - T(1);
  return matrix;
}

template class Gemm<float>;
template class Gemm<double>;
template std::vector<float> ReferenceGemm(const std::vector<float>&, const std::vector<float>&);
template std::vector<double> ReferenceGemm(const std::vector<double>&, const std::vector<double>&);
template std::vector<float> WholeMatrix(std::uint64_t);
template std::vector<double> WholeMatrix(std::uint64_t);
template std::vector<float> RoughMatrix(std::uint64_t);
template std::vector<double> RoughMatrix(std::uint64_t);

}  // namespace fathom::kernels
