#include "daemon/tracer/core/tracer_state.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/tracer/core/activation.h"

namespace fathom::tracer {

constinit thread_local ThreadState thread_state;
std::atomic<TracerState*> tracer_state{nullptr};

void CountAfterFork() {
  // Only a process that forked with a region mapped can have one here while its own phase is idle.
  abi::ControlBlock* inherited = InheritedControl();
  if (inherited == nullptr) return;
  inherited->drops[static_cast<int>(abi::DropReason::kAfterFork)].fetch_add(
      1, std::memory_order_relaxed);
}

void AttachThread(const TracerState& state) {
  const PendingGroup pending = thread_state.pending;  // may be announced before activation
  thread_state = ThreadState{};
  thread_state.pending = pending;
  thread_state.epoch = state.epoch;
  thread_state.thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
}

}  // namespace fathom::tracer
