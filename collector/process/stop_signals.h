// The signals of a daemon: SIGTERM and SIGINT stop it, a second one ends it at once, SIGHUP makes
// it read its settings again.
//
// Used by the mains of fathom-collector and fathom-cordon. Header only.
//
// Model: the constructor blocks the three before any thread is made, so that only Wait sees them.
// After the first stop signal, Insist() lets the next one end the process without further ado, for
// a person who does not want to wait; not within kSame, because `timeout` and shells send the same
// one to the process and to its group.
//
// Thread-safety: single-threaded, owned by main. Errors: none.
#ifndef FATHOM_COLLECTOR_PROCESS_STOP_SIGNALS_H_
#define FATHOM_COLLECTOR_PROCESS_STOP_SIGNALS_H_

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "proto/types/time_units.h"

namespace fathom::collector {

class StopSignals {
 public:
  enum class Came : std::uint8_t { kNothing, kStop, kReload };
  static constexpr Nanos kSame{1'000'000'000};

  StopSignals() {
    sigemptyset(&set_);
    for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, each);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }

  Came Wait() const {
    int number = 0;
    sigwait(&set_, &number);
    return Meaning(number);
  }

  Came Wait(Nanos most) const {
    const timespec wait{most.count / 1'000'000'000, most.count % 1'000'000'000};
    return Meaning(sigtimedwait(&set_, nullptr, &wait));
  }

  void Insist() const {
    First() = Now();
    signal(SIGTERM, &End);
    signal(SIGINT, &End);
    signal(SIGHUP, SIG_IGN);
    pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
  }

 private:
  static Came Meaning(int number) {
    return number <= 0 ? Came::kNothing : number == SIGHUP ? Came::kReload : Came::kStop;
  }
  static std::atomic<std::int64_t>& First() {  // for the handler alone
    static std::atomic<std::int64_t> first{0};
    return first;
  }
  static std::int64_t Now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }
  static void End(int number) {
    if (Now() - First() > kSame.count) _exit(128 + number);
  }

  sigset_t set_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_PROCESS_STOP_SIGNALS_H_
