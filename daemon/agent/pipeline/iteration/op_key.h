// What makes two ops "the same" in two iterations: kind, group, bytes, data type, peer.
//
// Made by rank_pipeline from each kOpEnter, consumed by iteration_finder and anchor.
//
// Model: `exact` has all five; `sizeless` leaves the bytes out, for jobs whose sizes change from
// iteration to iteration. How much a rank sends in an all-to-all changes with what it routes, while
// all else stays: of it the bytes tell no more than whether it carries data. `from_outside` is what
// members of another group can agree on: kind, bytes, data type and the size of the group. All are
// hashes; equal keys stand for equal ops (64 bits, collisions ignored).
// Thread-safety: plain values.
// Source: methods, section 1 (kind, communicator, bytes, dtype).
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_OP_KEY_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_OP_KEY_H_

#include <cstdint>

#include "daemon/agent/pipeline/iteration/op_row.h"
#include "proto/types/ids.h"

namespace fathom::agent {

struct OpKey {
  std::uint64_t exact = 0;
  std::uint64_t sizeless = 0;
  std::uint64_t from_outside = 0;
  GroupId group;
  std::uint32_t group_size = 0;
  std::uint64_t bytes = 0;
  std::int64_t time_ns = 0;    // CLOCK_MONOTONIC, of the entry
  bool numbered = false;       // has a sequence equal on all members: may be an anchor
  bool message = false;        // a send or a receive: an anchor where nothing is numbered
  bool receive = false;        // of these
  bool step = false;           // the end of a step, in a job of one rank
  bool synchronising = false;  // all members leave together
};

// `alone`: the job has one rank, whose ops tell its iterations though nobody answers them.
OpKey KeyOf(const OpRow& row, GroupId group, std::uint32_t group_size, bool alone);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_OP_KEY_H_
