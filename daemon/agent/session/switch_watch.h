// An order to switch sources of one process: written into its region, watched until it took hold.
//
// Owned by RankSession. Model: Ask writes the order (daemon/abi/source_switch.h); Look, called with
// each reading of the control block, says once that it took hold, or that the process has not come
// to its op within the order's patience. The order stays then, and Look says "done" when it does.
// A newer order takes the place of one that waits, which is told as refused.
//
// Units: CLOCK_MONOTONIC ns. Thread-safety: single-threaded, on the poll loop.
// Ownership: refers to nothing; the region is handed in.
// Errors: Ask: those of RegionReader, FailedPrecondition where the tracer does not know orders.
// Cost: six system calls an order, none a look.
#ifndef FATHOM_DAEMON_AGENT_SESSION_SWITCH_WATCH_H_
#define FATHOM_DAEMON_AGENT_SESSION_SWITCH_WATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/agent/source/ring/region_reader.h"

namespace fathom::agent {

struct SwitchOutcome {
  std::uint64_t request_id = 0;
  std::string state;  // "done", "waits", "refused"
  std::string reason;
  std::uint64_t at_sequence = 0;  // of "done"
};

class SwitchWatch {
 public:
  absl::Status Ask(const RegionReader& region, const ControlSnapshot& control,
                   std::uint64_t request_id, const SwitchWords& words, std::int64_t deadline_ns);
  // What is new, in order.
  std::vector<SwitchOutcome> Look(const ControlSnapshot& control, std::int64_t now_ns);
  // The process is gone.
  std::vector<SwitchOutcome> Abandon();

 private:
  void End(const std::string& state, const std::string& reason, std::uint64_t at_sequence);

  std::uint64_t request_id_ = 0;  // of the order that is awaited; 0: none
  std::uint32_t ticket_ = 0;
  std::int64_t deadline_ns_ = 0;
  bool said_waits_ = false;
  std::vector<SwitchOutcome> news_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_SWITCH_WATCH_H_
