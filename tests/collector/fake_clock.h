// A clock that stands still until a test moves it.
//
// Used by the collector's tests. Thread-safety: thread-safe.
#ifndef FATHOM_TESTS_COLLECTOR_FAKE_CLOCK_H_
#define FATHOM_TESTS_COLLECTOR_FAKE_CLOCK_H_

#include <atomic>

#include "collector/process/clock.h"

namespace fathom::collector {

class FakeClock final : public Clock {
 public:
  WallNs Wall() const override { return WallNs(kStart + elapsed_); }
  MonoNs Mono() const override { return MonoNs(1'000'000'000 + elapsed_); }
  // All time that passes is spent computing.
  Nanos ThreadCpu() const override { return Nanos(elapsed_); }
  void Advance(Nanos by) { elapsed_ += by.count; }
  void AdvanceSeconds(double s) { Advance(Nanos::FromSeconds(s)); }

  static constexpr std::int64_t kStart = 1'790'000'000'000'000'000;

 private:
  std::atomic<std::int64_t> elapsed_{0};
};

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_FAKE_CLOCK_H_
