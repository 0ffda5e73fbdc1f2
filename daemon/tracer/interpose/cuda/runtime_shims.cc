// The functions of the CUDA runtime that a job calls by name: one shim a line of hook_list.h.
#include "daemon/tracer/interpose/caller_binding.h"
#include "daemon/tracer/interpose/cuda/hook_list.h"
#include "daemon/tracer/interpose/cuda/traced_call.h"

namespace fathom::tracer {

#define FATHOM_RUNTIME_SHIM(kind, symbol, parameters, arguments)                                  \
  __attribute__((visibility("default"))) int Runtime_##symbol parameters __asm__(#symbol);        \
  int Runtime_##symbol parameters {                                                               \
    static constinit CallerBinding binding;                                                       \
    void* found = BoundFor(&binding, #symbol, __builtin_return_address(0), FirstScope::kCallers); \
    if (found == nullptr) return kCudaNotFound;                                                   \
    return TracedCall<DeviceCall::kind>([&] {                                                     \
      return reinterpret_cast<int(*) parameters>(found) arguments;                                \
    } FATHOM_AND arguments);                                                                      \
  }
#define FATHOM_RUNTIME_PTSZ(kind, name, parameters, arguments) \
  FATHOM_RUNTIME_SHIM(kind, name, parameters, arguments)       \
  FATHOM_RUNTIME_SHIM(kind, name##_ptsz, parameters, arguments)
#define FATHOM_RUNTIME_PTDS(kind, name, parameters, arguments) \
  FATHOM_RUNTIME_SHIM(kind, name, parameters, arguments)       \
  FATHOM_RUNTIME_SHIM(kind, name##_ptds, parameters, arguments)

FATHOM_CUDA_RUNTIME_PTSZ(FATHOM_RUNTIME_PTSZ)
FATHOM_CUDA_RUNTIME_PTDS(FATHOM_RUNTIME_PTDS)
FATHOM_CUDA_RUNTIME_PLAIN(FATHOM_RUNTIME_SHIM)

}  // namespace fathom::tracer
