// What is held against a node over all jobs: in how many different ones fathom was sure that this
// node held the job back. A node that comes back again and again is worth more than an undo.
//
// Filled by Store::NodeRecordsSince, served by the API. Model: only what speaks of the node itself
// counts, so that a script that is slow wherever it runs does not make its nodes suspects:
//
//   counted   established, not superseded, of a cause in kNodeCauses, opened within the window
//   per job   once, however often: a restart is the same job
//
// Units: wall time; windows in days. Thread-safety: plain values. docs/operations/nodes.md gives
// the reasons.
#ifndef FATHOM_COLLECTOR_VERDICT_NODE_HISTORY_H_
#define FATHOM_COLLECTOR_VERDICT_NODE_HISTORY_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "proto/types/time_units.h"

namespace fathom::collector {

inline constexpr std::array<std::string_view, 5> kNodeCauses = {
    "compute_slow", "host_slow", "memory_slow", "process_stopped", "process_dead"};

struct NodeHistorySettings {
  double days = 30;
  std::int64_t repeat_jobs = 3;  // so many jobs make a repeat offender

  WallNs Since(WallNs now) const { return now - Nanos::FromSeconds(days * 86'400); }
};

struct NodeRecord {
  std::int64_t convicted_jobs = 0;
  WallNs last_convicted;
};

using NodeRecords = std::map<std::string, NodeRecord, std::less<>>;

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_VERDICT_NODE_HISTORY_H_
