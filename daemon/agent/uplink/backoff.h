// How long to wait before the next try: doubling, bounded, with full jitter.
//
// Used by collector_link between streams.
//
// Model: after the n-th failure in a row the wait is uniform in [half, whole] of
// min(limit, first · 2ⁿ); Reset after a success. Jitter keeps the agents of a cluster from coming
// back all at once.
//
// Units: ns. Thread-safety: thread-compatible. Errors: none.
// Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog 2015 ("equal
// jitter").
#ifndef FATHOM_DAEMON_AGENT_UPLINK_BACKOFF_H_
#define FATHOM_DAEMON_AGENT_UPLINK_BACKOFF_H_

#include <cstdint>
#include <random>

#include "proto/types/time_units.h"

namespace fathom::agent {

class Backoff {
 public:
  // Requires: 0 < first <= limit.
  Backoff(Nanos first, Nanos limit, std::uint32_t seed)
      : first_(first), limit_(limit), random_(seed) {}

  Nanos Next();
  void Reset() { failures_ = 0; }

 private:
  const Nanos first_;
  const Nanos limit_;
  int failures_ = 0;
  std::mt19937 random_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_UPLINK_BACKOFF_H_
