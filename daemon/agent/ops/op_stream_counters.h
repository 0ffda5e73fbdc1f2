// What became of the ops that are sent all the time, cumulative.
//
// Kept by op_stream, shown by self_metrics. Thread-safety: plain values.
#ifndef FATHOM_DAEMON_AGENT_OPS_OP_STREAM_COUNTERS_H_
#define FATHOM_DAEMON_AGENT_OPS_OP_STREAM_COUNTERS_H_

#include <cstdint>

namespace fathom::agent {

struct OpStreamCounters {
  std::uint64_t ops = 0;     // packed
  std::uint64_t bytes = 0;   // of the blocks
  std::uint64_t missed = 0;  // left the log before they were taken, or passed over
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_OPS_OP_STREAM_COUNTERS_H_
