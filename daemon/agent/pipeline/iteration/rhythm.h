// How long a rank pauses between two ops, known before its iterations are.
//
// Owned by rank_pipeline; tells a stall on jobs whose period is not learned yet, or that have none,
// and remembers a long pause (a checkpoint, an evaluation) when its iteration has left every
// window.
//
// Model: it is known once kOps ops have come over kSpanNs without a pause longer than all that came
// before it: so the burst of a start-up (a broadcast of the weights) and the first step that
// compiles after it are no rhythm. From then on each pause is history, for one to two times
// kHistoryOps ops, and the longest of the last kSlots seconds with ops is the recent one.
//
// Units: CLOCK_MONOTONIC ns. Thread-safety: thread-compatible. Errors: times that run backwards
// make no pause. Cost: O(1) an op; Recent O(kSlots).
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_RHYTHM_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_RHYTHM_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace fathom::agent {

class Rhythm {
 public:
  static constexpr std::uint64_t kOps = 64;
  static constexpr std::int64_t kSpanNs = 2'000'000'000;
  static constexpr std::size_t kSlots = 16;
  static constexpr std::uint64_t kHistoryOps = 32'768;

  void Take(std::int64_t enter_ns);
  // The longest pause of the last seconds, ns; 0: not known yet.
  std::int64_t Recent() const;
  // And of what is remembered.
  std::int64_t History() const;

 private:
  struct Slot {
    std::int64_t second = -1;
    std::int64_t longest = 0;
  };

  void BeginAnew(std::int64_t enter_ns);

  std::array<Slot, kSlots> slots_{};  // by second
  std::int64_t first_ = 0, last_ = 0;
  std::uint64_t taken_ = 0;
  std::int64_t longest_ = 0, longest_before_ = 0;  // of this stretch of kHistoryOps, and the last
  bool known_ = false;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_RHYTHM_H_
