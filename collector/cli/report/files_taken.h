// Which file of a recording was taken for what, from a report's coverage.
//
// Used by the screen of `fathom analyze`.
//
// Model: of files of one format that are all used, nothing is said in short; where several formats
// lie together or files are left out, a line counts them by format with their ranks. At length: a
// line a file.
// Thread-safety: pure functions. Errors: none; fields that the report lacks are left out.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_FILES_TAKEN_H_
#define FATHOM_COLLECTOR_CLI_REPORT_FILES_TAKEN_H_

#include <string>
#include <vector>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// "4 kineto (ranks 0-3), 4 flight-recorder (ranks 0-3), 1 left out, 2 ignored"; empty: not mixed.
std::string FilesInShort(const Json& report);

// "traces/rank0.json.gz: kineto, rank 0".
std::vector<std::string> FilesAtLength(const Json& report);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_FILES_TAKEN_H_
