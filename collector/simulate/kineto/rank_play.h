// One rank of a job as its profiler sees it: a host thread that launches ahead, the compute stream,
// streams of communication, and what of them waits for what.
//
//   host      launch launch launch ─ wait-event ─ launch ………………… synchronise
//   compute          kernel│kernel│……… waits for op A ………│kernel
//   stream 21            └─► op A (ends when its last member has come, and its transfer is over)
//
// Owned by JobPlay, one a rank. Model: work begins on a stream when the host has launched it, the
// work before it on the stream has ended, and what it depends on has; launching costs host time and
// nothing waits for it. An op ends `transfer` after the last of its members has begun.
//
// Units: µs of one true clock. Thread-safety: thread-compatible. Lifetime: an Op outlives the
// events that refer to it. Errors: none; what depends on an end that is not known yet is refused
// with false, and nothing has changed: the caller tries it again. Cost: O(1) a call.
#ifndef FATHOM_COLLECTOR_SIMULATE_KINETO_RANK_PLAY_H_
#define FATHOM_COLLECTOR_SIMULATE_KINETO_RANK_PLAY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/simulate/play/layout.h"
#include "collector/simulate/play/random.h"
#include "proto/types/collective_kind.h"

namespace fathom::simulate::kineto {

// A communication op of all its members.
struct Op {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Dimension dimension = Dimension::kWorld;
  std::uint32_t group = 0;  // of the dimension
  std::uint64_t bytes = 0;
  std::uint32_t size = 0;
  double transfer_us = 0;
  std::uint32_t arrived = 0;
  double latest_us = 0;
  double end_us = -1;  // not known yet

  bool over() const { return end_us >= 0; }
  void Arrive(double begin_us);
};

// What the trace of a rank holds. `name` is a literal or lives in the program's text.
struct Event {
  enum class What : std::uint8_t {
    kRuntime,
    kKernel,
    kCopy,
    kOperator,
    kParams,
    kOp,
    kHost,
    kStep
  };
  What what = What::kHost;
  const char* name = "";
  double begin_us = 0;
  double us = 0;                  // of an op: it ends with the op
  std::uint64_t correlation = 0;  // of a step: its number
  std::uint32_t stream = 0;
  std::uint32_t blocks = 0;                        // of a kernel
  const Op* op = nullptr;                          // of kParams and kOp
  std::int64_t peer = -1;                          // of a message
  CollectiveKind kind = CollectiveKind::kUnknown;  // of a message: which end
};

struct Kernel {
  const char* name = "";
  const char* op = "";  // that the framework calls it
  double us = 0;
  std::uint32_t blocks = 1;
  double launch_us = 0;  // that the host takes beyond the usual
};

class RankPlay {
 public:
  static constexpr std::uint32_t kCompute = 7;

  RankPlay(std::uint64_t seed, const LogNormal& host_noise) : seed_(seed), noise_(host_noise) {}

  void Run(const Kernel& kernel);
  void Copy(double bytes);
  // The op begins on the stream; `behind_compute`: after all that computes so far.
  bool Launch(Op& op, std::uint32_t stream, bool behind_compute, CollectiveKind end,
              std::int64_t peer);
  // The compute stream waits for the op; the host does not.
  bool WaitFor(const Op& op);
  // The host waits for all streams.
  bool Synchronise();
  // The host does something else.
  void Busy(const char* name, double us);
  void EndStep(std::int64_t number, double begin_us);

  double host_us() const { return host_; }
  const std::vector<Event>& events() const { return events_; }

 private:
  struct Stream {
    double end_us = 0;
    const Op* op = nullptr;  // its last work, where that is one
  };

  double Noise() { return noise_.At(Mix(seed_, ++drawn_)); }
  std::uint64_t Call(const char* name, double us);
  bool Known(const Stream& stream) const { return stream.op == nullptr || stream.op->over(); }
  static double EndOf(const Stream& stream) {
    return stream.op == nullptr ? stream.end_us : stream.op->end_us;
  }
  double BeginOn(std::uint32_t stream);

  const std::uint64_t seed_;
  const LogNormal& noise_;
  std::uint64_t drawn_ = 0, correlations_ = 10;
  double host_ = 1000;
  std::map<std::uint32_t, Stream> streams_;
  std::vector<Event> events_;
};

}  // namespace fathom::simulate::kineto

#endif  // FATHOM_COLLECTOR_SIMULATE_KINETO_RANK_PLAY_H_
