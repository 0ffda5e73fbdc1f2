// The time that calls of a traced Python function take, added up natively.
//
// Used by python_builtins.cc on every call of a traced function.
//
// Model: functions are those of core/function_names.h, by number. A thread notes when it enters one
// that it is not in already; where it leaves, the time since is added to the function's. A sum of
// kShortNs or more becomes one stretch (kFunctionBegin, kFunctionEnd) that ends now. What a call
// that never came back left behind is overwritten by the next (Restart); after an Enter without its
// Leave (a thread that is cancelled in it) the thread tells that function no more.
// Thread-safety: thread-safe; a thread's own moments are in its TLS, sums are atomic.
// Errors: none. Cost: hot path, two readings of the thread's clock a call; no system call.
#ifndef FATHOM_DAEMON_TRACER_PYTHON_FUNCTION_TIMER_H_
#define FATHOM_DAEMON_TRACER_PYTHON_FUNCTION_TIMER_H_

#include <cstdint>

namespace fathom::tracer::python {

inline constexpr std::int64_t kShortNs = 100'000;

// Each Enter has its Leave. Requires: function < abi::kFunctionNames.
void Enter(std::uint32_t function);
void Leave(std::uint32_t function);

// Where an end may be missing: Restart forgets a begin that has none, Finish one without a begin.
void Restart(std::uint32_t function);
void Finish(std::uint32_t function);

}  // namespace fathom::tracer::python

#endif  // FATHOM_DAEMON_TRACER_PYTHON_FUNCTION_TIMER_H_
