// When a process was held back by its own CPU limit or stopped from outside, and what of its
// threads' waits for a core the limit was.
//
// Fed by session/rank_session from source/held; asked by iteration_summary, session/rows_reply, and
// for what goes into thread_clock and worker_clock.
//
// Model: a thread that its limit holds back and one that finds all cores taken are both runnable
// without a core, and the kernel counts both as run-queue time. The second is the doing of whoever
// has the cores, and accuses nobody; the first is that rank's own, as if it slept. When the limit's
// counter rises, the process may have been held back for as much, and no longer than since the
// counter rose before: it is taken to have been just now, for a process that is held back tells
// nothing, and is looked at as soon as it does. What a thread's run-queue time grows by next is
// taken for that; the two counters are told apart by a moment, so that the credit lasts for
// kLastsNs.
//
//   run-queue time   ____/‾‾‾‾ 80 ms          of which the limit, 75 ms, is taken out:
//   limit's counter  __/‾‾‾‾‾‾ 75 ms          5 ms of waiting for a core are left
//
// A process that is held back or stopped within a communication op, where others carry its calls
// out, takes part in it so much later: it arrives as if that had been before. Who is stopped is not
// runnable either, so that its waits for a core hold nothing of it.
//
// Units: CLOCK_MONOTONIC ns. Thread-safety: single-threaded, owned by the poll loop. Errors: none.
// Cost: O(log threads), O(log holds); 24 bytes a hold, kMaxHolds of them; some 64 bytes a thread,
// those not asked for in kForgetNs go.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_HELD_BACK_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_HELD_BACK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace fathom::agent {

class HeldBack {
 public:
  static constexpr std::int64_t kLastsNs = 1'000'000'000;
  static constexpr std::int64_t kForgetNs = 60'000'000'000;
  static constexpr std::size_t kMaxHolds = 1024;

  // How long the limit held processors back in all. Requires: neither falls from call to call.
  void Throttled(std::int64_t time_ns, std::int64_t throttled_ns);
  // It was stopped in this stretch. Requires: stretches come in order.
  void Stopped(std::int64_t begin_ns, std::int64_t end_ns);
  // The run-queue time of thread (or process) `id`, without what the limit held it back for.
  std::int64_t Without(std::uint32_t id, std::int64_t time_ns, std::int64_t runqueue_ns);
  // How much it grew since it was asked for last; 0 for one that was not.
  std::int64_t Growth(std::uint32_t id, std::int64_t runqueue_ns) const;
  // When it would have arrived at what it came to at `time_ns` and what was over at `end_ns` (0: is
  // not), had it been held back before and not meanwhile.
  std::int64_t Arrival(std::int64_t time_ns, std::int64_t end_ns) const;

 private:
  struct Thread {
    std::int64_t runqueue_ns = 0, held_ns = 0, credit_ns = 0, asked_ns = 0;
    std::uint64_t rise = 0;  // whose credit it has
  };
  struct Hold {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::int64_t sum_ns = 0;  // of all up to its end
  };

  // What of it lies behind the newest hold.
  void AddHold(std::int64_t begin_ns, std::int64_t end_ns);
  std::int64_t HeldUntil(std::int64_t time_ns) const;

  std::map<std::uint32_t, Thread> threads_;
  std::deque<Hold> holds_;
  std::optional<std::int64_t> throttled_ns_;
  std::int64_t risen_ns_ = 0, credit_ns_ = 0, forgotten_ns_ = 0;
  std::uint64_t rises_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_HELD_BACK_H_
