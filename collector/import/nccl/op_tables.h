// How long the ops of each rank ran, by kind and size, as rows of the kernel table.
//
// Used by JobBuilder. Counts every op whose run the device's clock or the host's has timed, also
// those that have no place in time. The breakdown of a rank stays empty: what it computed is not
// in these files.
//
// Thread-safety: pure. Errors: none. Cost: O(ops log kinds).
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_OP_TABLES_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_OP_TABLES_H_

#include <vector>

#include "collector/import/nccl/job_ranks.h"
#include "collector/import/reading/recording.h"

namespace fathom::collector::nccl {

void AddTables(const std::vector<RankedPart>& parts, Recording& recording);

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_OP_TABLES_H_
