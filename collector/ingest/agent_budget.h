// How fast one agent's stream is read: what a hostile or broken agent sends beyond that waits at
// its own end, and costs nobody else.
//
// Owned by AgentStream. Model: a bucket of messages that fills at a rate and holds kBurst of it, so
// that what waited for a collector is taken at once. A message counts as one and one more for each
// kBytes of it. The rate grows with the ranks that the agent has announced, which are bounded
// themselves (max_agent_ranks): kARank a rank and second are twice what a real agent sends.
//
// Thread-safety: thread-compatible. Errors: none. Cost: O(1), no clock of its own.
#ifndef FATHOM_COLLECTOR_INGEST_AGENT_BUDGET_H_
#define FATHOM_COLLECTOR_INGEST_AGENT_BUDGET_H_

#include <algorithm>
#include <cstddef>

#include "proto/types/time_units.h"

namespace fathom::collector {

class AgentBudget {
 public:
  static constexpr double kBurst = 10;  // seconds of the rate
  static constexpr double kBytes = 8192;
  static constexpr double kARank = 8;

  // `rate`: messages a second, of an agent with few ranks.
  explicit AgentBudget(double rate) : rate_(rate), left_(rate * kBurst) {}

  // A message was read. How long to wait before the next one; 0: not at all.
  Nanos Take(std::size_t bytes, std::size_t ranks, MonoNs now) {
    const double rate = std::max(rate_, kARank * static_cast<double>(ranks));
    if (last_.known()) left_ += rate * (now - last_).Seconds();
    left_ = std::min(left_, rate * kBurst) - 1 - static_cast<double>(bytes) / kBytes;
    last_ = now;
    return left_ >= 0 ? Nanos() : Nanos::FromSeconds(-left_ / rate);
  }

 private:
  const double rate_;
  double left_;
  MonoNs last_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_INGEST_AGENT_BUDGET_H_
