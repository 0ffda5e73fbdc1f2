// The earlier runs of this node, kept in a file: what a node without peers is compared with.
//
// Used by `fathom probe`. Model: a line of JSON a run (fathom.v1.NodeProbe), the newest last, at
// most kMostRuns; a line that cannot be read is left out and counted. The file is written beside
// and put in its place, so that a reader never sees half of it.
// Thread-safety: single-threaded; of two writers at once one run is lost. Errors: kUnavailable for
// a file that cannot be written; one that is not there is empty.
#ifndef FATHOM_COLLECTOR_CLI_PROBE_PROBE_HISTORY_H_
#define FATHOM_COLLECTOR_CLI_PROBE_PROBE_HISTORY_H_

#include <cstddef>
#include <filesystem>
#include <vector>

#include "absl/status/status.h"
#include "fathom/v1/probe.pb.h"

namespace fathom::cli {

struct ProbeHistory {
  static constexpr std::size_t kMostRuns = 64;

  std::vector<v1::NodeProbe> runs;
  std::size_t unreadable = 0;  // lines
};

ProbeHistory ReadProbeHistory(const std::filesystem::path& file);
absl::Status WriteProbeHistory(const std::filesystem::path& file, const ProbeHistory& history);

// Root's is /var/lib/fathom/probes.jsonl, a user's lies in XDG_STATE_HOME.
std::filesystem::path DefaultProbeHistory();

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PROBE_PROBE_HISTORY_H_
