// The classic tables of a recorded job, one short line each, for people.
//
// Used by analyze. `tables` is that of a fathom.v1.Report; a table without data has no line.
// docs/formats/tables.md defines the terms. Thread-safety: pure function. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_WORK_LINES_H_
#define FATHOM_COLLECTOR_CLI_REPORT_WORK_LINES_H_

#include <string>

#include "collector/cli/render/terminal.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

std::string WorkLines(const Json& tables, const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_WORK_LINES_H_
