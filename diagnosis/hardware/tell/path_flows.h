// What the ranks of a live job have sent each other, before its trouble began and since.
//
// Used by collector/evaluate before a diagnosis, for jobs that are slow against their past; read by
// the rules on links (slowness/rules/link_slow, slowness/network). docs/rules/link_slow.md.
//
// Model: agents tell the TCP connections of the processes that they trace (DeviceKind::kConnection)
// by both of their ends. Whose process has the other end is the rank that is sent to; where two
// processes have the same ends (networks of their own with the same addresses) nothing is told of
// them. All connections from one rank to another are one flow.
//
// Units: bytes, ns of the nodes' clocks. Thread-safety: pure. Errors: ranks of which nothing is
// known have no flows. Cost: O(connections of the nodes handed in × points).
#ifndef FATHOM_DIAGNOSIS_HARDWARE_TELL_PATH_FLOWS_H_
#define FATHOM_DIAGNOSIS_HARDWARE_TELL_PATH_FLOWS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "diagnosis/model/hardware.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

inline constexpr std::size_t kMostFlowNodes = 64;

// The nodes of a job; empty where they are more than kMostFlowNodes.
std::vector<std::string> FlowNodesWanted(const JobView& view);

// Of the view's signals: agents look for connections, and have not told of one yet.
inline constexpr char kPathsAwaited[] = "paths";

// Fills RankFacts::flows, up to `onset` and from then on; where there are none though a node's
// agent looks for connections, a signal says so. Requires: the flows are empty.
void TellFlows(const std::vector<NodeHardware>& hardware, WallNs onset, JobView& view);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_TELL_PATH_FLOWS_H_
