// Sources switched off and on while a job runs: ordered by the agent, carried out by the tracer.
//
// Part of ControlBlock (ring_layout.h). Written by daemon/agent (SwitchOrder) and daemon/tracer
// (SwitchState). docs/formats/ring.md draws it.
//
// Model: as with a window of detail (detail_window.h) the agent names an op of a communicator,
// which is the same one on all members. Where the process has entered that op, or a later one, the
// tracer puts the order's words into ControlBlock::sources_disabled and ::plugin_mask, and tells:
// that op was still told as before, the next one is told the new way. An order waits as long as it
// has to, and a newer one replaces it.
//
//   agent: ticket 0, fields, new ticket (release)
//   tracer: the two words, SwitchState::at_sequence, SwitchState::ticket (release)
//
// Never the calls at the API (kSourceGloo, kSourceNccl): by them ops are numbered, and ranks that
// count from different ops would wrongly look late.
// Units: none. Thread-safety: atomics; the fields belong to the ticket.
// Zero-filled memory: no order.
#ifndef FATHOM_DAEMON_ABI_SOURCE_SWITCH_H_
#define FATHOM_DAEMON_ABI_SOURCE_SWITCH_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fathom::abi {

// Agent → tracer, in the line that every hook reads.
struct SwitchOrder {
  std::atomic<std::uint32_t> ticket;      // rises by 1 with each order; 0: none, or being written
  std::atomic<std::uint32_t> group_slot;  // whose sequence counts
  std::atomic<std::uint64_t> at_sequence;
  std::atomic<std::uint32_t> sources_disabled;  // SourceBit: the new words
  std::atomic<std::uint32_t> plugin_mask;
};

// Tracer → agent.
struct SwitchState {
  std::atomic<std::uint32_t> ticket;  // of the newest order that took hold
  std::uint32_t reserved;
  std::atomic<std::uint64_t> at_sequence;  // of the op at which it did
};

static_assert(sizeof(SwitchOrder) == 24);
static_assert(sizeof(SwitchState) == 16);

}  // namespace fathom::abi

#endif  // FATHOM_DAEMON_ABI_SOURCE_SWITCH_H_
