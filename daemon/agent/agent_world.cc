#include "daemon/agent/agent_world.h"

#include <cstdint>
#include <ctime>

namespace fathom::agent {
namespace {

std::int64_t ClockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace

AgentWorld AgentWorld::Real() {
  return {.mono_now = [] { return MonoNs(ClockNs(CLOCK_MONOTONIC)); },
          .wall_now = [] { return WallNs(ClockNs(CLOCK_REALTIME)); },
          .roots = {}};
}

double ProcessCpuSeconds() { return static_cast<double>(ClockNs(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9; }

}  // namespace fathom::agent
