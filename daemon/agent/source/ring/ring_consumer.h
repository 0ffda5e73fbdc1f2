// Drains the records of one ring in ticket order, by the commit protocol of ring_layout.h.
//
// Called by the agent's poll loop; feeds pipeline/rank_pipeline through a callback.
//
// Model: a ticket t is good when its slot says commit == t + 1 before and after its payload was
// read. A pread has no order inside itself, so a batch is read twice, A then B:
//   A says commit == t + 1                → the record was complete before B began;
//   B is the payload, B says t + 1 too;
//   head, read after B, is ≤ t + capacity → nobody had begun to overwrite the slot.
// If any fails, the ticket is lost (overwritten), or not committed yet (the writer is at it). A
// ticket that stays uncommitted for `torn_after_ns` while later ones are there is given up as torn.
//
// Thread-safety: single-threaded, owned by the poll loop.
// Errors: those of RegionReader; the consumer stays usable, the caller decides.
// Cost: 18 ns a record with validation (tests/bench/ring_consumer_bench); three system calls and
//   two copies for up to kBatch records; nothing allocated after construction.
// Source: seqlock readers, H.-J. Boehm, "Can seqlocks get along with programming language memory
//   models?", MSPC 2012; the second copy stands in for the fence between commit and payload.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_RING_RING_CONSUMER_H_
#define FATHOM_DAEMON_AGENT_SOURCE_RING_RING_CONSUMER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "daemon/abi/event_record.h"
#include "daemon/agent/source/ring/region_reader.h"

namespace fathom::agent {

// Cumulative. total = valid + unknown_kind + invalid; lost and torn never reached us.
struct RingCounters {
  std::uint64_t total = 0;
  std::uint64_t valid = 0;
  std::uint64_t lost = 0;          // overwritten before they were read
  std::uint64_t torn = 0;          // a writer never completed them
  std::uint64_t invalid = 0;       // a field out of range
  std::uint64_t unknown_kind = 0;  // of a newer tracer
  std::uint64_t last_time_ns = 0;  // newest valid record's time
};

class RingConsumer {
 public:
  static constexpr std::uint32_t kBatch = 2048;
  static constexpr std::int64_t kTornAfterNs = 200'000'000;

  // Requires: `region` outlives the consumer.
  explicit RingConsumer(const RegionReader& region, std::int64_t torn_after_ns = kTornAfterNs);

  // Hands over every complete record up to `head`, at most about `limit`; returns how many slots
  // it is done with (those lost unread are not among them). `last_call`: the process is dead,
  // incomplete records are torn at once. Requires: `head` was read from the region (ReadControl)
  // before; now_ns is CLOCK_MONOTONIC.
  absl::StatusOr<std::uint64_t> Drain(
      std::uint64_t head, std::int64_t now_ns, std::uint64_t limit, bool last_call,
      absl::FunctionRef<void(std::span<const abi::EventRecord>)> sink);

  const RingCounters& counters() const { return counters_; }
  std::uint64_t next_ticket() const { return next_; }

 private:
  void SkipLost(std::uint64_t head);
  absl::StatusOr<std::uint32_t> ReadBatch(std::uint64_t head);
  std::uint32_t Select(std::uint32_t count, std::uint64_t head_after, std::int64_t now_ns,
                       bool last_call);
  bool GiveUp(std::uint64_t ticket, std::int64_t now_ns, bool last_call);
  void Keep(const abi::EventRecord& record, std::int64_t now_ns);

  const RegionReader& region_;
  const std::int64_t torn_after_ns_;
  const std::uint64_t capacity_;
  std::uint64_t next_ = 0;  // the ticket wanted next
  std::uint64_t head_ = 0;  // as the caller read it
  // Tickets below stuck_before_ had been handed out when an incomplete one was first seen.
  std::uint64_t stuck_before_ = 0;
  std::int64_t stuck_since_ns_ = 0;
  std::vector<abi::EventRecord> first_look_;
  std::vector<abi::EventRecord> second_look_;
  std::vector<abi::EventRecord> good_;
  RingCounters counters_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_RING_RING_CONSUMER_H_
