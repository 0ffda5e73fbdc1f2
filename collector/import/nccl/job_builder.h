// Turns what the processes of a job wrote of their ops into the view that diagnosis reads.
//
// Used by InspectorImporter and ProfilerTraceImporter.
//
// Model: a rank arrives at an op when its kernel starts, and an op is that: the formats know the
// device's work between two collectives neither by name nor in sum, so what a rank spends there is
// its own time, whatever it was. Ops whose kernels were not timed are left out of the rows and
// count in the tables alone. Several kernels of a process are put on its clock by the smallest
// distance ever seen between a kernel's end and the moment the plugin heard of it.
//
// Iterations: the ops of the communicator of all ranks, in the order that all ranks share, repeat
// with a period (repetition.h); an iteration ends with the op after which the ranks take longest
// until the next one. Without such a period there are no iterations and no verdict on who is slow.
//
// Thread-safety: pure. Errors: InvalidArgument where ranks cannot be told (job_ranks.h).
// Cost: O(ops log ops).
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_JOB_BUILDER_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_JOB_BUILDER_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "collector/import/nccl/op_record.h"
#include "collector/import/reading/recording.h"

namespace fathom::collector::nccl {

// `how_to_time`: what to set so that ops are timed, for who reads the report.
absl::Status BuildJob(std::vector<CommPart> parts, std::string_view how_to_time,
                      Recording& recording);

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_JOB_BUILDER_H_
