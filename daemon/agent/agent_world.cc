#include "daemon/agent/agent_world.h"

#include <sys/resource.h>

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

std::int64_t ThreadCpuNs() { return ClockNs(CLOCK_THREAD_CPUTIME_ID); }

double ChildrenCpuSeconds() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace fathom::agent
