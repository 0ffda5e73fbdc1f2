// What one process asked of its GPU so far, from the sums and the waits that its threads told.
//
// Fed by op_joiner; each op's row takes the totals along as they stood when it was entered, so the
// difference between two ops is what lay between them.
//
// Model: a kDeviceCalls record counts all calls of a stretch and times about one in 16 of them; the
// time of all is their number times the mean of the timed ones. A timed call that blocked is told
// as a wait of kind kLaunch besides, and counts with its real length. A stretch without a timed
// call takes the mean so far.
//
// Units: ns. Thread-safety: single-threaded, owned by the poll loop. Errors: an end without a begin
// is passed over. Cost: O(1) a record, one entry a thread that waits.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_DEVICE_CALLS_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_DEVICE_CALLS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "daemon/abi/event_record.h"

namespace fathom::agent {

// Cumulative since the process was first seen.
struct DeviceTotals {
  std::uint64_t launches = 0;      // kernels and graphs
  std::uint64_t graphs = 0;        // of them whole graphs
  std::int64_t launch_ns = 0;      // in launches, copies and the like
  std::int64_t waiting_ns = 0;     // blocked until the GPU was done with something
  std::uint32_t stream_waits = 0;  // streams made to wait for an event; wraps
  std::uint32_t syncs = 0;         // of waiting_ns, how often; wraps
};

class DeviceCallSums {
 public:
  // Requires: record is a kDeviceCalls, kSyncStart or kSyncEnd.
  void Take(const abi::EventRecord& record);
  const DeviceTotals& totals() const { return totals_; }

 private:
  void TakeCalls(const abi::EventRecord& record);
  void TakeEndOfWait(const abi::EventRecord& record);

  static constexpr std::size_t kMaxThreads = 4096;
  DeviceTotals totals_;
  double mean_ns_ = 0;  // of a call, over the newest stretches
  absl::flat_hash_map<std::uint32_t, std::int64_t> waits_since_;  // by thread
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_DEVICE_CALLS_H_
