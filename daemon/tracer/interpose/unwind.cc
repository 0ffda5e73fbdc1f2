#include "daemon/tracer/interpose/unwind.h"

#include "daemon/tracer/core/op_recorder.h"

int fathom_unwind_personality(int, int actions, std::uint64_t, void*, void*) {
  constexpr int kCleanupPhase = 2;    // _UA_CLEANUP_PHASE
  constexpr int kContinueUnwind = 8;  // _URC_CONTINUE_UNWIND
  if ((actions & kCleanupPhase) != 0) fathom::tracer::FailFrame();
  return kContinueUnwind;
}
