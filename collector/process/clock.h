// The clocks of the collector's machine, injected so that tests own the time.
//
// Used by window, ingest, verdict, store, http, notify and cordon. Wall time is for display and for
// ids; every age, deadline and debounce uses monotonic time. What work costs is CPU time of its
// thread, so that it costs the same on a machine with other work. Thread-safety: thread-safe.
// Ownership: made in main, outlives everything. Cost: one vDSO call; ThreadCpu a system call.
#ifndef FATHOM_COLLECTOR_PROCESS_CLOCK_H_
#define FATHOM_COLLECTOR_PROCESS_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <ctime>

#include "proto/types/time_units.h"

namespace fathom::collector {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallNs Wall() const = 0;
  virtual MonoNs Mono() const = 0;
  // CPU time that the calling thread has used.
  virtual Nanos ThreadCpu() const = 0;
};

class SystemClock final : public Clock {
 public:
  WallNs Wall() const override { return WallNs(Count(std::chrono::system_clock::now())); }
  MonoNs Mono() const override { return MonoNs(Count(std::chrono::steady_clock::now())); }
  Nanos ThreadCpu() const override {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return Nanos(std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec);
  }

 private:
  template <typename T>
  static std::int64_t Count(T now) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  }
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_PROCESS_CLOCK_H_
