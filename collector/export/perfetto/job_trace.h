// A job as a Perfetto trace: `fathom analyze --perfetto FILE`, and the page's download of a job
// that runs. docs/formats/perfetto.md.
//
// Model: every rank is a process; in it a track for its iterations, one for each communicator (more
// where its ops overlap), one for calls of each thread, one for garbage collection, data loading
// and long Python functions. The ops of one collective are linked by a flow over all ranks. On top
// stand the job's verdicts, from their onset on.
//
// Times are as the view has them: of ranks on different nodes they are as good as the clocks of
// these nodes. Ops still in flight end at the rank's last known moment and say so.
// Thread-safety: pure but for the file. Errors: those of the file.
// Cost: O(rows + ranks × iterations × log ranks), streaming.
#ifndef FATHOM_COLLECTOR_EXPORT_PERFETTO_JOB_TRACE_H_
#define FATHOM_COLLECTOR_EXPORT_PERFETTO_JOB_TRACE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/verdict/episode.h"
#include "diagnosis/model/job_view.h"

namespace fathom::collector {

absl::Status WritePerfetto(const diagnosis::JobView& view, const std::vector<Episode>& verdicts,
                           const std::string& path);
// The same bytes in memory.
absl::StatusOr<std::string> PerfettoBytes(const diagnosis::JobView& view,
                                          const std::vector<Episode>& verdicts);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_PERFETTO_JOB_TRACE_H_
