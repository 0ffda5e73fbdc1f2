// Counters of the ingest path, for the exporter.
//
// Written by sessions, read by collector/export at a scrape.
// Thread-safety: thread-safe (relaxed atomics). Cost: one atomic add a count.
#ifndef FATHOM_COLLECTOR_AGENTS_INGEST_COUNTERS_H_
#define FATHOM_COLLECTOR_AGENTS_INGEST_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "collector/admission/reject_reason.h"

namespace fathom::collector {

struct IngestCounters {
  using Counter = std::atomic<std::uint64_t>;

  Counter messages{0};
  Counter bytes{0};
  Counter summary_rows{0};   // (rank, iteration) rows taken in
  Counter repeated_rows{0};  // already known: a stream was taken up again
  Counter late_rows{0};      // older than the window
  Counter op_rows{0};        // rows fetched on suspicion
  Counter row_requests{0};
  Counter row_requests_expired{0};
  Counter streams_opened{0};
  Counter streams_refused{0};
  Counter connections_refused{0};  // beyond a bound
  Counter connections_cut{0};      // too many streams
  Counter pauses{0};               // of streams that sent more than one agent may
  Counter hellos_missing{0};       // streams ended, for they did not say who they are
  std::array<Counter, kRejectReasonCount> rejected{};

  void Reject(RejectReason reason) { ++rejected[static_cast<std::size_t>(reason)]; }
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_AGENTS_INGEST_COUNTERS_H_
