#include "daemon/tracer/cupti/other_profiler.h"

#include <atomic>

#include "daemon/tracer/core/window.h"
#include "daemon/tracer/interpose/real_symbol.h"

namespace fathom::tracer {
namespace {

constexpr int kNotFound = 15;  // CUPTI_ERROR_NOT_INITIALIZED
std::atomic<bool> seen{false};

// A call from inside a window's own work in CUPTI is CUPTI's own doing.
void LetIn() {
  TracerState* state = OnState(AfterFork::kIgnore);
  if (thread_state.device.inside != 0 || seen.exchange(true, std::memory_order_acq_rel)) return;
  if (state != nullptr) CutWindowShort(*state, abi::WindowReason::kOtherProfiler);
  LeaveCupti();
}

}  // namespace

bool OtherProfilerSeen() { return seen.load(std::memory_order_acquire); }

// The tracer's own calls go to CUPTI directly and never come here.
#define FATHOM_LETS_IN(symbol, parameters, arguments)                                   \
  __attribute__((visibility("default"))) int Hook_##symbol parameters __asm__(#symbol); \
  int Hook_##symbol parameters {                                                        \
    static constinit RealSymbol real{#symbol, {nullptr}};                               \
    void* found = Real(&real, __builtin_return_address(0));                             \
    if (found == nullptr) return kNotFound;                                             \
    LetIn();                                                                            \
    return reinterpret_cast<int(*) parameters>(found) arguments;                        \
  }

FATHOM_LETS_IN(cuptiSubscribe, (void* subscriber, void* callback, void* user),
               (subscriber, callback, user))
FATHOM_LETS_IN(cuptiSubscribe_v2, (void* subscriber, void* callback, void* user, void* params),
               (subscriber, callback, user, params))
FATHOM_LETS_IN(cuptiActivityRegisterCallbacks, (void* requested, void* completed),
               (requested, completed))

}  // namespace fathom::tracer
