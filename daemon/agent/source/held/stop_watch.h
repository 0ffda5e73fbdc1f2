// When a process was stopped from outside: by SIGSTOP, by a debugger, with its control group.
//
// Used by session/rank_session while nothing comes from the process, which tells
// pipeline/held_back.
//
// Model: no counter of the kernel holds the time in which a process is stopped, so that its state
// (T or t of its main thread) and its freezer (cgroup.events of version 2, freezer.state of
// version 1) are looked at by turns. Who was heard of within kQuietNs is not looked at. The longer
// nothing came, the rarer the looks: after an eighth of the silence, kSoonestNs at least and
// kLatestNs at most. A stretch began in the middle between the last moment at which the process ran
// for certain and the first look that found it stopped; its end likewise.
//
//   ran        looks: stopped          ran
//    |    ┌──────|────|────|────┐       |
//    └─half─┘                   └─half──┘
//
// Units: CLOCK_MONOTONIC ns. Thread-safety: single-threaded, owned by the poll loop. Ownership:
// owns the descriptors. Errors: none; what cannot be read was never stopped.
// Cost: a look is two reads of open files, 3 to 5 µs; every kLookUpNs the freezer is looked up
// anew, since a process may be moved.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HELD_STOP_WATCH_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HELD_STOP_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

class StopWatch {
 public:
  static constexpr std::int64_t kQuietNs = 15'000'000;
  static constexpr std::int64_t kSoonestNs = 5'000'000;
  static constexpr std::int64_t kLatestNs = 100'000'000;
  static constexpr std::int64_t kLookUpNs = 5'000'000'000;

  struct Stretch {
    std::int64_t begin_ns = 0, end_ns = 0;
  };

  StopWatch(const KernelRoots& roots, std::uint32_t pid);
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;
  ~StopWatch();

  // Whether it is time for a look. Costs nothing.
  bool Due(std::int64_t now_ns, std::int64_t moved_ns, std::int64_t soonest_ns = kSoonestNs) const;
  // What became known, where it is time: a stretch begins anew, or where the one told before ended.
  // `moved_ns`: when the process ran last for certain. `soonest_ns`: looks are no more often than
  // that.
  std::optional<Stretch> Look(std::int64_t now_ns, std::int64_t moved_ns,
                              std::int64_t soonest_ns = kSoonestNs);
  // In all, as far as it was told.
  std::int64_t stopped_ns() const { return stopped_ns_; }

 private:
  bool Stopped(std::int64_t now_ns);
  void LookUpFreezer(std::int64_t now_ns);
  Stretch Tell(std::int64_t begin_ns, std::int64_t end_ns);

  const KernelRoots roots_;
  const std::uint32_t pid_;
  int state_file_ = -1;
  int freezer_file_ = -1;
  std::string freezer_;               // its path; empty: there is none
  std::int64_t next_look_up_ns_ = 0;  // of the freezer
  std::int64_t looked_ns_ = 0;        // the newest look
  std::int64_t ran_ns_ = 0;           // the newest one that found it running
  std::int64_t told_until_ns_ = 0;    // the end of the stretch that goes on; 0: none does
  std::int64_t stopped_ns_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HELD_STOP_WATCH_H_
