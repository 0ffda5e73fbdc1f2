#include "daemon/tracer/core/activation.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "daemon/tracer/core/function_names.h"
#include "daemon/tracer/core/host/clock.h"
#include "daemon/tracer/core/host/identity.h"
#include "daemon/tracer/core/host/settings.h"
#include "daemon/tracer/core/host/uncancelled.h"

namespace fathom::tracer {
namespace {

// An agent that was here and is away may come back and read what it has not seen: long enough for
// an upgrade or an outage, short enough that the rings of a node without one give their memory
// back.
constexpr std::int64_t kAgentGoneNs = 3'600'000'000'000;

// Outside the mapping that a fork empties: this is how a child knows that it had a parent.
std::atomic<abi::ControlBlock*> last_control{nullptr};

const char* Environment(const char* name) { return getenv(name); }

// The one mapping of TracerState, made by whoever comes first.
TracerState* MapState() {
  TracerState* state = tracer_state.load(std::memory_order_acquire);
  if (state != nullptr) return state;
  void* at = mmap(nullptr, sizeof(TracerState), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                  -1, 0);
  if (at == MAP_FAILED) return nullptr;
  // Without this promise of the kernel (before Linux 4.14) a child would write into our ring.
  if (madvise(at, sizeof(TracerState), MADV_WIPEONFORK) != 0) {
    munmap(at, sizeof(TracerState));
    return nullptr;
  }
  auto* made = static_cast<TracerState*>(at);  // zero-filled memory is a valid idle state
  if (tracer_state.compare_exchange_strong(state, made, std::memory_order_acq_rel)) return made;
  munmap(at, sizeof(TracerState));
  return state;
}

Phase TurnOn(TracerState* state) {
  const Settings settings = ReadSettings(Environment);
  if (settings.disabled || settings.shm_dir == nullptr || settings.sources == 0) return Phase::kOff;
  if (!CounterMayBeRead()) return Phase::kOff;
  const Identity identity = ReadIdentity(Environment);
  if (!CreateRegion(settings, identity, &state->region, state->path)) return Phase::kOff;
  state->epoch = static_cast<std::uint32_t>(getpid());
  state->sources = settings.sources;
  if (settings.bad_settings != 0) {
    CountDrop(state->region, abi::DropReason::kBadSetting, settings.bad_settings);
  }
  AllowCarriedClock();
  PublishFunctions(*state->region.control);
  last_control.store(state->region.control, std::memory_order_release);
  return Phase::kOn;
}

}  // namespace

TracerState* Activate() {
  const int saved = errno;
  TracerState* state = MapState();
  if (state == nullptr) return nullptr;
  Phase phase = Phase::kIdle;
  const Uncancelled to_the_end;
  if (state->phase.compare_exchange_strong(phase, Phase::kActivating, std::memory_order_acq_rel)) {
    phase = TurnOn(state);
    state->phase.store(phase, std::memory_order_release);
  }
  while (phase == Phase::kActivating) {
    sched_yield();
    phase = state->phase.load(std::memory_order_acquire);
  }
  errno = saved;
  return phase == Phase::kOn ? state : nullptr;
}

abi::ControlBlock* InheritedControl() {
  TracerState* state = tracer_state.load(std::memory_order_acquire);
  if (state == nullptr || state->phase.load(std::memory_order_relaxed) != Phase::kIdle) {
    return nullptr;
  }
  return last_control.load(std::memory_order_acquire);
}

void Deactivate() {
  TracerState* state = tracer_state.load(std::memory_order_acquire);
  if (state == nullptr || state->phase.load(std::memory_order_acquire) != Phase::kOn) return;
  abi::ControlBlock* control = state->region.control;
  control->exiting.store(1, std::memory_order_release);
  const std::uint64_t seen = control->agent_heartbeat_ns.load(std::memory_order_relaxed);
  const std::int64_t age = MonotonicNs() - static_cast<std::int64_t>(seen);
  if (seen == 0 || age > kAgentGoneNs) {
    const int saved = errno;
    unlink(state->path);
    errno = saved;
  }
}

}  // namespace fathom::tracer
