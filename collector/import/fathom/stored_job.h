// A job in a store of ops, as `fathom analyze job://NAME` names it.
//
// Used by collector/cli/command/analyze_command. docs/formats/ops_store.md.
// Thread-safety: pure functions and reads of folders. Errors: NotFound, with the jobs that are
// there; InvalidArgument for what is no moment. Cost: one read of the job's folder.
#ifndef FATHOM_COLLECTOR_IMPORT_FATHOM_STORED_JOB_H_
#define FATHOM_COLLECTOR_IMPORT_FATHOM_STORED_JOB_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

// The name behind "job://"; nothing: it is a path.
std::optional<std::string> StoredJobName(std::string_view path);

// The files that tell of the job between the two moments, each 0 for no bound.
absl::StatusOr<std::vector<std::string>> FilesOfStoredJob(const std::string& store,
                                                          const std::string& job, WallNs from,
                                                          WallNs to);

// "2026-11-21T13:40:15" with "Z" or an offset behind it, or of this machine's clock; seconds since
// 1970; or how long before `now`: "90s", "15m", "2h", "3d".
absl::StatusOr<WallNs> ReadMoment(std::string_view text, WallNs now);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_FATHOM_STORED_JOB_H_
