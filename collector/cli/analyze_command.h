// `fathom analyze PATH…`: the engine on recordings, without a collector.
//
// Registered in command_line.cc. Reads with collector/import; writes the report as JSON, or one
// screen for people: verdicts first, then what could not be told, then what the files covered.
// Exit codes: 0 nothing found, 1 failure, 2 a verdict is established or supported.
// Thread-safety: pure function. Errors: none; fields that the report lacks are left out.
#ifndef FATHOM_COLLECTOR_CLI_ANALYZE_COMMAND_H_
#define FATHOM_COLLECTOR_CLI_ANALYZE_COMMAND_H_

#include <string>
#include <vector>

#include "collector/cli/json_fields.h"
#include "collector/cli/render/terminal.h"

namespace fathom::cli {

// What reading the files left to say, beside the report.
struct AnalysisRemarks {
  std::vector<std::string> notes;
  std::size_t files_read = 0;
  std::vector<std::string> files_ignored;
  std::string time_spent;  // of render/time_spent.h
  double shortest = 0;     // iterations, seconds: 8 of 10 lie between these; 0: not known
  double longest = 0;
};

// The screen for people. `report` is a fathom.v1.Report.
std::string AnalysisPage(const Json& report, const AnalysisRemarks& remarks,
                         const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_ANALYZE_COMMAND_H_
