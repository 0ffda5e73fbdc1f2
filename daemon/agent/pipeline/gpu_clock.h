// Maps the clock of a process's GPU to the node's CLOCK_MONOTONIC.
//
// Used by op_joiner for the GPU times in a ring.
//
// Model: host = gpu + offset. The host hears of an end after it happened, and of nothing before the
// call that caused it, so each op bounds the offset from both sides:
//
//   call entered − gpu start  ≤  offset  ≤  end heard of − gpu end
//
// The least upper bound of the last one to two spans is taken (NCCL's thread polls every few µs, so
// it is close); bounds that contradict each other mean that a clock was set, and the span begins
// anew. The offset is only as good as the quickest notice: `slack_ns` tells how far the bounds are
// apart.
//
// Units: ns. Thread-safety: values. Errors: 0 for a GPU time that is 0 or maps before the boot.
// Cost: O(1).
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_GPU_CLOCK_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_GPU_CLOCK_H_

#include <cstdint>
#include <limits>

namespace fathom::agent {

class GpuClock {
 public:
  static constexpr std::int64_t kSpanNs = 30'000'000'000;

  // The host heard at `heard_ns` that something ended at `gpu_ns`.
  void NoteEnd(std::int64_t heard_ns, std::uint64_t gpu_ns);
  // What began at `gpu_ns` was caused by a call that was entered at `entered_ns`.
  void NoteStart(std::int64_t entered_ns, std::uint64_t gpu_ns);

  bool known() const { return Upper() != kNone; }
  // CLOCK_MONOTONIC ns of `gpu_ns`; 0 where it cannot be told.
  std::int64_t ToHost(std::uint64_t gpu_ns) const;
  // How far the offset may be off.
  std::int64_t slack_ns() const;

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t Upper() const { return newest_ < before_ ? newest_ : before_; }
  void Restart();

  std::int64_t newest_ = kNone;  // least upper bound of the span in progress
  std::int64_t before_ = kNone;  // and of the one before
  std::int64_t lower_ = -kNone;  // greatest lower bound since a clock was last set
  std::int64_t span_begin_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_GPU_CLOCK_H_
