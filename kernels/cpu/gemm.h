// Matrix multiplication of one core, C = A·B, square, in FP32 or FP64, that stays in its caches.
//
// Used by cpu/multiply (how fast, and the same bits each time), cpu/exact and tests.
//
// Why not OpenBLAS: a probe runs on every node, in containers and prologs that have nothing but
// libc, it must give the same bits on all nodes whatever their library's version picks, and it must
// have no threads but its own. The loop below reaches what tests/bench/probes prints beside the
// machine's peak; that is enough to load the units that a fault shows in.
//
// Model: A packed by rows, B by columns, a tile of registers. The instructions are chosen once:
// AVX-512, AVX2 with FMA, or what the compiler's baseline has; the order of additions is fixed by
// that choice, so equal inputs have equal bits. VariantName() tells it.
//
// Thread-safety: one object a thread. Requires: `a`, `b` have kSide² elements, row by row.
// Cost: 2·kSide³ flop a call.
#ifndef FATHOM_KERNELS_CPU_GEMM_H_
#define FATHOM_KERNELS_CPU_GEMM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::kernels {

inline constexpr std::size_t kSide = 192;
inline constexpr double kFlopOfGemm = 2.0 * kSide * kSide * kSide;

const char* VariantName();

template <typename T>
class Gemm {
 public:
  Gemm(const std::vector<T>& a, const std::vector<T>& b);
  // Overwrites C and returns it.
  std::vector<T>& Run();

 private:
  std::vector<T> a_, b_, c_;  // packed; C row by row
};

extern template class Gemm<float>;
extern template class Gemm<double>;

// The same by three plain loops, for tests: equal where every partial sum is exact.
template <typename T>
std::vector<T> ReferenceGemm(const std::vector<T>& a, const std::vector<T>& b);

extern template std::vector<float> ReferenceGemm(const std::vector<float>&,
                                                 const std::vector<float>&);
extern template std::vector<double> ReferenceGemm(const std::vector<double>&,
                                                  const std::vector<double>&);

// Elements whose products and sums are exact in FP32, whatever the order: small whole numbers.
template <typename T>
std::vector<T> WholeMatrix(std::uint64_t seed);
// Elements in [−1, 1) that use every bit of the mantissa.
template <typename T>
std::vector<T> RoughMatrix(std::uint64_t seed);

extern template std::vector<float> WholeMatrix(std::uint64_t);
extern template std::vector<double> WholeMatrix(std::uint64_t);
extern template std::vector<float> RoughMatrix(std::uint64_t);
extern template std::vector<double> RoughMatrix(std::uint64_t);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CPU_GEMM_H_
