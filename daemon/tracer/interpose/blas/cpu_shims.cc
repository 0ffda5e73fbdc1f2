// The BLAS of the CPU: one shim a line of functions.h.
//
// The shims take what Fortran's compilers hand over unseen, the lengths of the two letters. A
// caller that gives none leaves whatever lies there, which is passed on and looked at by nobody.
#include <cstddef>

#include "daemon/tracer/core/products.h"
#include "daemon/tracer/interpose/blas/binding.h"
#include "daemon/tracer/interpose/blas/functions.h"

namespace fathom::tracer {
namespace {

// MKL's integers are int or, in builds for large ones, longer; little-endian, so that an int is
// right where the value fits. Of a longer list only the first is then.
using Int = int;
using Word = std::ptrdiff_t;

std::uint64_t FlopOfGroups(const Int* m, const Int* n, const Int* k, Word groups,
                           const Int* sizes) {
  std::uint64_t flop = 0;
  for (Int i = 0; i < static_cast<Int>(groups); ++i)
    flop += FlopOfProduct(m[i], n[i], k[i], sizes[i]);
  return flop;
}

// Where nobody has the function nobody could have called it. One copy a form, not one a name.
template <typename... Args>
[[gnu::noinline]] void Call(void* real, FlopClass flop_class, std::uint64_t flop, Args... args) {
  if (real == nullptr) return;
  TracerState* state = ActiveState(abi::kSourceProducts, AfterFork::kIgnore);
  const std::int64_t begin_ns = state == nullptr ? 0 : NowNs();
  reinterpret_cast<void (*)(Args...)>(real)(args...);
  if (state != nullptr) NoteProduct(*state, flop_class, flop, begin_ns);
}

}  // namespace

#define FATHOM_EXPORTED extern "C" __attribute__((visibility("default")))
#define FATHOM_REAL(name)                 \
  static constinit CallerBinding binding; \
  void* real = blas::BindingOf(&binding, #name, __builtin_return_address(0))

#define FATHOM_GEMM_SHIM(name, flop_class)                                                    \
  FATHOM_EXPORTED void name(const char* ta, const char* tb, const Int* m, const Int* n,       \
                            const Int* k, const void* alpha, const void* a, const Int* lda,   \
                            const void* b, const Int* ldb, const void* beta, void* c,         \
                            const Int* ldc, std::size_t ta_length, std::size_t tb_length) {   \
    FATHOM_REAL(name);                                                                        \
    Call(real, flop_class, FlopOfProduct(*m, *n, *k), ta, tb, m, n, k, alpha, a, lda, b, ldb, \
         beta, c, ldc, ta_length, tb_length);                                                 \
  }
FATHOM_CPU_GEMM(FATHOM_GEMM_SHIM)

#define FATHOM_BATCH_SHIM(name, flop_class)                                                        \
  FATHOM_EXPORTED void name(Word layout, const int* ta, const int* tb, const Int* m, const Int* n, \
                            const Int* k, const void* alpha, const void* const* a, const Int* lda, \
                            const void* const* b, const Int* ldb, const void* beta,                \
                            void* const* c, const Int* ldc, Word groups, const Int* sizes) {       \
    FATHOM_REAL(name);                                                                             \
    Call(real, flop_class, FlopOfGroups(m, n, k, groups, sizes), layout, ta, tb, m, n, k, alpha,   \
         a, lda, b, ldb, beta, c, ldc, groups, sizes);                                             \
  }
FATHOM_CPU_GEMM_BATCH(FATHOM_BATCH_SHIM)

#define FATHOM_HALF_SHIM(name, flop_class)                                                         \
  FATHOM_EXPORTED void name(Word layout, Word ta, Word tb, Word m, Word n, Word k, float alpha,    \
                            const void* a, Word lda, const void* b, Word ldb, float beta, void* c, \
                            Word ldc) {                                                            \
    FATHOM_REAL(name);                                                                             \
    const auto side = [](Word length) { return static_cast<Int>(length); };                        \
    Call(real, flop_class, FlopOfProduct(side(m), side(n), side(k)), layout, ta, tb, m, n, k,      \
         alpha, a, lda, b, ldb, beta, c, ldc);                                                     \
  }
FATHOM_CPU_GEMM_HALF(FATHOM_HALF_SHIM)

}  // namespace fathom::tracer
