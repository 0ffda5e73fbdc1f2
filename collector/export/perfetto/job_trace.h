// A job as a Perfetto trace: `fathom analyze --perfetto FILE`, and the page's download of a job
// that runs. docs/formats/perfetto.md.
//
// Model: every rank is a process; in it a track for its iterations, one for each communicator (more
// where its ops overlap), a thread for the one that trains and others that communicate, one for
// garbage collection, data loading and long Python functions, and a thread for each stream of its
// device. Collectives are linked by flows over all ranks, sends with their receives. On top stand
// the job's verdicts, from their onset on.
//
// Times are as the view has them, clocks of different nodes put right where shared collectives tell
// how far they are apart. Ops still in flight end at the rank's last known moment and say so.
// Size: at most `most_slices`; what is left out is counted, and told in the trace.
// Thread-safety: pure but for the file. Errors: those of the file.
// Cost: O(rows + ranks × iterations × log ranks); memory O(rows + what is drawn of one rank).
#ifndef FATHOM_COLLECTOR_EXPORT_PERFETTO_JOB_TRACE_H_
#define FATHOM_COLLECTOR_EXPORT_PERFETTO_JOB_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/verdict/episode.h"
#include "diagnosis/graph/alignment.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/tables/device_timeline.h"

namespace fathom::collector {

// Of a slice come some 55 bytes: 250 MB, which a browser still opens.
inline constexpr std::uint64_t kMostTraceSlices = 5'000'000;

struct TraceInput {
  const diagnosis::JobView& view;
  const std::vector<Episode>& verdicts;
  const diagnosis::DeviceTimelines* timelines = nullptr;  // null: none were kept
  const diagnosis::ClockAlignment* clocks = nullptr;      // null: found from the rows
  std::uint64_t most_slices = kMostTraceSlices;
};

struct TraceWritten {
  std::uint64_t slices = 0;
  std::uint64_t left_out = 0;
  std::uint64_t ranks_cut = 0;  // of which slices are left out
};

absl::StatusOr<TraceWritten> WritePerfetto(const TraceInput& input, const std::string& path);
// The same bytes in memory.
absl::StatusOr<std::string> PerfettoBytes(const TraceInput& input);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_PERFETTO_JOB_TRACE_H_
