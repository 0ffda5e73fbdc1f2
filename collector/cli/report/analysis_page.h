// The screen of `fathom analyze` and `fathom simulate`: a report, for people.
//
// Model: one screen. The verdict in a sentence, who, since when, at what cost, why and what to do;
// further verdicts in a line; what changed against another recording; where the time went, rank by
// rank and by kernel; what bounds an iteration, if there is room; what would be won back; what
// cannot be told. At most kScreenLines lines of 100 columns on a recording without a comparison: of
// many ranks as many as fit. Verbose: all of it at any length, with the sources of the evidence,
// the files and the notes.
// Thread-safety: pure function. Errors: none; fields that the report lacks are left out.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_ANALYSIS_PAGE_H_
#define FATHOM_COLLECTOR_CLI_REPORT_ANALYSIS_PAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "collector/cli/render/terminal.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

inline constexpr std::size_t kScreenLines = 40;

// What reading the files left to say, beside the report.
struct AnalysisRemarks {
  std::vector<std::string> notes;
  std::size_t files_read = 0;
  std::size_t files_left_out = 0;
  std::vector<std::string> files_ignored;
  double shortest = 0;  // iterations, seconds: 8 of 10 lie between these; 0: not known
  double longest = 0;
  bool verbose = false;
};

// `report` is a fathom.v1.Report.
std::string AnalysisPage(const Json& report, const AnalysisRemarks& remarks,
                         const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_ANALYSIS_PAGE_H_
