// Which copy of a function a caller is bound to.
//
// Used by the shims of the CUDA runtime, of NCCL and of BLAS. A process may hold two runtimes
// (libcudart.so.12 for one framework, libcudart.so.13 for another), or two copies of NCCL, whose
// functions must never be swapped: a wrapper that kept one address for all callers would do that.
// So what is found is kept for each calling library. What the tracer itself asks of a copy
// (nccl/communicators.cc) it asks as that copy's own functions would.
//
// Model: a few pairs of (address range of the caller's library, function). A call looks for the
// range that holds its return address; a library that is not there is looked up as the loader
// would bind it (real_symbol.h) and added. When all places are taken, and all hold the same
// function, that is the answer for everybody; if not, each call of a further library is a lookup.
// A function that ends by jumping on to the hooked one has its own caller's return address: where
// that lies in another library, that library's scope counts.
// Thread-safety: thread-safe. A pair is written once and never again. Errors: null: nobody has it.
// Cost: hot path; one or two compares.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_CALLER_BINDING_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_CALLER_BINDING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "daemon/tracer/interpose/real_symbol.h"

namespace fathom::tracer {

// Of one name. Static storage, all zero: what has contents counts to the library's size.
struct CallerBinding {
  static constexpr std::uint32_t kPlaces = 4;
  struct Place {
    std::uintptr_t begin;
    std::uintptr_t bytes;
    void* found;
  };

  std::atomic<std::uint32_t> used{0};
  Place places[kPlaces] = {};
};

// The slow path: looks up, and adds if there is a place.
void* BindCaller(CallerBinding* binding, const char* name, void* caller, FirstScope first);

inline void* BoundFor(CallerBinding* binding, const char* name, void* caller, FirstScope first) {
  const std::uint32_t used = binding->used.load(std::memory_order_acquire);
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  for (std::uint32_t i = 0; i < used; ++i) {
    const CallerBinding::Place& place = binding->places[i];
    if (at - place.begin < place.bytes) return place.found;
  }
  return BindCaller(binding, name, caller, first);
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_CALLER_BINDING_H_
