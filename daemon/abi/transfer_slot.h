// How far one transfer of an op is: what a rank sends to, or receives from, one other rank on one
// channel, as NCCL's proxy thread tells its profiler.
//
// Written by daemon/tracer/nccl_plugin/transfers, read by daemon/agent/source/ring when a rank is
// stuck in an op. Behind the records of the region (ring_layout.h).
//
//   a send      posted ──────► gpu ─────────► moved ─────────► done
//               room offered   the GPU has    the network has  the network has confirmed it
//               to the GPU     filled it      taken it
//   a receive   posted ──────► moved ───────► gpu ───────────► done
//               room offered   it has arrived handed to        the GPU has taken it
//               to the network                the GPU
//
// Model: counts of steps; each only rises, and none is above `steps` or the one before it. A slot
// is in use while `turn` is odd: the transfer is not over. It is claimed by a compare-and-swap from
// even to odd, and given back by adding one more; the counts belong to the thread that moves the
// transfer, and are overwritten in place. Nothing is ever overwritten that is in use: where no slot
// is free the younger transfer is not told (kTransferTableFull), for what is stuck is old.
// `op_id` is written last (release), and is 0 before. A reader copies the slot and looks at `turn`
// again: the same odd number and an op, the copy is of one transfer; its counts may be some steps
// apart.
//
// Units: steps of NCCL's (one is one network transfer). Zero-filled memory is a free slot.
// Errors: the reader trusts no field.
#ifndef FATHOM_DAEMON_ABI_TRANSFER_SLOT_H_
#define FATHOM_DAEMON_ABI_TRANSFER_SLOT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fathom::abi {

struct alignas(64) TransferSlot {
  std::atomic<std::uint32_t> turn;   // odd: in use
  std::uint32_t peer;                // the other rank's place in the group
  std::atomic<std::uint64_t> op_id;  // of the op it is part of; 0: not written yet
  std::uint16_t group_slot;
  std::uint8_t channel;
  std::uint8_t sends;  // 1: to the peer, 0: from it
  std::uint32_t steps;
  std::atomic<std::uint32_t> posted;
  std::atomic<std::uint32_t> gpu;
  std::atomic<std::uint32_t> moved;
  std::atomic<std::uint32_t> done;
  std::uint64_t reserved[3];
};
static_assert(sizeof(TransferSlot) == 64);
static_assert(offsetof(TransferSlot, op_id) == 8 && offsetof(TransferSlot, group_slot) == 16);
static_assert(offsetof(TransferSlot, posted) == 24 && offsetof(TransferSlot, done) == 36);

inline constexpr std::uint32_t kTransferSlots = 1024;

}  // namespace fathom::abi

#endif  // FATHOM_DAEMON_ABI_TRANSFER_SLOT_H_
