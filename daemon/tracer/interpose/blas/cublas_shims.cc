// cuBLAS and cublasLt: one shim a line of functions.h.
//
// A product is counted, and then the real function is jumped to: nothing is left to do when it
// returns. One that fails is counted all the same. cuBLAS calls none of these names itself.
#include <cstddef>

#include "daemon/tracer/core/products.h"
#include "daemon/tracer/interpose/blas/binding.h"
#include "daemon/tracer/interpose/blas/cublas_abi.h"
#include "daemon/tracer/interpose/blas/functions.h"

namespace fathom::tracer {
namespace {

using namespace cublas;

using GetAttribute = int (*)(const void* descriptor, int attribute, void* value, std::size_t bytes,
                             std::size_t* written);

// One name that is asked of cublasLt. Once it was not found it stays unknown.
struct Getter {
  const char* name;
  std::atomic<void*> found;
};
constinit Getter of_layout = {"cublasLtMatrixLayoutGetAttribute", {}};
constinit Getter of_product = {"cublasLtMatmulDescGetAttribute", {}};

// Whoever has no such function answers as one whose library was not set up.
int Absent() { return kNotInitialised; }

FlopClass Single() { return thread_state.products.tf32 != 0 ? FlopClass::kTf32 : FlopClass::kFp32; }
FlopClass ClassOf(int type, int compute) {
  const FlopClass flop_class = ClassOfType(type);
  if (flop_class != FlopClass::kFp32) return flop_class;
  return compute == kComputeTf32 ? FlopClass::kTf32 : Single();
}

void Note(FlopClass flop_class, std::uint64_t flop) {
  TracerState* state = ActiveState(abi::kSourceProducts, AfterFork::kIgnore);
  if (state != nullptr) NoteDeviceProduct(*state, flop_class, flop);
}

// What to jump to.
[[gnu::noinline]] void* Begin(CallerBinding* binding, const char* name, void* caller,
                              FlopClass flop_class, std::uint64_t flop) {
  void* real = blas::BindingOf(binding, name, caller);
  if (real == nullptr) return reinterpret_cast<void*>(&Absent);
  Note(flop_class, flop);
  return real;
}

void* Find(Getter* getter, void* beside) {
  void* found = getter->found.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  found = FindBeside(beside, getter->name);
  if (found == nullptr) {
    CountMissing();
    found = reinterpret_cast<void*>(&Absent);
  }
  getter->found.store(found, std::memory_order_release);
  return found;
}

std::int64_t Ask(void* getter, const void* descriptor, int attribute, std::size_t bytes,
                 std::int64_t otherwise) {
  std::int64_t value = 0;  // little-endian: a shorter one fills its beginning
  std::size_t written = 0;
  const int result =
      reinterpret_cast<GetAttribute>(getter)(descriptor, attribute, &value, bytes, &written);
  return result == 0 ? value : otherwise;
}

// Of A (m × k or its transpose) and D (m × n): 2 · m·k · n operations for each of the batch.
void NoteMatmul(void* real, const void* product, const void* a, const void* d) {
  if (a == nullptr || d == nullptr) return;
  void* layout = Find(&of_layout, real);
  const std::int64_t rows = Ask(layout, a, kLayoutRows, 8, 0);
  const std::int64_t columns = Ask(layout, a, kLayoutCols, 8, 0);
  const std::int64_t n = Ask(layout, d, kLayoutCols, 8, 0);
  const std::int64_t batch = Ask(layout, d, kLayoutBatch, 4, 1);
  FlopClass flop_class = ClassOfType(static_cast<int>(Ask(layout, a, kLayoutType, 4, 0)));
  const bool single = flop_class == FlopClass::kFp32;
  if (single && Ask(Find(&of_product, real), product, kDescCompute, 4, 0) == kComputeTf32)
    flop_class = FlopClass::kTf32;
  Note(flop_class, FlopOfProduct(rows, n, columns, batch));
}

}  // namespace

#define FATHOM_EXPORTED extern "C" __attribute__((visibility("default")))
#define FATHOM_STRIP(...) __VA_ARGS__

#define FATHOM_CUBLAS_SHIM(name, parameters, arguments, flop_class, batch_count) \
  FATHOM_EXPORTED int name parameters {                                          \
    static constinit CallerBinding binding;                                      \
    void* real = Begin(&binding, #name, __builtin_return_address(0), flop_class, \
                       FlopOfProduct(m, n, k, batch_count));                     \
    return reinterpret_cast<int(*) parameters>(real)(FATHOM_STRIP arguments);    \
  }
FATHOM_CUBLAS_GEMM(FATHOM_CUBLAS_SHIM)

FATHOM_EXPORTED int cublasSetMathMode FATHOM_CUBLAS_SET_MATH_MODE {
  static constinit CallerBinding binding;
  void* real = blas::BindingOf(&binding, "cublasSetMathMode", __builtin_return_address(0));
  if (real == nullptr) return kNotInitialised;
  // PyTorch sets it before each product, on the thread that then asks for it.
  thread_state.products.tf32 = mode == kTf32Math;
  return reinterpret_cast<int(*) FATHOM_CUBLAS_SET_MATH_MODE>(real)(handle, mode);
}

FATHOM_EXPORTED int cublasLtMatmul FATHOM_CUBLAS_LT_MATMUL {
  static constinit CallerBinding binding;
  void* real = blas::BindingOf(&binding, "cublasLtMatmul", __builtin_return_address(0));
  if (real == nullptr) return kNotInitialised;
  if (ActiveState(abi::kSourceProducts, AfterFork::kIgnore) != nullptr)
    NoteMatmul(real, compute, a_layout, d_layout);
  return reinterpret_cast<int(*) FATHOM_CUBLAS_LT_MATMUL>(real)(
      handle, compute, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algo,
      workspace, workspace_bytes, stream);
}

}  // namespace fathom::tracer
