// Every line of the hook list against the headers of the toolkit, at compile time: the same number
// of parameters, each of the same size and kind. A line that is too long (hook_list.h tells why)
// must begin with the header's.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <type_traits>

#include "daemon/tracer/interpose/cuda/hook_list.h"

extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);

namespace fathom::tracer {
namespace {

template <typename A, typename B>
constexpr bool kPassedAlike =
    sizeof(A) == sizeof(B) && std::is_class_v<A> ==
                                  std::is_class_v<B>&& std::is_trivially_copyable_v<A> ==
                                  std::is_trivially_copyable_v<B>;

template <typename... Types>
struct List {};

template <typename... Ours>
constexpr bool BeginsWith(List<Ours...>, List<>) {
  return true;
}
template <typename A, typename... Ours, typename B, typename... Theirs>
constexpr bool BeginsWith(List<A, Ours...>, List<B, Theirs...>) {
  return kPassedAlike<A, B> && BeginsWith(List<Ours...>{}, List<Theirs...>{});
}
constexpr bool BeginsWith(...) { return false; }

template <typename... Ours, typename Result, typename... Theirs>
constexpr bool Same(int (*)(Ours...), Result (*)(Theirs...)) {
  return sizeof(Result) == sizeof(int) && sizeof...(Ours) == sizeof...(Theirs) &&
         BeginsWith(List<Ours...>{}, List<Theirs...>{});
}
template <typename... Ours, typename Result, typename... Theirs>
constexpr bool Longer(int (*)(Ours...), Result (*)(Theirs...)) {
  return BeginsWith(List<Ours...>{}, List<Theirs...>{});
}

constexpr bool IsLongest(const char* name) {
  const auto equal = [](const char* a, const char* b) {
    while (*a != '\0' && *a == *b) ++a, ++b;
    return *a == *b;
  };
  return equal(name, "cudaGraphInstantiate") || equal(name, "cudaMemcpyBatchAsync");
}

#define FATHOM_CHECK_RUNTIME(kind, name, parameters, arguments)                                    \
  static_assert(IsLongest(#name)                                                                   \
                    ? Longer(static_cast<int(*) parameters>(nullptr), decltype (&::name)(nullptr)) \
                    : Same(static_cast<int(*) parameters>(nullptr), decltype (&::name)(nullptr)),  \
                #name);
FATHOM_CUDA_RUNTIME_PTSZ(FATHOM_CHECK_RUNTIME)
FATHOM_CUDA_RUNTIME_PTDS(FATHOM_CHECK_RUNTIME)
FATHOM_CUDA_RUNTIME_PLAIN(FATHOM_CHECK_RUNTIME)

#define FATHOM_CHECK_DRIVER(kind, asked, symbol, since, parameters, arguments)                  \
  static_assert(Same(static_cast<int(*) parameters>(nullptr), PFN_##asked##_v##since(nullptr)), \
                #symbol);
FATHOM_CUDA_DRIVER_PTSZ(FATHOM_CHECK_DRIVER)
FATHOM_CUDA_DRIVER_PTDS(FATHOM_CHECK_DRIVER)
FATHOM_CUDA_DRIVER_PLAIN(FATHOM_CHECK_DRIVER)

}  // namespace
}  // namespace fathom::tracer
