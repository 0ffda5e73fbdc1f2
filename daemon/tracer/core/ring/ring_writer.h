// The producer's side of the ring: puts one 64-byte record at the head.
//
// Called by op_recorder.cc, marks.cc and device_calls.cc on every hook; read by
// daemon/agent/source/ring. The commit protocol is told in daemon/abi/ring_layout.h.
//
// Model: take a ticket; claim its slot by a compare-and-swap of `commit` to 0; write; commit.
// Invariants and what carries them:
//   1. A reader that sees any new word of a record then sees commit 0 or newer: release fence after
//      the claim, acquire fence in the reader.
//   2. A reader that sees commit = ticket + 1 sees the whole record: release store of commit.
//   3. Two writers are never in one slot: the claim fails for the one that comes a lap late or a
//      lap early, and its record is given up. (The reader counts the ticket as lost or torn.)
// Thread-safety: any number of threads and processes that share the mapping; wait-free.
// Errors: none; see invariant 3. Cost: hot path; two locked instructions and one cache line.
#ifndef FATHOM_DAEMON_TRACER_CORE_RING_RING_WRITER_H_
#define FATHOM_DAEMON_TRACER_CORE_RING_RING_WRITER_H_

#include <atomic>
#include <cstdint>

#include "daemon/abi/event_record.h"
#include "daemon/abi/ring_layout.h"
#include "daemon/tracer/core/ring/packed_record.h"

namespace fathom::tracer {

// A region as this process has it mapped. All pointers null: no region.
struct Region {
  abi::RegionHeader* header = nullptr;
  abi::ControlBlock* control = nullptr;
  abi::GroupSlot* groups = nullptr;
  std::uint8_t* arena = nullptr;
  abi::EventRecord* records = nullptr;
  abi::TransferSlot* transfers = nullptr;  // kTransferSlots of them
  std::uint64_t slot_mask = 0;             // record_count − 1
};

// So many records ahead the ring's memory is asked for, so that a burst finds it in the cache; not
// fewer, because another thread may be writing there.
inline constexpr std::uint64_t kPrefetchRecords = 4;

// The next ticket. Its record must be given to FillSlot, or counts as torn.
inline std::uint64_t TakeTicket(const Region& region) {
  return region.control->head.fetch_add(1, std::memory_order_relaxed);
}

// Writes `record` for `ticket`. Requires: region is mapped. Returns false if the record was given
// up (invariant 3).
[[gnu::always_inline]] inline bool FillSlot(const Region& region, std::uint64_t ticket,
                                            const PackedRecord& record) {
  auto* slot = reinterpret_cast<std::uint64_t*>(&region.records[ticket & region.slot_mask]);
  std::uint64_t seen = __atomic_load_n(slot, __ATOMIC_RELAXED);
  const bool first_lap = ticket <= region.slot_mask;
  if (seen > ticket || (seen == 0 && !first_lap)) [[unlikely]]
    return false;
  if (!__atomic_compare_exchange_n(slot, &seen, 0, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      [[unlikely]] {
    return false;
  }
  std::atomic_thread_fence(std::memory_order_release);
  __atomic_store_n(slot + 1, static_cast<std::uint64_t>(record.time_ns), __ATOMIC_RELAXED);
  __atomic_store_n(slot + 2, record.what, __ATOMIC_RELAXED);
  __atomic_store_n(slot + 3, record.where, __ATOMIC_RELAXED);
  __atomic_store_n(slot + 4, record.op_id, __ATOMIC_RELAXED);
  __atomic_store_n(slot + 5, record.sequence, __ATOMIC_RELAXED);
  __atomic_store_n(slot + 6, record.bytes, __ATOMIC_RELAXED);
  __atomic_store_n(slot + 7, record.extra, __ATOMIC_RELAXED);
  __atomic_store_n(slot, ticket + 1, __ATOMIC_RELEASE);
  __builtin_prefetch(&region.records[(ticket + kPrefetchRecords) & region.slot_mask], 1);
  return true;
}

inline bool AppendRecord(const Region& region, const PackedRecord& record) {
  return FillSlot(region, TakeTicket(region), record);
}

// The same of a record whose fields lie as the format names them; `commit` is ignored.
inline bool AppendRecord(const Region& region, const abi::EventRecord& record) {
  return AppendRecord(region, Pack(record));
}

inline void CountDrop(const Region& region, abi::DropReason reason, std::uint64_t by = 1) {
  region.control->drops[static_cast<std::uint8_t>(reason)].fetch_add(by, std::memory_order_relaxed);
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_RING_RING_WRITER_H_
