// Which communication of a device its computing hid: a rank was not blocked while such an op ran.
//
// Used by iteration_summary and session/rows_reply. docs/rules/ledger.md, "Communication beside
// computing".
//
// Model: an op on a stream of its own begins when computing has come to it, or when the op before
// it on that stream has ended, whichever is later. A stream is made to wait once for each such op
// (its own, for computing); any further wait, or a host that stood still for its device, may be
// computing that waits for an op.
//
//   computing  |piece 1|piece 2|piece 3 |          |piece 1|2|3|4|     waits
//   its ops            |=1=|   |=2=|    |=3=|              |==1==|=2=|=3=|
//                       hidden  hidden   waited for         unsure     waited for
//
// A run is a row of ops, none of which was waited for before the next one was entered; its last one
// is waited for, as far as is known. An op of a run is *hidden* where a later one of it began by
// itself after its end: computing had come so far, and had waited for nothing. Where all later ones
// begin at the end of the one before them on their stream nothing tells how far computing has come:
// *unsure*. All other ops *block* while they run. An op on the stream of computing itself ends a
// run: such a stream is known by an op that was put on it and waited for nothing.
//
// Units: ns of CLOCK_MONOTONIC. Thread-safety: pure. Errors: an op that has not ended, or whose
// follower is not known yet, is none of a run. Cost: O(rows), some before them, and those of one
// run behind them.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_HIDDEN_OPS_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_HIDDEN_OPS_H_

#include <cstdint>
#include <vector>

#include "daemon/agent/pipeline/op_log.h"

namespace fathom::agent {

struct OpCover {
  enum class State : std::uint8_t { kBlocks, kHidden, kUnsure };
  State state = State::kBlocks;
  std::uint32_t run = 0;  // of two ops or more: its number, from 1
  bool goes_on = false;   // it is not the first of its run
  // It began by itself, and is the first from which on nothing is known: how much longer it took
  // than others of its kind is what the rank was ahead of them.
  bool leads = false;
};

// Of the rows [first, last]; of those that no device carried out kBlocks.
// Requires: log.first() <= first <= last < log.next().
std::vector<OpCover> CoversOf(const OpLog& log, std::uint64_t first, std::uint64_t last);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_HIDDEN_OPS_H_
