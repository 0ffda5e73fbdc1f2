// Every line of the hook list against the headers of the toolkit, at compile time: the same number
// of parameters, each of the same size and kind. A line that is too long (hook_list.h tells why)
// must begin with the header's.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <cupti_activity_deprecated.h>

#include <cstddef>
#include <type_traits>

#include "daemon/tracer/cupti/activity_layout.h"
#include "daemon/tracer/cupti/library.h"
#include "daemon/tracer/interpose/cuda/hook_list.h"
#include "daemon/tracer/interpose/cuda/stream_capture.h"

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
  return equal(name, "cudaGraphInstantiate") || equal(name, "cudaGraphExecUpdate") ||
         equal(name, "cudaMemcpyBatchAsync");
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

static_assert(Same(GetCaptureInfo(nullptr), PFN_cuStreamGetCaptureInfo_v11030(nullptr)));
static_assert(CU_STREAM_CAPTURE_STATUS_ACTIVE == 1);

#define FATHOM_CHECK_CUPTI(name, parameters) \
  static_assert(Same(static_cast<int(*) parameters>(nullptr), decltype (&::name)(nullptr)), #name);
FATHOM_CUPTI_FUNCTIONS(FATHOM_CHECK_CUPTI)

// The fields of CUPTI's records, for every version the header knows.
#define FATHOM_CHECK_SPAN(layout, record)                                                         \
  static_assert(offsetof(record, start) == layout.start && offsetof(record, end) == layout.end && \
                offsetof(record, streamId) == layout.stream &&                                    \
                offsetof(record, correlationId) == layout.correlation)
#define FATHOM_CHECK_KERNEL(record)         \
  FATHOM_CHECK_SPAN(kKernelLayout, record); \
  static_assert(offsetof(record, name) == kKernelLayout.name)
FATHOM_CHECK_KERNEL(CUpti_ActivityKernel4);
FATHOM_CHECK_KERNEL(CUpti_ActivityKernel5);
FATHOM_CHECK_KERNEL(CUpti_ActivityKernel6);
FATHOM_CHECK_KERNEL(CUpti_ActivityKernel7);
FATHOM_CHECK_KERNEL(CUpti_ActivityKernel8);
FATHOM_CHECK_KERNEL(CUpti_ActivityKernel9);
FATHOM_CHECK_KERNEL(CUpti_ActivityKernel10);
FATHOM_CHECK_KERNEL(CUpti_ActivityKernel11);
FATHOM_CHECK_KERNEL(CUpti_ActivityKernel12);
FATHOM_CHECK_KERNEL(CUpti_ActivityKernel13);
#define FATHOM_CHECK_MEMCPY(record)                                   \
  FATHOM_CHECK_SPAN(kMemcpyLayout, record);                           \
  static_assert(offsetof(record, copyKind) == kMemcpyLayout.detail && \
                offsetof(record, bytes) == kMemcpyLayout.bytes)
FATHOM_CHECK_MEMCPY(CUpti_ActivityMemcpy3);
FATHOM_CHECK_MEMCPY(CUpti_ActivityMemcpy4);
FATHOM_CHECK_MEMCPY(CUpti_ActivityMemcpy5);
FATHOM_CHECK_MEMCPY(CUpti_ActivityMemcpy6);
FATHOM_CHECK_MEMCPY(CUpti_ActivityMemcpy7);
#define FATHOM_CHECK_MEMSET(record)         \
  FATHOM_CHECK_SPAN(kMemsetLayout, record); \
  static_assert(offsetof(record, bytes) == kMemsetLayout.bytes)
FATHOM_CHECK_MEMSET(CUpti_ActivityMemset2);
FATHOM_CHECK_MEMSET(CUpti_ActivityMemset3);
FATHOM_CHECK_MEMSET(CUpti_ActivityMemset4);
FATHOM_CHECK_MEMSET(CUpti_ActivityMemset5);
#define FATHOM_CHECK_SYNC(record)         \
  FATHOM_CHECK_SPAN(kSyncLayout, record); \
  static_assert(offsetof(record, type) == kSyncLayout.detail)
FATHOM_CHECK_SYNC(CUpti_ActivitySynchronization);
FATHOM_CHECK_SYNC(CUpti_ActivitySynchronization2);
#define FATHOM_CHECK_OVERHEAD(record)                               \
  static_assert(offsetof(record, start) == kOverheadLayout.start && \
                offsetof(record, end) == kOverheadLayout.end &&     \
                offsetof(record, overheadKind) == kOverheadLayout.detail)
FATHOM_CHECK_OVERHEAD(CUpti_ActivityOverhead);
FATHOM_CHECK_OVERHEAD(CUpti_ActivityOverhead2);
FATHOM_CHECK_OVERHEAD(CUpti_ActivityOverhead3);
static_assert(offsetof(CUpti_ActivityOverhead3, overheadData) == kOverheadDetails);
static_assert(kOverheadQueueFull == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
static_assert(int{kCuptiOverhead} == int{CUPTI_ACTIVITY_KIND_OVERHEAD});
static_assert(int{kCuptiMemcpy} == int{CUPTI_ACTIVITY_KIND_MEMCPY});
static_assert(int{kCuptiMemset} == int{CUPTI_ACTIVITY_KIND_MEMSET});
static_assert(int{kCuptiConcurrentKernel} == int{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
static_assert(int{kCuptiSynchronization} == int{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION});

}  // namespace
}  // namespace fathom::tracer
