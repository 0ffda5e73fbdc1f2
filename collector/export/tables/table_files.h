// The classic tables as CSV files, one a table: `fathom analyze --tables DIR`.
//
// Used by collector/cli/command/analyze_command. docs/formats/tables.md defines every column. Comma
// separated, first line the names of the columns, text quoted where it needs to be (RFC 4180),
// times in seconds with nine decimals, ratios 0 to 1.
//
// Thread-safety: pure but for writing files. Errors: Unavailable, with the path, where a
// folder or file cannot be made. Files of the same names are replaced. Cost: O(rows).
#ifndef FATHOM_COLLECTOR_EXPORT_TABLES_TABLE_FILES_H_
#define FATHOM_COLLECTOR_EXPORT_TABLES_TABLE_FILES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "diagnosis/tables/job_tables.h"

namespace fathom::collector {

// Name of each file and its text.
std::vector<std::pair<std::string, std::string>> TableTexts(const diagnosis::JobTables& tables);

// Writes them into `folder`, which is made if it is not there.
absl::Status WriteTables(const diagnosis::JobTables& tables, const std::string& folder);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_TABLES_TABLE_FILES_H_
