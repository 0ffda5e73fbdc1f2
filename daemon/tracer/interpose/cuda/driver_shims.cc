// The functions of the CUDA driver: one wrapper a line of hook_list.h, and the table of them.
#include "daemon/tracer/interpose/cuda/driver_lookup.h"
#include "daemon/tracer/interpose/cuda/driver_table.h"
#include "daemon/tracer/interpose/cuda/hook_list.h"
#include "daemon/tracer/interpose/cuda/traced_call.h"

#define FATHOM_DRIVER_EXPORT __attribute__((visibility("default")))
#define FATHOM_MAX(a, b) ((a) > (b) ? (a) : (b))

namespace fathom::tracer {
namespace {

constexpr int kPerThreadSince = 7000;

enum Index : std::size_t {
  kGetProcAddress,
  kGetProcAddress_v2,
#define FATHOM_INDEX(kind, asked, symbol, since, parameters, arguments) k_##symbol,
#define FATHOM_INDEX_PTSZ(kind, asked, symbol, since, parameters, arguments) \
  k_##symbol, k_##symbol##_ptsz,
#define FATHOM_INDEX_PTDS(kind, asked, symbol, since, parameters, arguments) \
  k_##symbol, k_##symbol##_ptds,
  FATHOM_CUDA_DRIVER_PTSZ(FATHOM_INDEX_PTSZ) FATHOM_CUDA_DRIVER_PTDS(FATHOM_INDEX_PTDS)
      FATHOM_CUDA_DRIVER_PLAIN(FATHOM_INDEX) kCount
};

}  // namespace

FATHOM_DRIVER_EXPORT int Driver_GetProcAddress(const char*, void**, int,
                                               std::uint64_t) __asm__("cuGetProcAddress");
FATHOM_DRIVER_EXPORT int Driver_GetProcAddress_v2(const char*, void**, int, std::uint64_t,
                                                  int*) __asm__("cuGetProcAddress_v2");
#define FATHOM_DECLARE(kind, asked, symbol, since, parameters, arguments) \
  FATHOM_DRIVER_EXPORT int Driver_##symbol parameters __asm__(#symbol);
#define FATHOM_DECLARE_PTSZ(kind, asked, symbol, since, parameters, arguments) \
  FATHOM_DECLARE(kind, asked, symbol, since, parameters, arguments)            \
  FATHOM_DECLARE(kind, asked, symbol##_ptsz, since, parameters, arguments)
#define FATHOM_DECLARE_PTDS(kind, asked, symbol, since, parameters, arguments) \
  FATHOM_DECLARE(kind, asked, symbol, since, parameters, arguments)            \
  FATHOM_DECLARE(kind, asked, symbol##_ptds, since, parameters, arguments)
FATHOM_CUDA_DRIVER_PTSZ(FATHOM_DECLARE_PTSZ)
FATHOM_CUDA_DRIVER_PTDS(FATHOM_DECLARE_PTDS)
FATHOM_CUDA_DRIVER_PLAIN(FATHOM_DECLARE)

namespace {

#define FATHOM_HOOK(asked, symbol, since, per_thread) \
  {#asked, since, per_thread, reinterpret_cast<void*>(&Driver_##symbol), {#symbol, {nullptr}}},
#define FATHOM_ROW(kind, asked, symbol, since, parameters, arguments) \
  FATHOM_HOOK(asked, symbol, since, false)
#define FATHOM_ROW_PTSZ(kind, asked, symbol, since, parameters, arguments) \
  FATHOM_HOOK(asked, symbol, since, false)                                 \
  FATHOM_HOOK(asked, symbol##_ptsz, FATHOM_MAX(since, kPerThreadSince), true)
#define FATHOM_ROW_PTDS(kind, asked, symbol, since, parameters, arguments) \
  FATHOM_HOOK(asked, symbol, since, false)                                 \
  FATHOM_HOOK(asked, symbol##_ptds, FATHOM_MAX(since, kPerThreadSince), true)

DriverHook hooks[kCount] = {{"cuGetProcAddress",
                             11030,
                             false,
                             reinterpret_cast<void*>(&Driver_GetProcAddress),
                             {"cuGetProcAddress", {nullptr}}},
                            {"cuGetProcAddress",
                             12000,
                             false,
                             reinterpret_cast<void*>(&Driver_GetProcAddress_v2),
                             {"cuGetProcAddress_v2", {nullptr}}},
                            FATHOM_CUDA_DRIVER_PTSZ(FATHOM_ROW_PTSZ)
                                FATHOM_CUDA_DRIVER_PTDS(FATHOM_ROW_PTDS)
                                    FATHOM_CUDA_DRIVER_PLAIN(FATHOM_ROW)};

}  // namespace

DriverHooks AllDriverHooks() { return {hooks, kCount}; }

#define FATHOM_DEFINE(kind, asked, symbol, since, parameters, arguments)      \
  int Driver_##symbol parameters {                                            \
    void* found = Real(&hooks[k_##symbol].real, __builtin_return_address(0)); \
    if (found == nullptr) return kCudaNotFound;                               \
    return TracedCall<DeviceCall::kind>([&] {                                 \
      return reinterpret_cast<int(*) parameters>(found) arguments;            \
    } FATHOM_AND arguments);                                                  \
  }
#define FATHOM_DEFINE_PTSZ(kind, asked, symbol, since, parameters, arguments) \
  FATHOM_DEFINE(kind, asked, symbol, since, parameters, arguments)            \
  FATHOM_DEFINE(kind, asked, symbol##_ptsz, since, parameters, arguments)
#define FATHOM_DEFINE_PTDS(kind, asked, symbol, since, parameters, arguments) \
  FATHOM_DEFINE(kind, asked, symbol, since, parameters, arguments)            \
  FATHOM_DEFINE(kind, asked, symbol##_ptds, since, parameters, arguments)
FATHOM_CUDA_DRIVER_PTSZ(FATHOM_DEFINE_PTSZ)
FATHOM_CUDA_DRIVER_PTDS(FATHOM_DEFINE_PTDS)
FATHOM_CUDA_DRIVER_PLAIN(FATHOM_DEFINE)

int Driver_GetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  void* found = Real(&hooks[kGetProcAddress].real, __builtin_return_address(0));
  if (found == nullptr) return kCudaNotFound;
  const auto ask = reinterpret_cast<GetProcAddress>(found);
  const int result = ask(name, function, version, flags);
  if (result == 0) WrapAnswer(AskV1(ask), name, function);
  return result;
}

int Driver_GetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags,
                             int* status) {
  void* found = Real(&hooks[kGetProcAddress_v2].real, __builtin_return_address(0));
  if (found == nullptr) return kCudaNotFound;
  const auto ask = reinterpret_cast<GetProcAddressV2>(found);
  const int result = ask(name, function, version, flags, status);
  if (result == 0) WrapAnswer(AskV2(ask), name, function);
  return result;
}

}  // namespace fathom::tracer
